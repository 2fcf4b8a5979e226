"""The supervisor: restarts side actors after an error, and reports which are degraded.

The live loop does not need the side actors (jobs, the calendar, offers, alerts, the status board
and others). An unexpected error in one of them is logged with its traceback, counted, and raises an
alert; after a pause the actor is started again and reads its state from the store. Pauses grow up
to a limit and vary by actor and attempt, so that actors that failed together do not restart
together. An actor that has run for `well_after_s` is no longer degraded, and its pauses start at
the shortest again.

Core actors (the matchmaker, sessions, the front door, the store's writer) are not restarted: their
state can no longer be trusted. `run_core` logs the error and ends the process; the service manager
starts it again, and it recovers from the store.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from zlib import crc32

import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.time import Instant
from yoked_actor.settings import SupervisorSettings
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()

Actor = Callable[[], Awaitable[None]]
_LONGEST_ERROR = 200
_MOST_DOUBLINGS = 30


class ActorCrashed(Exception):
    """A core actor has failed; the process must end."""


class Trouble(msgspec.Struct, frozen=True):
    """A degraded side actor: it does not run, or was restarted a short time ago."""

    actor: str
    error: str
    """Of the last failure: its class and its text, in one line."""
    failed_at: Instant
    failures: int
    """Since the actor was last not degraded."""
    started_at: Instant | None = None
    """When it was restarted; None during the pause."""


class Supervisor:
    """Runs actors, and records which are degraded."""

    def __init__(
        self,
        clock: Clock,
        settings: SupervisorSettings,
        metrics: Metrics,
        failed: Callable[[], None] | None = None,
    ) -> None:
        """`failed` is called after each failure of a side actor; it must not block."""
        self._clock = clock
        self._settings = settings
        self._metrics = metrics.actors
        self._failed = failed
        self._troubles: dict[str, Trouble] = {}
        self._started_s: dict[str, float] = {}
        """When failed actors were restarted, on trio's clock; without those in their pause."""

    def degraded(self) -> list[Trouble]:
        """The degraded side actors, in order of name."""
        return [one for _, one in sorted(self._troubles.items()) if not self._is_well(one)]

    async def run_side(
        self,
        name: str,
        actor: Actor,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Run a side actor until it returns or is cancelled; restart it after an error.

        `nursery.start` returns when the first attempt has ended.
        """
        self._metrics.expect(name)
        is_first = True
        while True:
            failure: Exception | None = None
            try:
                await actor()
            except* Exception as group:
                failure = _plain(group)
            if is_first:
                task_status.started()
                is_first = False
            if failure is None:
                self._troubles.pop(name, None)
                return
            pause_s = self._record(name, failure)
            await trio.sleep(pause_s)
            trouble = self._troubles[name]
            self._troubles[name] = msgspec.structs.replace(trouble, started_at=self._clock.now())
            self._started_s[name] = trio.current_time()
            _log.info("actor_restarted", actor=name, failures=trouble.failures)

    async def run_core(self, name: str, actor: Actor) -> None:
        """Run a core actor; raises `ActorCrashed` after an error."""
        try:
            await actor()
        except Exception as error:
            _log.critical("actor_crashed", actor=name, exc_info=True)
            raise ActorCrashed(f"{name} has crashed") from error

    def _is_well(self, trouble: Trouble) -> bool:
        # By trio's clock: the time of day may be stepped meanwhile.
        started_s = self._started_s.get(trouble.actor)
        if started_s is None:
            return False
        return started_s + self._settings.well_after_s <= trio.current_time()

    def _record(self, name: str, failure: Exception) -> float:
        """Record a failure; returns the pause before the restart."""
        before = self._troubles.get(name)
        failures = 1 if before is None or self._is_well(before) else before.failures + 1
        text = f"{type(failure).__name__}: {failure}".splitlines()[0][:_LONGEST_ERROR]
        self._started_s.pop(name, None)
        self._troubles[name] = Trouble(name, text, self._clock.now(), failures)
        pause_s = self._pause_s(name, failures)
        self._metrics.count_restart(name)
        _log.error(
            "actor_failed",
            actor=name,
            failures=failures,
            restart_in_s=round(pause_s, 3),
            exc_info=failure,
        )
        if self._failed is not None:
            self._failed()
        return pause_s

    def _pause_s(self, name: str, failures: int) -> float:
        """Half to all of the full pause, the same for the same actor and attempt."""
        first_s, cap_s = self._settings.restart_first_s, self._settings.restart_cap_s
        full_s = min(first_s * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), cap_s)
        share = crc32(f"{name}:{failures}".encode()) / 0xFFFFFFFF
        return full_s * (1 + share) / 2


def _plain(error: Exception) -> Exception:
    """The single error in nested groups; the group itself when it holds several."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
