"""What the clocks of a zone show, found by looking at them: a second opinion on local time.

Only one direction is used, from an instant to what clocks show then. Whether a local time comes
once, twice or never is read off the stretches between two changes, with no help from `fold`.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

from yoked_actor.domain.time import MICROSECONDS, Instant, zone_named

DAY_S = 86_400
FIRST_YEAR, LAST_YEAR = 1990, 2037
_STRIDE_S = 3 * DAY_S
"""No zone has changed its clocks twice within three days in these years."""


def offset_s(zone: ZoneInfo, second: int) -> int:
    offset = datetime.fromtimestamp(second, zone).utcoffset()
    assert offset is not None
    return round(offset.total_seconds())


class Stretch:
    """From `start` until before `end` clocks are `offset` ahead of UTC; all in seconds."""

    def __init__(self, start: int, end: int, offset: int) -> None:
        self.start, self.end, self.offset = start, end, offset


@cache
def stretches(name: str) -> list[Stretch]:
    """The stretches of a zone between two changes, in order."""
    zone = zone_named(name)
    assert zone is not None
    # Many names are links, with the same rules.
    rules = files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()
    first = _first_with.setdefault(rules, name)
    return _look(name, zone) if first == name else stretches(first)


_first_with: dict[bytes, str] = {}


def _look(name: str, zone: ZoneInfo) -> list[Stretch]:
    start = int(datetime(FIRST_YEAR - 1, 12, 1, tzinfo=UTC).timestamp())
    end = int(datetime(LAST_YEAR + 1, 2, 1, tzinfo=UTC).timestamp())
    found, began, shown = [], start, offset_s(zone, start)
    for second in range(start + _STRIDE_S, end, _STRIDE_S):
        if offset_s(zone, second) == shown:
            continue
        low, high = second - _STRIDE_S, second
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset_s(zone, middle) == shown else (low, middle)
        found.append(Stretch(began, high, shown))
        began, shown = high, offset_s(zone, high)
        assert shown == offset_s(zone, second), f"{name} changed twice in three days"
    return [*found, Stretch(began, end, shown)]


@cache
def _starts(name: str) -> list[int]:
    return [stretch.start for stretch in stretches(name)]


def changes(name: str) -> list[int]:
    """When clocks are set forward or back, in seconds."""
    return _starts(name)[1:]


def _at(name: str, second: int) -> Stretch:
    return stretches(name)[max(0, bisect_right(_starts(name), second) - 1)]


def _near(name: str, second: int) -> list[Stretch]:
    around = bisect_right(_starts(name), second)
    return stretches(name)[max(0, around - 3) : around + 3]


def expected_run(name: str, day: date, at: time) -> Instant | None:
    """The instant of the run of a date, by the ruling."""
    midnight = (day - date(1970, 1, 1)).days * DAY_S
    wanted = midnight + at.hour * 3600 + at.minute * 60 + at.second
    here = _at(name, midnight)
    if here.start < midnight - 2 * DAY_S and midnight + 3 * DAY_S < here.end:
        return (wanted - here.offset) * MICROSECONDS
    near = _near(name, midnight)
    shown = [(one.start + one.offset, one.end + one.offset) for one in near]
    if not any(low < midnight + DAY_S and high > midnight for low, high in shown):
        return None
    moments = [
        wanted - one.offset
        for one, (low, high) in zip(near, shown, strict=True)
        if low <= wanted < high
    ]
    if moments:
        return min(moments) * MICROSECONDS
    before = max(high for _, high in shown if high <= wanted)
    (offset,) = [one.offset for one, (_, high) in zip(near, shown, strict=True) if high == before]
    return (wanted - offset) * MICROSECONDS


def date_shown(name: str, now: Instant) -> date:
    """The local date."""
    second = now // MICROSECONDS
    return date(1970, 1, 1) + timedelta(seconds=second + _at(name, second).offset)
