"""Invented people: the same seed and number always give the same person."""

from __future__ import annotations

from random import Random
from typing import Any

FIRST_NAMES = {
    "woman": "Ada Amara Ana Chiara Elif Freya Hana Ines Jana Leila Mei Noor Olga Priya Rosa Yuki",
    "man": "Ali Anton Ben Carlos Dev Emil Farid Hugo Ivan Jonas Kofi Luca Mateo Nils Omar Viktor",
    "nonbinary": "Alex Charlie Elis Jamie Kim Luan Mika Noa Quinn Robin Sam Sasha",
}
INTERESTS = (
    "astronomy baking board-games chess cinema climbing cooking cycling dancing dogs football"
    " gardening hiking jazz knitting museums painting photography poetry running sailing techno"
    " theatre travel yoga"
)
CITIES = (
    (52.52, 13.40, "Europe/Berlin"),
    (53.55, 9.99, "Europe/Berlin"),
    (48.86, 2.35, "Europe/Paris"),
    (51.51, -0.13, "Europe/London"),
    (40.71, -74.01, "America/New_York"),
)
_SEEKING = {
    "woman": ((7, ["man"]), (1, ["woman"]), (2, ["man", "woman", "nonbinary"])),
    "man": ((7, ["woman"]), (1, ["man"]), (2, ["man", "woman", "nonbinary"])),
    "nonbinary": ((1, ["man", "woman", "nonbinary"]),),
}
_YOUNGEST, _OLDEST = 2004, 1970


def make_person(random: Random) -> dict[str, Any]:
    """A plausible profile, in the form of the login call."""
    [gender] = random.choices(("woman", "man", "nonbinary"), (45, 45, 10))
    weights, wishes = zip(*_SEEKING[gender], strict=True)
    [seeking] = random.choices(wishes, weights)
    lat, lon, time_zone = random.choice(CITIES)
    initial = random.choice("ABCDEFGHIJKLMNOPRSTVWZ")
    year = random.randint(_OLDEST, _YOUNGEST)
    age = 2026 - year
    return {
        "display_name": f"{random.choice(FIRST_NAMES[gender].split())} {initial}.",
        "birth_date": f"{year}-{random.randint(1, 12):02}-{random.randint(1, 28):02}",
        "gender": gender,
        "location": {
            "lat": round(lat + random.gauss(0, 0.08), 4),
            "lon": round(lon + random.gauss(0, 0.12), 4),
        },
        "time_zone": time_zone,
        "interests": sorted(random.sample(INTERESTS.split(), random.randint(0, 6))),
        "preferences": {
            "seeking": list(seeking),
            "min_age": max(18, age - random.randint(4, 15)),
            "max_age": age + random.randint(4, 15),
            "max_distance_km": random.choice((10, 25, 50, 100, 500)),
        },
    }
