"""The plan of a run: everything that its seed decides before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from random import Random

import msgspec

from yoked_actor.domain.time import Instant, from_datetime
from yoked_actor.simulation.people.person import Cast
from yoked_actor.simulation.people.profiles import ZONES

_STARTS = (
    "2026-03-27T16:00:00Z",  # clocks of Europe are set forward on the 29th
    "2026-03-06T18:00:00Z",  # those of North America on the 8th
    "2026-10-23T14:00:00Z",  # those of Europe back on the 25th
    "2026-10-30T20:00:00Z",  # those of North America on the 1st
    "2026-04-03T06:00:00Z",  # those of Lord Howe back, by half an hour, on the 5th
    "2028-02-27T12:00:00Z",  # a leap day
    "2026-12-30T10:00:00Z",  # a new year
    "2026-06-10T15:00:00Z",  # nothing special
)
_IN_A_ZONE = 15
"""People of a zone: enough to be matched all evening, few enough to meet everybody."""
ALL_FAULTS = (
    "crash",
    "power",
    "socket",
    "disk",
    "statement",
    "clock",
    "suspend",
    "side_task",
    "reload",
    "drain",
    "worker",
)


class Wish(msgspec.Struct, frozen=True):
    """What was asked for on the command line."""

    seed: int = 1
    people: int = 40
    days: int = 3
    faults: tuple[str, ...] = ()
    """Kinds of faults."""
    only_faults: tuple[int, ...] | None = None
    """Numbers of the faults to keep, for a smaller case; None keeps all."""
    without: tuple[int, ...] = ()
    """Numbers of people to leave out, for a smaller case."""
    policy: str | None = None

    def command(self) -> str:
        """The command that plays this run again."""
        parts = [
            f"yoked-actor simulate --people {self.people} --days {self.days} --seed {self.seed}"
        ]
        if self.faults:
            is_all = self.faults == ALL_FAULTS
            parts.append(f"--faults {'all' if is_all else ','.join(self.faults)}")
        if self.only_faults is not None:
            parts.append(f"--only-faults {','.join(map(str, self.only_faults)) or 'none'}")
        if self.without:
            parts.append(f"--without {','.join(map(str, self.without))}")
        if self.policy is not None:
            parts.append(f"--policy {self.policy}")
        return " ".join(parts)


class Plan(msgspec.Struct, frozen=True):
    """What the seed decides."""

    wish: Wish
    start_at: Instant
    zones: tuple[str, ...]
    cast: list[Cast]
    policy: str


def make_plan(wish: Wish) -> Plan:
    """Draw the plan of a run."""
    random = Random(f"plan {wish.seed}")
    start_at = from_datetime(datetime.fromisoformat(random.choice(_STARTS)))
    names = sorted(ZONES)
    random.shuffle(names)
    policy = random.choice(("fair_queue", "fair_queue", "weighted"))
    zones = tuple(names[: max(2, min(len(names), wish.people // _IN_A_ZONE))])
    cast = [
        Cast(number, wish.seed, zones[number % len(zones)], zones, start_at)
        for number in range(wish.people)
        if number not in wish.without
    ]
    return Plan(wish, start_at, zones, cast, wish.policy or policy)


def parse_faults(text: str) -> tuple[str, ...]:
    """Kinds of faults from `all`, `none`, or names with commas; raises `ValueError`."""
    if text == "all":
        return ALL_FAULTS
    if text == "none":
        return ()
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = sorted(set(names) - set(ALL_FAULTS))
    if unknown:
        raise ValueError(f"unknown faults: {', '.join(unknown)}; there are {', '.join(ALL_FAULTS)}")
    return tuple(name for name in ALL_FAULTS if name in names)


def numbers(text: str) -> Sequence[int]:
    """Numbers with commas between them; `none` for none."""
    return [] if text == "none" else [int(part) for part in text.split(",") if part.strip()]
