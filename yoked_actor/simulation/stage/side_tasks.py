"""Errors raised inside side actors, from outside: supervision has to restart the actor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import trio

from yoked_actor.actors.supervisor import Supervisor

Actor = Callable[[], Awaitable[None]]


class PlantedError(Exception):
    """An error that a fault of the simulation raises."""


class SideTasks:
    """The side actors that run now, by name."""

    def __init__(self) -> None:
        self._throws: dict[str, trio.Event] = {}

    @property
    def names(self) -> list[str]:
        """Those that can be made to fail."""
        return sorted(self._throws)

    def fail(self, name: str) -> None:
        """Raise an error inside a side actor, at the checkpoint where it is."""
        self._throws[name].set()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Watch every side actor that is started."""
        plain = Supervisor.run_side
        side_tasks = self

        async def run_side(
            supervisor: Supervisor,
            name: str,
            actor: Actor,
            *,
            task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
        ) -> None:
            watched = side_tasks._watched(name, actor)
            await plain(supervisor, name, watched, task_status=task_status)

        setattr(Supervisor, "run_side", run_side)  # noqa: B010
        try:
            yield
        finally:
            setattr(Supervisor, "run_side", plain)  # noqa: B010

    def _watched(self, name: str, actor: Actor) -> Actor:
        async def run() -> None:
            asked = self._throws[name] = trio.Event()

            async def throw() -> None:
                await asked.wait()
                raise PlantedError(f"planted in {name}")

            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(throw)
                    await actor()
                    nursery.cancel_scope.cancel()
            finally:
                if self._throws.get(name) is asked:
                    del self._throws[name]

        return run
