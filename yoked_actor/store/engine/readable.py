"""Rows that cannot be read harm nobody else: they are logged, and left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec
import structlog

T = TypeVar("T")
Row = tuple[Any, ...]

_log = structlog.get_logger()
_DAMAGE = (ValueError, TypeError, LookupError, OverflowError, msgspec.MsgspecError)


def read_row(row: Row, decode: Callable[[Row], T], table: str) -> T | None:
    """What a row of a table says; None when that cannot be read."""
    try:
        return decode(row)
    except _DAMAGE as error:
        # Keys come first. What else is in the row may be personal.
        _log.error("row_unreadable", table=table, key=str(row[0]), error=type(error).__name__)
        return None


def read_rows(rows: Iterable[Row], decode: Callable[[Row], T], table: str) -> list[T]:
    """What the readable rows of a table say, in their order."""
    return [one for row in rows if (one := read_row(row, decode, table)) is not None]
