"""What a signal may carry: any JSON that every client can read.

The data is passed on as the bytes that came. So it is looked at once, here: what one partner's
parser takes and the other's does not would otherwise end the other's conversation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

DEEPEST = 100
"""How deep lists and objects may stand in each other; some parsers give up at 128."""


def problem_with(data: msgspec.Raw) -> str | None:
    """What is wrong with the data of a signal, if anything."""
    try:
        level = _nested([msgspec.json.decode(data)])
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return "data holds a number or a text that not every client can read"
    for _ in range(DEEPEST):
        level = _nested(inner for outer in level for inner in outer)
    return f"data is nested deeper than {DEEPEST}" if level else None


def _nested(values: Iterable[Any]) -> list[Iterable[Any]]:
    """What is inside those values that have an inside."""
    return [
        value.values() if type(value) is dict else value
        for value in values
        if type(value) in (dict, list)
    ]
