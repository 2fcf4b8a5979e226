"""The only reader of time.

There are two kinds of time here, and each use has to choose.

- **Durations** are measured on trio's clock, which never steps: rate limits, time-outs, windows of
  alerts, how long a session is kept.
- **Instants** are points of the calendar: `now()`. They follow the system clock, which `check`
  compares with trio's clock. When the two differ by more than `tolerance_s`, the system clock was
  stepped or the machine was suspended; `now()` steps too.

Code that waits for an instant waits in `until`, which ends early when the clock is stepped: the
caller then checks again. The lobby measures durations between instants of its own; the matchmaker
moves all of them by the size of each step (`stepped_by`, ADR 0016).

On a mock clock the test sets the instant, and the whole server follows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
import trio

from yoked_actor.domain.time import MICROSECONDS, Instant, MachineTime, from_datetime, to_datetime

if TYPE_CHECKING:
    from trio.testing import MockClock

_log = structlog.get_logger()

CHECK_EVERY_S = 1.0
"""How often `watch` compares the two clocks. A check costs a microsecond."""
TOLERANCE_S = 1.0
"""The difference that counts as a step. Slewing moves both clocks, so it makes no difference."""
_TRIES = 3
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_MOCK_BOOT = "mock"


class Clock:
    """The present instant, and the trio deadline of an instant."""

    def __init__(
        self,
        start_at: Instant,
        *,
        wall: Callable[[], Instant] | None = None,
        tolerance_s: float = TOLERANCE_S,
    ) -> None:
        """A clock that shows `start_at` now. `wall` reads the clock that it follows, if any."""
        self._start_at = start_at
        self._origin_at = start_at
        # `trio.current_time` finds the clock anew each time, which takes longer than to read it.
        self._read_s = trio.lowlevel.current_clock().current_time
        self._trio_start = self._read_s()
        self._wall = wall
        self._tolerance = round(tolerance_s * MICROSECONDS)
        self._waiting: set[trio.CancelScope] = set()
        self._observers: list[Callable[[float], None]] = []

    @classmethod
    def real(cls, tolerance_s: float = TOLERANCE_S) -> Clock:
        """A clock that shows the time of day."""
        return _RealClock(_time_of_day(), wall=_time_of_day, tolerance_s=tolerance_s)

    @classmethod
    def starting(cls, moment: datetime) -> Clock:
        """A clock that shows `moment` now."""
        return cls(from_datetime(moment))

    # Reading

    @property
    def is_real(self) -> bool:
        """Whether it shows the time of day; False if a test or a developer sets it."""
        return False

    def now(self) -> Instant:
        """The present instant. It steps only inside `check`, never between two checkpoints."""
        return self._start_at + self._elapsed()

    def at(self, trio_s: float) -> Instant:
        """A time of trio's clock as an instant."""
        return self._start_at + round((trio_s - self._trio_start) * MICROSECONDS)

    def trio_time(self, at: Instant) -> float:
        """An instant on trio's clock, as long as the clock is not stepped."""
        return self._trio_start + (at - self._start_at) / MICROSECONDS

    @property
    def stepped_by(self) -> int:
        """The sum of all steps since the start, in microseconds; negative when set back."""
        return self._start_at - self._origin_at

    def machine_time(self) -> MachineTime:
        """The time that all processes of this machine share and that is never stepped."""
        return MachineTime(_MOCK_BOOT, self._origin_at + self._elapsed(), self.now())

    # Steps

    def check(self) -> float:
        """Compare with the system clock, and follow it; returns the size of the step in seconds.

        A step ends every wait in `until`.
        """
        if self._wall is None:
            return 0.0
        for _ in range(_TRIES):
            before = self.now()
            step = self._wall() - before
            if abs(step) <= self._tolerance:
                return 0.0
            if self.now() - before <= self._tolerance // 2:
                break  # else the process was stopped between the two readings
        else:
            return 0.0
        self._start_at += step
        seconds = step / MICROSECONDS
        _log.warning(
            "clock_stepped",
            step_s=seconds,
            direction="forward" if step > 0 else "back",
            was=to_datetime(before).isoformat(),
            now=to_datetime(before + step).isoformat(),
        )
        for observer in self._observers:
            observer(seconds)
        for scope in self._waiting:
            scope.deadline = -math.inf
        return seconds

    @contextmanager
    def until(self, at: Instant | None) -> Iterator[trio.CancelScope]:
        """A cancel scope that ends at an instant (None: never) or when the clock is stepped."""
        deadline = math.inf if at is None else self.trio_time(at)
        with trio.CancelScope(deadline=deadline) as scope:
            self._waiting.add(scope)
            try:
                yield scope
            finally:
                self._waiting.discard(scope)

    async def watch(
        self, observer: Callable[[float], None], every_s: float = CHECK_EVERY_S
    ) -> None:
        """Check regularly until cancelled; `observer` gets the size of each step, in seconds.

        `every_s` is infinite with a mock clock: the test that steps it calls `check`.
        """
        self._observers.append(observer)
        try:
            while True:
                self.check()
                await trio.sleep(every_s)
        finally:
            self._observers.remove(observer)

    def _elapsed(self) -> int:
        return round((self._read_s() - self._trio_start) * MICROSECONDS)


class _RealClock(Clock):
    """The clock of a process that is not a test."""

    @property
    def is_real(self) -> bool:
        return True

    def machine_time(self) -> MachineTime:
        """The machine's time since its start, without the time that it was suspended."""
        return read_machine_time()


def read_machine_time() -> MachineTime:
    """The machine's time, for a process that has no `Clock`."""
    return MachineTime(_boot_id(), time.monotonic_ns() // 1000, _time_of_day())


def _time_of_day() -> Instant:
    return time.time_ns() // 1000


@cache
def _boot_id() -> str:
    """The id of the machine's current boot; empty when the system has none."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


async def advance(mock: MockClock, seconds: float) -> None:
    """Move a mock clock, stopping at every deadline on the way; returns when all tasks are blocked.

    A single jump would run everything at its end. Stopping at each deadline lets time pass as it
    does on a real clock.
    """
    # Not at the start of a server: trio.testing loads pytest where it is installed.
    from trio.testing import wait_all_tasks_blocked

    target = trio.current_time() + seconds
    await wait_all_tasks_blocked()
    while (remaining := target - trio.current_time()) > 0:
        upcoming = trio.lowlevel.current_statistics().seconds_to_next_deadline
        mock.jump(min(remaining, max(upcoming, 0.0)))
        await wait_all_tasks_blocked()
