"""Numbers, dates and moments in paths and queries: text from outside, read with its bounds.

Python's own readers take more than the contract says (`int` other scripts and underscores, the ISO
readers weeks and dates without hyphens) and raise more than `ValueError`, so text is looked at
before they see it.
"""

from __future__ import annotations

import re
from datetime import date, datetime

from quart import request

from yoked_actor.domain.lobby import Code
from yoked_actor.domain.time import Instant, from_datetime
from yoked_actor.edge.http.api import Refused

LARGEST = (1 << 63) - 1
"""The largest number that the store can hold."""
DEFAULT_LIMIT = 50
MOST_SHOWN = 1000

_NUMBER = re.compile(r"[0-9]{1,19}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:.+")


def number_of(text: str) -> int | None:
    """The number that a text is, from 0 to `LARGEST`; None if it is no such number."""
    if _NUMBER.fullmatch(text) is None:
        return None
    number = int(text)
    return number if number <= LARGEST else None


def read_number(name: str, most: int = LARGEST, *, least: int = 1) -> int | None:
    """A number of the query, if it is given."""
    text = request.args.get(name)
    if text is None:
        return None
    number = number_of(text)
    if number is None or not least <= number <= most:
        raise Refused(Code.BAD_REQUEST, f"{name} must be a number from {least} to {most}")
    return number


def read_limit(default: int = DEFAULT_LIMIT) -> int:
    """The number of entries that the caller wants."""
    limit = read_number("limit", MOST_SHOWN)
    return default if limit is None else limit


def read_text(name: str, longest: int) -> str:
    """A text of the query; empty when it is not given."""
    text = request.args.get(name, "")
    if len(text) > longest:
        raise Refused(Code.BAD_REQUEST, f"{name} has {longest} characters at most")
    return text


def read_truth(name: str) -> bool:
    """A flag of the query; False when it is not given."""
    text = request.args.get(name, "false")
    if text not in ("true", "false"):
        raise Refused(Code.BAD_REQUEST, f"{name} must be true or false")
    return text == "true"


def read_day(name: str) -> date | None:
    """A date of the query, if it is given."""
    text = request.args.get(name)
    if text is None:
        return None
    try:
        if _DAY.fullmatch(text) is not None:
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise Refused(Code.BAD_REQUEST, f"{name} is not a date, as in 2026-01-31")


def read_moment(name: str) -> Instant | None:
    """An instant of the query, if it is given. It may lie outside the range of `datetime`."""
    text = request.args.get(name)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.upper()) if _MOMENT.fullmatch(text) else None
    except ValueError:
        moment = None
    if moment is None:
        raise Refused(Code.BAD_REQUEST, f"{name} is not an ISO 8601 time")
    if moment.tzinfo is None:
        raise Refused(Code.BAD_REQUEST, f"{name} has no time zone; end it with Z")
    return from_datetime(moment)
