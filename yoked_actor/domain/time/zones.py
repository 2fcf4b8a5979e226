"""Time zones, from the `tzdata` package that is installed with the program.

The system's own zone files are never read: two machines with the same installation agree about
every instant, whatever their systems know. The package is data that ships with the code, so reading
it is no more input than an import is.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.resources import files
from zoneinfo import ZoneInfo


@cache
def zone_names() -> frozenset[str]:
    """The names of all zones that there are."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())


@cache
def tzdata_version() -> str:
    """Which edition of the rules is in use."""
    return version("tzdata")


def zone_named(name: str) -> ZoneInfo | None:
    """The zone of this name, if there is one."""
    # Names lead to files: only what the package lists may be opened.
    return _load(name) if name in zone_names() else None


@cache
def _load(name: str) -> ZoneInfo:
    # Not ZoneInfo(name), which would look in the system's folders first.
    # Step by step: not every kind of installation can take several at once.
    place = files("tzdata").joinpath("zoneinfo")
    for part in name.split("/"):
        place = place.joinpath(part)
    with place.open("rb") as file:
        return ZoneInfo.from_file(file, key=name)
