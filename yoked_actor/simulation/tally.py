"""The figures of a run, for its report."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import trio

from yoked_actor.domain.time import Instant


class Wait(NamedTuple):
    """One wait in line."""

    who: str
    group: str
    seconds: float
    tier: int
    matched: bool


class Fault(NamedTuple):
    """A fault, and what it did."""

    at: Instant
    kind: str
    text: str


class Level(NamedTuple):
    """The memory of the server at a quiet hour."""

    at: Instant
    objects: int
    sessions: int


class Morning(NamedTuple):
    """The run of one zone and date."""

    zone: str
    day: str
    due_at: Instant
    sets: int
    offers: int
    late_s: float


class Tally:
    """Counts while the run goes on."""

    def __init__(self) -> None:
        self.waits: list[Wait] = []
        self.by_hour: dict[int, Counter[str]] = {}
        """By hour of the run: matches, outcomes, cancellations."""
        self.events = Counter[str]()
        self.commands = Counter[str]()
        self.faults: list[Fault] = []
        self.levels: list[Level] = []
        self.mornings: list[Morning] = []
        self.jobs = Counter[str]()
        self.visits = 0
        self.connections = 0
        self.longest_step_s = 0.0
        self._start_s = trio.current_time()

    def count(self, name: str) -> None:
        """Something happened in this hour."""
        hour = int((trio.current_time() - self._start_s) // 3600)
        self.by_hour.setdefault(hour, Counter())[name] += 1
