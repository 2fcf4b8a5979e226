"""Types of fields, bodies and answers that several features use over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

Words = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
Aware = Annotated[datetime, msgspec.Meta(tz=True)]
"""An instant with its offset from UTC."""


class Empty(msgspec.Struct, frozen=True):
    """Nothing more to say."""


class TimeAnswer(msgspec.Struct, frozen=True):
    """The server's time."""

    at: datetime


class Changed(msgspec.Struct, frozen=True):
    """Whether that has changed anything; it may have been so before."""

    changed: bool
