"""The tasks that run claimed jobs, one after the other.

Most handlers do not wait for anything: one task runs them all, and gives way to other tasks of the
process at times. A task that begins to wait in a handler wakes another one for the next job.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import trio

from yoked_actor.actors.jobs.attempts import Attempts
from yoked_actor.actors.jobs.held_jobs import HeldJob
from yoked_actor.store import going_on

_MOST_RUNS, _LONGEST_S = 64, 0.001
"""Between two checkpoints."""


class Workers:
    """The jobs that are ready to run, and the tasks that run them."""

    def __init__(
        self, attempts: Attempts, taken: Callable[[], None], gives_way: Callable[[], bool] | None
    ) -> None:
        """`taken` is called whenever a job that was ready begins to run.

        `gives_way` is called before each run, and may block; it returns whether it did.
        """
        self._attempts = attempts
        self._taken = taken
        self._give_way = gives_way
        self._ready: deque[HeldJob] = deque()
        self._filled = trio.lowlevel.ParkingLot()

    def __len__(self) -> int:
        """How many jobs are ready."""
        return len(self._ready)

    def add(self, jobs: Sequence[HeldJob]) -> None:
        """Let jobs run soon, in this order."""
        self._ready.extend(jobs)
        self._wake_one()

    def take_back(self) -> list[HeldJob]:
        """The jobs that were ready: they will not run."""
        ready = list(self._ready)
        self._ready.clear()
        return ready

    def _wake_one(self) -> None:
        if self._ready:
            self._filled.unpark()

    async def work(self) -> None:
        """Run jobs until cancelled. Call it in as many tasks as jobs may run at once."""
        while True:
            # Many runs share a scope, because a scope costs more than a small job does. A scope
            # that was cancelled, to stop a run, is not used for another.
            running: list[HeldJob] = []
            try:
                with trio.CancelScope() as scope:
                    await self._run_jobs(scope, running)
            except Exception as error:
                # A run that was stopped has failed as well.
                if not running:
                    raise
                self._attempts.end_failed(running[0], error)
                continue
            for held in running:
                self._attempts.end_stopped(held)

    async def _run_jobs(self, scope: trio.CancelScope, running: list[HeldJob]) -> None:
        """Run jobs until one is stopped, which cancels the scope; `running` holds it meanwhile."""
        runs, until_s = 0, 0.0
        # `trio.current_time` finds the clock anew each time, which takes longer than to read it.
        read_s = trio.lowlevel.current_clock().current_time
        now_s = read_s()
        while True:
            while not self._ready:
                await self._filled.park()
                runs, now_s = 0, read_s()
            if self._give_way is not None and self._give_way():
                now_s = read_s()
            if runs == 0:
                until_s = now_s + _LONGEST_S
            held = self._ready.popleft()
            self._taken()
            running.append(held)
            run = self._attempts.run(held, scope, now_s, read_s)
            try:
                trap = run.send(None)
            except StopIteration as stop:
                now_s = stop.value  # it has ended without waiting, as most do
            else:
                self._wake_one()
                now_s = await going_on(run, trap)
            running.clear()
            if held.stopped is not None:
                return
            runs += 1
            if runs == _MOST_RUNS or now_s >= until_s:
                # Handlers that never checkpoint would block all other tasks.
                await trio.lowlevel.checkpoint()
                runs, now_s = 0, read_s()
