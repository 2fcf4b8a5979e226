"""What operators did."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.time import Instant


class AuditEntry(msgspec.Struct, frozen=True):
    """Something that an operator has done."""

    number: int
    at: Instant
    who: str
    action: str
    subject: str
    detail: str
