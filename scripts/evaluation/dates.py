"""Reads a file of speed dates: the pairs of each evening and slot, and how both voted.

The format is described in docs/scoring.md.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import NamedTuple

TAG_FROM = 9
"""An interest rated at least this, of 10, counts as a tag."""
_REQUIRED = ("wave", "slot", "iid", "pid", "dec", "dec_o", "age", "age_o", "int_corr")


class Unreadable(Exception):
    """The file does not contain speed dates."""


class DateRow(NamedTuple):
    """One person's view of one date."""

    wave: int
    slot: int
    person: int
    partner: int
    said_yes: bool
    got_yes: bool
    years_apart: int | None
    correlation: float | None

    @property
    def is_match(self) -> bool:
        """Whether both said yes."""
        return self.said_yes and self.got_yes


class Evenings(NamedTuple):
    """All dates of a file, and the interests of its people."""

    dates: list[DateRow]
    tags: dict[int, frozenset[str]]


def read(lines: Iterable[str]) -> Evenings:
    """The dates of a file."""
    table = csv.DictReader(lines)
    columns = table.fieldnames or ()
    missing = [name for name in _REQUIRED if name not in columns]
    if missing:
        raise Unreadable(f"the file has no column {', '.join(missing)}")
    rated = [name for name in columns if name.startswith("int_") and name != "int_corr"]
    dates: list[DateRow] = []
    tags: dict[int, frozenset[str]] = {}
    for row in table:
        try:
            dates.append(_date_of(row))
            tags[int(row["iid"])] = frozenset(
                name for name in rated if row[name] and float(row[name]) >= TAG_FROM
            )
        except (TypeError, ValueError) as error:
            raise Unreadable(f"line {table.line_num}: {error}") from None
    if not dates:
        raise Unreadable("the file has no dates")
    return Evenings(dates, tags)


def _date_of(row: dict[str, str]) -> DateRow:
    ages = row["age"], row["age_o"]
    return DateRow(
        wave=int(row["wave"]),
        slot=int(row["slot"]),
        person=int(row["iid"]),
        partner=int(row["pid"]),
        said_yes=bool(int(row["dec"])),
        got_yes=bool(int(row["dec_o"])),
        years_apart=round(abs(float(ages[0]) - float(ages[1]))) if all(ages) else None,
        correlation=float(row["int_corr"]) if row["int_corr"] else None,
    )
