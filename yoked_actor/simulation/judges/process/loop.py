"""The loop is never blocked for longer than its bound, and never turns without end.

The first is measured in processor time of the thread, so that a busy machine does not count. Its
figures differ from run to run, and are not in the history. The second is counted: a task that never
sleeps would stop the mock clock, and no other judge would look any more.
"""

from __future__ import annotations

from time import perf_counter, thread_time

import trio

from yoked_actor.simulation.judges.verdict import Bench
from yoked_actor.simulation.stage import Stage
from yoked_actor.simulation.tally import Tally

BOUND_S = 1.0
"""With a mock clock SQL and the making of offers run on the loop too, so this is generous."""
_SAMPLE_S = 0.05
"""How often processor time is read: it is a system call, and there are many steps."""
_LOOK_EVERY = 10_000
_MOST_AT_ONE_TIME = 100_000
"""Steps of tasks without any time between them: everything at nine in the morning is far fewer."""


class LoopJudge(trio.abc.Instrument):
    """Measures every step of every task.

    The step's own processor time is at most its duration, and at most what the thread has used
    since the last sample.
    """

    def __init__(self, stage: Stage, bench: Bench, tally: Tally) -> None:
        self._stage = stage
        self._bench = bench
        self._tally = tally
        self._began_s = 0.0
        self._sampled_s = -1.0
        self._used_s = 0.0
        self._steps = 0
        self._steps_at_s = -1.0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        now_s = self._began_s = perf_counter()
        if now_s - self._sampled_s > _SAMPLE_S:
            self._sampled_s, self._used_s = now_s, thread_time()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self._steps += 1
        if self._steps % _LOOK_EVERY == 0:
            self._check_time(task)
        took_s = perf_counter() - self._began_s
        if took_s <= self._tally.longest_step_s:
            return
        if task.name.startswith("yoked_actor.simulation"):
            return  # judges may take their time
        took_s = min(took_s, thread_time() - self._used_s)
        if took_s > self._tally.longest_step_s:
            self._tally.longest_step_s = took_s
            if took_s > BOUND_S + _SAMPLE_S:
                self._bench.report("loop_blocked", f"{task.name} ran for {took_s:.1f} s at once")

    def _check_time(self, task: trio.lowlevel.Task) -> None:
        now_s = trio.current_time()
        if now_s != self._steps_at_s:
            self._steps, self._steps_at_s = 0, now_s
        elif self._steps >= _MOST_AT_ONE_TIME:
            self._steps = 0
            self._bench.report("endless_loop", f"{task.name} and others never sleep")
            self._stage.drop()
