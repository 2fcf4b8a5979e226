"""A row that cannot be decoded is logged and left out, so that the others can be read."""

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
    """Decode a row of a table; None when that is not possible."""
    try:
        return decode(row)
    except _DAMAGE as error:
        # The first column is the key. The others may be personal data.
        _log.error("row_unreadable", table=table, key=str(row[0]), error=type(error).__name__)
        return None


def read_rows(rows: Iterable[Row], decode: Callable[[Row], T], table: str) -> list[T]:
    """Decode rows of a table, in their order, without those that cannot be decoded."""
    return [one for row in rows if (one := read_row(row, decode, table)) is not None]
