"""Checks the data of a signal: any JSON that every client can parse.

The server forwards the bytes unchanged. Data that only one partner's parser accepts would end the
other partner's conversation, so it is checked here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

DEEPEST = 100
"""The deepest nesting of lists and objects; some parsers fail at 128."""


def problem_with(data: msgspec.Raw) -> str | None:
    """What is wrong with the data of a signal, or None."""
    try:
        level = _nested([msgspec.json.decode(data)])
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return "data holds a number or a text that not every client can read"
    for _ in range(DEEPEST):
        level = _nested(inner for outer in level for inner in outer)
    return f"data is nested deeper than {DEEPEST}" if level else None


def _nested(values: Iterable[Any]) -> list[Iterable[Any]]:
    """The items of all lists and objects among these values."""
    return [
        value.values() if type(value) is dict else value
        for value in values
        if type(value) in (dict, list)
    ]
