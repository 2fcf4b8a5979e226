"""What a check of the doctor finds."""

from __future__ import annotations

from typing import Literal

import msgspec


class Finding(msgspec.Struct, frozen=True):
    """The result of one check."""

    check: str
    result: Literal["ok", "note", "problem"]
    found: str
    fix: str = ""
