"""Bodies and answers about recently met users and "stay in touch?"."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from yoked_actor.domain.people import Card
from yoked_actor.wire.lobby import Ending


class TouchBody(msgspec.Struct, frozen=True):
    """Whether the user wants to stay in touch with the partner of a date."""

    answer: Literal["yes", "no"]


class TouchAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The connection, if both want to stay in touch."""

    connection_id: str | None = None


class MetEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A user whom you have met. With `touch_until`, you can still say whether to stay in touch."""

    match_id: str
    partner: Card
    at: datetime
    outcome: Ending
    date_id: str | None = None
    touch_until: datetime | None = None
    connection_id: str | None = None


class MetAnswer(msgspec.Struct, frozen=True):
    """Whom the user has met lately, newest first."""

    met: list[MetEntry]
