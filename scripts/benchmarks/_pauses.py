"""Finds the pauses of a virtual machine: times in which its host runs none of its programs.

A watcher on each core sleeps for half a millisecond, again and again, with a real-time priority: no
program of this machine delays it. When it wakes up late nevertheless, the core was not running.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

import msgspec

SLEEP_S = 0.0005
LATE_S = 0.001
"""A watcher that wakes up later than this has seen a pause."""

Interval = tuple[float, float]
"""Two instants of the monotonic clock, which is the same for all processes."""


class Pauses(msgspec.Struct):
    """What the watchers have seen; complete when they have ended."""

    intervals: list[Interval] = msgspec.field(default_factory=list)

    def touch(self, interval: Interval) -> bool:
        """Whether the machine paused within this interval."""
        began, ended = interval
        return any(start < ended and began < end for start, end in self.intervals)

    @property
    def total_ms(self) -> float:
        return 1000 * sum(end - start for start, end in self.intervals)

    @property
    def longest_ms(self) -> float:
        return 1000 * max((end - start for start, end in self.intervals), default=0.0)


@contextlib.contextmanager
def watching_pauses() -> Iterator[Pauses | None]:
    """Watch every core meanwhile; None where real-time priorities are not permitted."""
    if not _may_have_priority():
        yield None
        return
    pauses = Pauses()
    command = [sys.executable, "-m", __name__]
    watchers = [
        subprocess.Popen(
            [*command, str(core)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for core in os.sched_getaffinity(0)
    ]
    try:
        yield pauses
    finally:
        for watcher in watchers:
            told, _ = watcher.communicate("end\n")
            pauses.intervals += msgspec.json.decode(told, type=list[Interval])


def _may_have_priority() -> bool:
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except (AttributeError, PermissionError):
        return False
    return True


def _watch(core: int) -> None:
    """Record pauses of a core until the standard input is written to, or closed."""
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    seen: list[Interval] = []
    turns = 0
    before = time.monotonic()
    # It can be read at its end too: a watcher does not outlive the benchmark.
    while turns % 200 or not select.select([sys.stdin], [], [], 0)[0]:
        time.sleep(SLEEP_S)
        now = time.monotonic()
        if now - before > SLEEP_S + LATE_S:
            seen.append((before, now))
        before = now
        turns += 1
    sys.stdout.write(msgspec.json.encode(seen).decode())


def main(arguments: Sequence[str]) -> None:
    _watch(int(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
