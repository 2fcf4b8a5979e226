"""A worker beside the server: another process on the same machine, with a disk of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from pathlib import Path

import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.app.worker import open_worker
from yoked_actor.settings import Settings
from yoked_actor.simulation.stage.disk import CLAIM, Disk
from yoked_actor.simulation.stage.errors import describe, leaves
from yoked_actor.store import StoreUnavailable

Stall = tuple[int, float]
"""After how many calls of the store a worker that has a job stands still, and for how long."""
_in_worker: ContextVar[bool] = ContextVar("in_worker", default=False)


def is_in_worker() -> bool:
    """Whether the present task belongs to the worker."""
    return _in_worker.get()


class WorkerBeside:
    """The worker, while there is one."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._scope: trio.CancelScope | None = None
        self._gone = trio.Event()
        self.disk = Disk()
        self.was_stalled: Callable[[float], None] = lambda _: None
        """Is called when the worker stands still, with how long."""

    @property
    def is_running(self) -> bool:
        """Whether there is one."""
        return self._scope is not None

    async def run(
        self,
        settings: Settings,
        wait_up: Callable[[], Awaitable[None]],
        make_clock: Callable[[str], Clock],
        disk: Disk,
        stall: Stall | None,
        ended_by_itself: Callable[[str], None],
    ) -> None:
        """Run jobs until it is stopped. With `stall` it stands still once, after a claim."""
        _in_worker.set(True)
        self.disk = disk
        self._gone = trio.Event()
        with trio.CancelScope() as self._scope:
            try:
                await wait_up()
                clock = make_clock("worker")
                async with open_worker(
                    settings, self._database, clock=clock, name="worker", threads=False
                ):
                    if stall is not None:
                        disk.when_changed(CLAIM, lambda: self._stall_soon(stall))
                    await trio.sleep_forever()
            except* Exception as error:
                if not disk.is_dead and not self._is_excused(error):
                    ended_by_itself(f"the worker: {describe(error)}")
        self._scope = None
        self._gone.set()

    def _stall_soon(self, stall: Stall) -> None:
        calls, seconds = stall
        self.disk.stall_in(calls, seconds, lambda: self.was_stalled(seconds))

    def _is_excused(self, error: BaseException) -> bool:
        return self.disk.refused > 0 and all(
            isinstance(one, StoreUnavailable) for one in leaves(error)
        )

    def stop(self, *, dropped: bool) -> None:
        """Stop it; or drop it, as a kill does."""
        if self._scope is not None:
            self.disk.is_dead = dropped
            self._scope.cancel()

    async def wait_gone(self) -> None:
        """Wait until there is none."""
        if self._scope is not None:
            await self._gone.wait()
