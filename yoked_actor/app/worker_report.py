"""What a worker process tells its server: one JSON object in a line of standard output.

A worker has no metrics of its own that anybody reads, and does not know who is connected. So the
server counts the worker's runs and sets as its own, judges them for alerts and objectives, and
delivers the sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import trio

from yoked_actor.actors.jobs import EndedRun
from yoked_actor.actors.offers import EndedSet
from yoked_actor.actors.wakeup import Wakeup

EVERY_S = 0.1
MOST_AT_ONCE = 100
"""Runs, and sets, in one line: the server handles a line without a pause, in about 1 ms."""


class WorkerReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line. The first one says who the worker is."""

    owner: str = ""
    """The name under which the worker leases jobs."""
    runs: list[EndedRun] = []
    sets: list[EndedSet] = []


encode_report = msgspec.json.Encoder().encode
decode_report = msgspec.json.Decoder(WorkerReport).decode


class Reporter:
    """Collects what a worker has done, and sends it in short intervals."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        """`send` writes a line; it may block while the server is busy."""
        self._send = send
        self._runs: list[EndedRun] = []
        self._sets: list[EndedSet] = []
        self._wakeup = Wakeup()

    def greet(self, owner: str) -> None:
        """Say who the worker is."""
        self._write(WorkerReport(owner))

    def add_runs(self, runs: Sequence[EndedRun]) -> None:
        """Report these runs soon. Does not block."""
        self._runs.extend(runs)
        self._wakeup.wake()

    def add_set(self, ended: EndedSet) -> None:
        """Report this set soon. Does not block."""
        self._sets.append(ended)
        self._wakeup.wake()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._wakeup.wait()
            self.flush()
            await trio.sleep(EVERY_S)

    def flush(self) -> None:
        """Send everything that was collected."""
        runs, self._runs = self._runs, []
        sets, self._sets = self._sets, []
        for part in range(math.ceil(max(len(runs), len(sets)) / MOST_AT_ONCE)):
            here = slice(part * MOST_AT_ONCE, (part + 1) * MOST_AT_ONCE)
            self._write(WorkerReport(runs=runs[here], sets=sets[here]))

    def _write(self, report: WorkerReport) -> None:
        self._send(encode_report(report) + b"\n")
