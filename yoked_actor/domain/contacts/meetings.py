"""Meetings, and the answers to "stay in touch?"."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from yoked_actor.domain.lobby import Outcome
from yoked_actor.domain.offers import Connection
from yoked_actor.domain.time import Instant, microseconds


class Touch(StrEnum):
    """An answer to "stay in touch?" after a date. The partner never sees it."""

    YES = "yes"
    NO = "no"


class TouchWindow(msgspec.Struct, frozen=True):
    """Which dates are followed by the question, and for how long it can be answered."""

    after_s: float
    for_s: float

    def is_long_enough(self, started_at: Instant, ended_at: Instant) -> bool:
        """Whether a date has lasted long enough."""
        return ended_at - started_at >= microseconds(self.after_s)

    def until(self, ended_at: Instant) -> Instant:
        """Until when the question about a date can be answered."""
        return ended_at + microseconds(self.for_s)


class Touched(msgspec.Struct, frozen=True):
    """The result of an answer."""

    partner: str
    connection: Connection | None
    """The connection of the two after a yes, if there is one."""
    opened: bool
    """Whether this answer opened it: then both are notified."""


class Meeting(msgspec.Struct, frozen=True):
    """A match that reached the vote, as one of its users remembers it."""

    match_id: str
    partner: str
    at: Instant
    outcome: Outcome | None
    """None for a match that was cancelled while its users voted."""
    date_id: str | None = None
    date_started_at: Instant | None = None
    date_ended_at: Instant | None = None
    answer: Touch | None = None
    """The user's own answer after the date."""
    connection_id: str | None = None
