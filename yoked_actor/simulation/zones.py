"""Time zones of the `tzdata` package: the rules that the server has too, read by other code."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo


@cache
def zone_of(name: str) -> ZoneInfo:
    """The zone of this name."""
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)
