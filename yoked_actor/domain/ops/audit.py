"""The audit log of operators."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.time import Instant


class AuditEntry(msgspec.Struct, frozen=True):
    """An action of an operator."""

    number: int
    at: Instant
    who: str
    action: str
    subject: str
    detail: str
