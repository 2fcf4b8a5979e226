"""The placeholders of SQLite as those of PostgreSQL: `?`, `?1` and `:name` become `$1`, `$2`.

Quoted text, quoted names and comments stay as they are, and so does a cast (`::bigint`). An
operator that contains a question mark cannot be written: the functions of PostgreSQL do the same.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from yoked_actor.store.engine.statements import postgres_text

_TOKEN = re.compile(
    r"'(?:[^']|'')*'"  # text
    r'|"(?:[^"]|"")*"'  # a name
    r"|--[^\n]*|/\*.*?\*/"
    r"|::"
    r"|\?(?P<number>\d*)"
    r"|(?<![\w:]):(?P<name>[A-Za-z_]\w*)",
    re.DOTALL,
)


class Translated(NamedTuple):
    """A statement for PostgreSQL."""

    text: str
    names: tuple[str, ...]
    """The names of its parameters in their order; empty if they have none."""
    is_marked: bool
    """Whether it counts its transaction itself, see `session.py`."""


@cache
def translated(sql: str) -> Translated:
    """The statement that PostgreSQL runs for a statement of the store."""
    names: list[str] = []
    count = 0

    def replace(found: re.Match[str]) -> str:
        nonlocal count
        name, number = found["name"], found["number"]
        if name is not None:
            if name not in names:
                names.append(name)
            return f"${names.index(name) + 1}"
        if number is None:
            return found[0]
        if number:
            return f"${number}"
        count += 1
        return f"${count}"

    text = _TOKEN.sub(replace, postgres_text(sql))
    return Translated(text, tuple(names), "pg_temp.intake(" in text)
