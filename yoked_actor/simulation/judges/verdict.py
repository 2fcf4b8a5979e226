"""Violations, and the weather: what faults excuse, and for how long.

No fault excuses a broken promise: what was told is stored, nobody is in two matches, both sides
agree. A fault excuses only that something came late, for a while after it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec
import trio

from yoked_actor.domain.time import MICROSECONDS, Instant, from_datetime
from yoked_actor.simulation.history import History, stamp

_SHOWN = 30
MOST = 50
"""How many violations are kept: one defect can cause thousands."""


class Violation(msgspec.Struct, frozen=True):
    """A promise that was broken."""

    kind: str
    """A short stable name; a smaller case must show the same one."""
    text: str
    who: tuple[str, ...]
    at: str
    last: list[str]
    """The last lines of the history of those concerned."""

    def lines(self) -> list[str]:
        """What a person reads."""
        head = f"VIOLATION {self.kind} at {self.at}: {self.text}"
        return [head, *(f"    {line}" for line in self.last)]


class Weather:
    """When the last fault was, and what is wrong now."""

    def __init__(self, machine_now: Callable[[], Instant]) -> None:
        self._machine_now = machine_now
        self._rough_until = -1.0
        self._step_until = -1.0
        self._standing: dict[str, int] = {}
        self.stepped_at = -1.0
        """When the machine's clock was last stepped, on trio's clock."""
        self.down_at = -1.0
        """When the server was last not there."""
        self.up_at = -1.0
        self.errors = 0
        """How many faults could make a job fail."""

    def when_s(self, at: str) -> float:
        """An instant of a message, on trio's clock: a message may be read late."""
        ago = self._machine_now() - from_datetime(datetime.fromisoformat(at))
        return trio.current_time() - max(0.0, ago / MICROSECONDS)

    def disturb(self, for_s: float) -> None:
        """Excuse delays for so long."""
        self._rough_until = max(self._rough_until, trio.current_time() + for_s)

    def begin(self, fault: str) -> None:
        """A fault that lasts has begun."""
        self._standing[fault] = self._standing.get(fault, 0) + 1

    def end(self, fault: str, after_s: float) -> None:
        """It is over; delays are excused for some time more."""
        left = self._standing.get(fault, 0) - 1
        if left > 0:
            self._standing[fault] = left
        else:
            self._standing.pop(fault, None)
        self.disturb(after_s)

    def stepped(self) -> None:
        """The machine's clock was stepped."""
        self.stepped_at = trio.current_time()
        self._step_until = self.stepped_at + 5.0

    def is_fair(self, for_s: float = 0.0) -> bool:
        """Whether nothing has excused a delay in the last `for_s` seconds."""
        return self.is_steady(for_s) and trio.current_time() - for_s >= self._step_until

    def is_steady(self, for_s: float = 0.0) -> bool:
        """The same, but for steps of the clock: they change no window, wait or silence."""
        return not self._standing and trio.current_time() - for_s >= self._rough_until

    def has_stepped_since(self, at_s: float) -> bool:
        """Whether the machine's clock was stepped since an instant of trio's clock."""
        return self.stepped_at >= at_s

    def was_down_since(self, at_s: float) -> bool:
        """Whether the server was away, or stopped, since an instant of trio's clock."""
        return self.down_at >= at_s


class Bench:
    """Where judges report. Keeps the first violations of each kind."""

    def __init__(self, history: History, now: Callable[[], Instant]) -> None:
        self._history = history
        self._now = now
        self._known: set[tuple[str, str]] = set()
        self.violations: list[Violation] = []
        self.found = trio.Event()
        """Set at the first violation."""
        self.checks: dict[str, int] = {}
        """How often each judge has looked: a judge that never looks proves nothing."""

    def count(self, check: str, times: int = 1) -> None:
        """A judge has looked."""
        self.checks[check] = self.checks.get(check, 0) + times

    def report(self, kind: str, text: str, *who: str) -> None:
        """Report a violation that concerns some persons; the same one counts once."""
        if (kind, text) in self._known:
            return
        self._known.add((kind, text))
        if len(self.violations) < MOST:
            at = stamp(self._now())
            last = self._history.last((*who, "stage"), _SHOWN)
            self.violations.append(Violation(kind, text, who, at, last))
        self._history.add("judge", f"{kind}: {text}")
        self.found.set()
