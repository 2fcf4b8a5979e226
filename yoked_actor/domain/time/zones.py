"""Time zones, from the `tzdata` package.

The zone files of the system are not read, so two machines with the same installation agree about
every instant. The package is data that is installed with the code, so reading it is like an import.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from zoneinfo import ZoneInfo


@cache
def zone_names() -> frozenset[str]:
    """The names of all zones."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())


@cache
def tzdata_version() -> str:
    """The version of the time zone rules."""
    return version("tzdata")


def zone_named(name: str) -> ZoneInfo | None:
    """The zone of this name, if there is one."""
    # A name is a path of a file: only listed names may be opened.
    return _load(name) if name in zone_names() else None


@cache
def _load(name: str) -> ZoneInfo:
    # Not ZoneInfo(name), which would read the system's files first.
    # Part by part: not every kind of package loader takes several parts at once.
    place = files("tzdata").joinpath("zoneinfo")
    for part in name.split("/"):
        place = place.joinpath(part)
    with place.open("rb") as file:
        return ZoneInfo.from_file(file, key=name)
