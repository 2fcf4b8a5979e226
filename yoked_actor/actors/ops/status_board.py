"""The status board: sends the server's status to watching operators, every few seconds.

The status is read only while there are watchers, once for all of them. A watcher is not a user: it
has no session and is not in the lobby. An error here is logged and closes the watchers' sockets; it
has no other effect.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from heapq import nsmallest

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import (
    Connection,
    Sessions,
    notice_of,
)
from yoked_actor.actors.nodes import Directory, nodes_part
from yoked_actor.actors.ops.alarm import Alarm
from yoked_actor.actors.ops.watcher import Watcher
from yoked_actor.actors.rooms import Registry
from yoked_actor.actors.supervisor import Supervisor, Trouble
from yoked_actor.domain.jobs import JobStatus
from yoked_actor.domain.lobby import Explanation, SettledView
from yoked_actor.domain.matching import Ticket
from yoked_actor.domain.ops import Alert, Minute
from yoked_actor.domain.statistics import percentile
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.settings import ConsoleSettings
from yoked_actor.store import Store, StoreUnavailable
from yoked_actor.telemetry import Metrics
from yoked_actor.wire.close_codes import CloseCode
from yoked_actor.wire.lobby import Draining, Ok, event_of
from yoked_actor.wire.lobby import commands as cmd
from yoked_actor.wire.ops import (
    CommitPart,
    DegradedPart,
    HourPart,
    MinutePart,
    Status,
    WaiterPart,
    http,
)

_log = structlog.get_logger()

MOST_REPORTS = 1_000
"""The most open reports that are counted."""
TICKETS_AT_ONCE = 5_000
"""How many tickets are read between two checkpoints."""


class StatusBoard:
    """Sends the status to all watchers."""

    def __init__(
        self,
        settings: ConsoleSettings,
        clock: Clock,
        store: Store,
        metrics: Metrics,
        *,
        view: SettledView,
        sessions: Sessions,
        rooms: Registry,
        alarm: Alarm,
        supervisor: Supervisor,
        directory: Directory | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._store = store
        self._metrics = metrics
        self._view = view
        self._sessions = sessions
        self._rooms = rooms
        self._alarm = alarm
        self._supervisor = supervisor
        self._directory = directory
        self._watchers: dict[Watcher, None] = {}
        self._wakeup = trio.Event()
        self._last: Status | None = None
        self._jobs: dict[JobStatus, int] = {}
        self._reports = 0
        self._waiters: list[WaiterPart] = []

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another watcher."""
        return len(self._watchers) >= self._settings.max_watchers

    def admit(
        self, connection: Connection, watch: cmd.Watch, user_id: str, expires_at: Instant
    ) -> Watcher:
        """Add the socket of an operator. `expires_at` is the end of the token."""
        watcher = Watcher(connection, user_id)
        at = to_datetime(self._clock.now())
        watcher.say(Ok(re=watch.id, at=at, expires_at=to_datetime(expires_at)))
        # While there are watchers, the last status is recent.
        if self._watchers and self._last is not None:
            watcher.tell(self._last)
        self._watchers[watcher] = None
        self._wakeup.set()
        return watcher

    def forget(self, watcher: Watcher) -> None:
        """Remove a socket that is closed."""
        self._watchers.pop(watcher, None)

    def drain(self, reconnect_after_s: float) -> None:
        """Notify all watchers that the server is about to stop, and close their sockets."""
        at = to_datetime(self._clock.now())
        event = Draining(seq=0, at=at, reconnect_after_s=reconnect_after_s)
        for watcher in list(self._watchers):
            watcher.tell(event)
            watcher.close(CloseCode.DRAINING, "the server is about to stop")

    async def run(self) -> None:
        """Send the status while there are watchers, until cancelled."""
        while True:
            while not self._watchers:
                self._last = None
                self._wakeup = trio.Event()
                await self._wakeup.wait()
            try:
                self._last = await self._read()
                self._expel_suspended()
                for watcher in list(self._watchers):
                    watcher.tell(self._last)
            except Exception:
                _log.exception("status_failed")
                for watcher in list(self._watchers):
                    watcher.close(CloseCode.INTERNAL_ERROR, "internal error")
                self._watchers.clear()
                continue
            await trio.sleep(self._settings.status_every_s)

    def _expel_suspended(self) -> None:
        for watcher in list(self._watchers):
            suspension = self._sessions.suspensions.of(watcher.user_id)
            if suspension is not None:
                now = to_datetime(self._clock.now())
                watcher.tell(event_of(notice_of(suspension), 0, now, ()))
                watcher.close(CloseCode.UNAUTHORIZED, f"suspended: {suspension.reason}")
                del self._watchers[watcher]

    async def _read(self) -> Status:
        longest = await self._longest()
        jobs, reports = await self._count_jobs(), await self._count_reports()
        now, metrics = self._clock.now(), self._metrics
        minutes = metrics.lobby.recent.since(now)
        commits = list(metrics.store.last_commits_s)
        return Status(
            seq=0,
            at=to_datetime(now),
            waiting=self._view.waiting(),
            longest=tuple(longest),
            minutes=tuple(_minute_part(minute) for minute in minutes),
            hour=_hour_part(minutes),
            connections=metrics.connections.count_sockets(),
            sessions=len(self._sessions),
            mailbox=self._rooms.backlog,
            commits=CommitPart(
                percentile(commits, 0.5), percentile(commits, 0.99), self._store.pending_writes
            ),
            jobs=jobs,
            alerts=tuple(alert_entries(self._alarm)),
            stalled=self._rooms.stalled,
            draining=self._sessions.context.draining,
            reports=reports,
            degraded=tuple(_degraded_part(one) for one in self._supervisor.degraded()),
            nodes=None if self._directory is None else nodes_part(self._directory),
        )

    async def _longest(self) -> list[WaiterPart]:
        """The users who have waited longest, and why.

        While a commit does not end, the last answer: what it decides must not be seen.
        """
        with trio.move_on_after(self._settings.status_every_s):
            self._waiters = await self._read_longest()
        return self._waiters

    async def _read_longest(self) -> list[WaiterPart]:
        most = self._settings.longest_shown
        tickets, found = list(self._view.tickets()), list[Ticket]()
        for start in range(0, len(tickets), TICKETS_AT_ONCE):
            found += tickets[start : start + TICKETS_AT_ONCE]
            found = nsmallest(most, found, key=lambda one: (one.waiting_since, one.user_id))
            await trio.lowlevel.checkpoint()
        parts = []
        for ticket in found:
            reply = await self._rooms.explain(ticket.user_id)
            if isinstance(reply, Explanation):
                parts.append(
                    WaiterPart(
                        ticket.user_id,
                        reply.waiting_s,
                        reply.tier,
                        reply.next_tier_in_s,
                        reply.pool,
                        reply.rejected_by,
                        reply.nearest,
                    )
                )
            await trio.lowlevel.checkpoint()
        return parts

    async def _count_jobs(self) -> dict[JobStatus, int]:
        try:
            counts = await self._store.jobs.open_counts()
        except StoreUnavailable:
            return self._jobs  # the last counts; alerts report the store
        jobs: Counter[JobStatus] = Counter()
        for (_, status), count in counts.items():
            jobs[status] += count
        self._jobs = dict(jobs)
        return self._jobs

    async def _count_reports(self) -> int:
        # Without the store, the last count; alerts report the store.
        with suppress(StoreUnavailable):
            self._reports = await self._store.operators.open_reports(MOST_REPORTS)
        return self._reports


def alert_entries(alarm: Alarm) -> list[http.AlertEntry]:
    """The raised alerts, those about dead letters last."""
    entries = [
        http.AlertEntry(one.alert, one.value, one.limit, to_datetime(one.raised_at))
        for one in alarm.standing.values()
    ]
    for dead in [] if alarm.dead is None else alarm.dead.standing:
        about = (dead.job_type, dead.kind, dead.count, dead.job_id)
        raised_at = to_datetime(dead.raised_at)
        entries.append(http.AlertEntry(Alert.DEAD_LETTER, dead.count, 0.0, raised_at, *about))
    return entries


def _degraded_part(trouble: Trouble) -> DegradedPart:
    started_at = trouble.started_at
    return DegradedPart(
        trouble.actor,
        trouble.error,
        to_datetime(trouble.failed_at),
        trouble.failures,
        None if started_at is None else to_datetime(started_at),
    )


def _minute_part(minute: Minute) -> MinutePart:
    matches = minute.matches
    return MinutePart(
        to_datetime(minute.starts_at),
        minute.waiting,
        matches,
        dict(minute.tiers),
        minute.wait_s / (2 * matches) if matches else None,
    )


def _hour_part(minutes: list[Minute]) -> HourPart:
    return HourPart(
        sum(minute.matches for minute in minutes),
        dict(sum((minute.tiers for minute in minutes), Counter())),
        dict(sum((minute.outcomes for minute in minutes), Counter())),
        dict(sum((minute.cancelled for minute in minutes), Counter())),
    )
