"""The supervisor: starts an actor that failed again, and says which actors are degraded.

Side actors (jobs, the calendar, offers, alerts, the status board and the like) serve the live
loop, and the live loop does not need them. An unexpected error in one of them is logged with its
trace, counted and made an alert; after a pause the actor starts again and reads what it needs from
the store. Pauses grow up to a bound and vary by actor and attempt, so that actors that failed
together do not all return in the same instant. When an actor has run well for a while, its pauses
begin at the shortest again and it is no longer reported as degraded.

Core actors (the matchmaker, sessions, the front door, the store's writer) are not restarted in the
process: nothing they say could be trusted. `run_core` logs the error and ends the process; the
service manager starts it again, and recovery takes up what was stored.
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
    """A core actor has failed; the process cannot go on."""


class Trouble(msgspec.Struct, frozen=True):
    """A side actor that does not run, or has not yet run well for long enough."""

    actor: str
    error: str
    """Of the last failure: its class and its text, in one line."""
    failed_at: Instant
    failures: int
    """Since the actor last ran well."""
    started_at: Instant | None = None
    """When it was started again; None while it waits for that."""


class Supervisor:
    """Runs actors, and knows which of them are in trouble."""

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
        """When actors that had failed were started again; those that wait for it are not here."""

    def degraded(self) -> list[Trouble]:
        """The side actors that are in trouble now, by name."""
        return [one for _, one in sorted(self._troubles.items()) if not self._is_well(one)]

    async def run_side(
        self,
        name: str,
        actor: Actor,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Run a side actor until it returns or is cancelled, however often it fails.

        With `nursery.start` the caller waits for the first attempt of an actor that returns.
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
            pause_s = self._note(name, failure)
            await trio.sleep(pause_s)
            trouble = self._troubles[name]
            self._troubles[name] = msgspec.structs.replace(trouble, started_at=self._clock.now())
            self._started_s[name] = trio.current_time()
            _log.info("actor_restarted", actor=name, failures=trouble.failures)

    async def run_core(self, name: str, actor: Actor) -> None:
        """Run an actor without which the server cannot go on."""
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

    def _note(self, name: str, failure: Exception) -> float:
        """Note a failure; returns how long to wait before the next start."""
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
        """From half of the full pause up to all of it; the same for the same actor and attempt."""
        first_s, cap_s = self._settings.restart_first_s, self._settings.restart_cap_s
        full_s = min(first_s * 2.0 ** min(failures - 1, _MOST_DOUBLINGS), cap_s)
        share = crc32(f"{name}:{failures}".encode()) / 0xFFFFFFFF
        return full_s * (1 + share) / 2


def _plain(error: Exception) -> Exception:
    """The one error in nested groups; the group itself when there are several."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
