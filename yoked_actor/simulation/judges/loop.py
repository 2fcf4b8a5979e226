"""The loop is never blocked for longer than its bound.

Measured in processor time of the thread, so that a busy machine does not count. It is the only
judge whose figures differ from run to run; they are not in the history.
"""

from __future__ import annotations

from time import thread_time

import trio

from yoked_actor.simulation.judges.verdict import Bench
from yoked_actor.simulation.tally import Tally

BOUND_S = 1.0
"""With a mock clock SQL and the making of offers run on the loop too, so this is generous."""


class LoopJudge(trio.abc.Instrument):
    """Measures every step of every task."""

    def __init__(self, bench: Bench, tally: Tally) -> None:
        self._bench = bench
        self._tally = tally
        self._began_s = 0.0
        self._is_over = False

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._began_s = thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        took_s = thread_time() - self._began_s
        if took_s > self._tally.longest_step_s:
            if task.name.startswith("yoked_actor.simulation"):
                return  # judges may take their time
            self._tally.longest_step_s = took_s
            if took_s > BOUND_S:
                self._bench.report("loop_blocked", f"{task.name} ran for {took_s:.1f} s at once")
