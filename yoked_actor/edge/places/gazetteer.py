"""The gazetteer: 69 000 places, found by the beginning of any of their names, or by a position.

The files are written by `scripts/gazetteer/build.py`. They stay in memory as two texts with the
offsets of their lines, about 30 MB in all. They are loaded by the first search, so that a server
that nobody asks has no cost.
"""

from __future__ import annotations

import gzip
from importlib.resources import files

import msgspec
import numpy as np
import numpy.typing as npt

from yoked_actor.edge.places.folding import fold

_FOLDER = files("yoked_actor.edge.places")
_LINE = b"\n"[0]


class Place(msgspec.Struct, frozen=True):
    """A place. `name` is its main name, `alias` the other name by which it was found."""

    name: str
    alias: str
    region: str
    country: str
    lat: float
    lon: float
    time_zone: str
    near: str


class Gazetteer:
    """All places, in the order of their population."""

    def __init__(self) -> None:
        self._places = _Lines("places.txt.gz")
        self._names = _Lines("names.txt.gz")
        with (_FOLDER / "numbers.npz").open("rb") as file, np.load(file) as numbers:
            self._ranks: npt.NDArray[np.int32] = numbers["ranks"]
            self._is_main: npt.NDArray[np.bool_] = numbers["is_main"]
            self._positions: npt.NDArray[np.float32] = np.radians(numbers["positions"])

    def search(self, text: str, most: int) -> list[Place]:
        """The places with a name that begins with a text, the largest first.

        A place whose whole name is the text comes before others, and a main name before names in
        other languages. After a comma, the text may have the code of a country or of a state of the
        US: "Paris, TX".
        """
        name, _, code = text.partition(",")
        wanted = fold(name).encode()
        if not wanted:
            return []
        exact = self._between(wanted + b"\t", wanted + b"\n")
        others = self._between(wanted, wanted + b"\xff")
        found: dict[int, int] = {}
        for lines in (exact, others[self._is_main[others]], others):
            # The first line of each place, in the order of the ranks.
            ranks, first = np.unique(self._ranks[lines], return_index=True)
            for rank, line in zip(ranks.tolist(), lines[first].tolist(), strict=True):
                if len(found) == most:
                    break
                if rank not in found and self._is_in(rank, code.strip().upper()):
                    found[rank] = line
        return [self._place(rank, self._alias(line)) for rank, line in found.items()]

    def nearest(self, lat: float, lon: float) -> Place:
        """The place next to a position."""
        lats, lons = self._positions.T
        here_lat, here_lon = np.radians(lat), np.radians(lon)
        chord = (
            np.sin((lats - here_lat) / 2) ** 2
            + np.cos(lats) * np.cos(here_lat) * np.sin((lons - here_lon) / 2) ** 2
        )
        return self._place(int(np.argmin(chord)), "")

    def _between(self, least: bytes, end: bytes) -> npt.NDArray[np.int64]:
        return np.arange(self._names.first_from(least), self._names.first_from(end))

    def _is_in(self, rank: int, code: str) -> bool:
        if not code:
            return True
        _, region, country, _ = self._places[rank].decode().split("\t", 3)
        return code in (region, country)

    def _alias(self, line: int) -> str:
        return self._names[line].decode().split("\t")[1]

    def _place(self, rank: int, alias: str) -> Place:
        name, region, country, lat, lon, time_zone, near = self._places[rank].decode().split("\t")
        return Place(name, alias, region, country, float(lat), float(lon), time_zone, near)


class _Lines:
    """The lines of a compressed file, as one text with offsets: many small objects less."""

    def __init__(self, name: str) -> None:
        self._text = gzip.decompress((_FOLDER / name).read_bytes())
        breaks: npt.NDArray[np.int64] = np.flatnonzero(
            np.frombuffer(self._text, dtype=np.uint8) == _LINE
        )
        self._starts = np.concatenate(([0], breaks + 1))
        self._ends = np.concatenate((breaks, [len(self._text)]))

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, number: int) -> bytes:
        return self._text[self._starts[number] : self._ends[number]]

    def first_from(self, least: bytes) -> int:
        """The number of the first line that is not less than a text."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self[middle] < least:
                low = middle + 1
            else:
                high = middle
        return low
