"""What every feature of a running process uses: settings, clock, metrics, store, jobs, alerts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, OtherDispatchers
from yoked_actor.actors.ops import Alarm, LoopLag, free_share_of
from yoked_actor.actors.supervisor import Supervisor
from yoked_actor.settings import Settings
from yoked_actor.store import Batch, InlineRunner, Runner, Store, ThreadRunner, open_store
from yoked_actor.telemetry import Metrics

if TYPE_CHECKING:
    from trio.testing import MockClock

_log = structlog.get_logger()

DATABASE = "yoked.db"


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """Passed to each feature when it is opened. Nothing in it runs yet."""

    settings: Settings
    clock: Clock
    metrics: Metrics
    store: Store
    dispatcher: Dispatcher
    """Features register their job types here; `open_jobs` runs it."""
    loop_lag: LoopLag
    alarm: Alarm
    supervisor: Supervisor
    directory: Path | None
    """Where the database is; None in memory."""
    mock_clock: MockClock | None = None
    on_reload: list[Callable[[], None]] = msgspec.field(default_factory=list)
    """Called after the settings were reloaded."""
    on_wakeup: list[Callable[[], None]] = msgspec.field(default_factory=list)
    """Called when another process may have changed something in the database."""

    @property
    def threads(self) -> bool:
        """Whether threads may be used: a mock clock may jump while a thread works."""
        return self.mock_clock is None


@asynccontextmanager
async def open_base(
    settings: Settings,
    database: Path | None,
    *,
    clock: Clock | None = None,
    mock_clock: MockClock | None = None,
) -> AsyncIterator[Base]:
    """Open the store of a server, and make what its features share."""
    clock = Clock.real(settings.server.clock_step_s) if clock is None else clock
    metrics = Metrics()
    metrics.objectives.use(settings.objectives)
    inline = mock_clock is not None or settings.store.runner == "inline"
    runner: Runner = InlineRunner() if inline else ThreadRunner()

    url = settings.store.url.get_secret_value()
    if url and database is not None:
        database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    def count_commit(batch: Batch) -> None:
        metrics.store.count_commit(batch.seconds, batch.writes)

    async with open_store(
        database,
        runner=runner,
        busy_timeout_s=settings.store.busy_timeout_s,
        checkpoint_pages=settings.store.checkpoint_pages,
        reserve=mock_clock is None,
        max_pending=settings.store.max_pending,
        max_batch=settings.store.max_batch,
        machine=clock.machine_time,
        observer=count_commit,
        url=url,
        connect_timeout_s=settings.store.connect_timeout_s,
        several=settings.node.is_set,
        lease_s=settings.node.lease_s if settings.node.is_set else None,
        migrating=_log_migration,
    ) as store:
        directory = None if database is None else database.parent
        is_real = mock_clock is None
        wake_others: Callable[[], None] | None = None
        if store.bell is not None:
            wake_others = store.bell.ring_soon
        elif directory is not None:
            wake_others = OtherDispatchers(directory).wake
        dispatcher = Dispatcher(
            store.jobs,
            clock,
            settings,
            metrics,
            threads=is_real,
            wake_others=wake_others,
        )
        loop_lag = LoopLag(metrics.actors.loop_lag)
        alarm = Alarm(
            dispatcher.watch,
            clock,
            settings,
            metrics,
            alerts=store.alerts,
            enqueued=dispatcher.wake,
            loop_lag_s=lambda: loop_lag.p99_s,
            free_share=partial(free_share_of, directory) if directory and is_real else None,
            lost_files=store.lost_files,
            is_restless=is_real,
        )
        yield Base(
            settings=settings,
            clock=clock,
            metrics=metrics,
            store=store,
            dispatcher=dispatcher,
            loop_lag=loop_lag,
            alarm=alarm,
            supervisor=Supervisor(clock, settings.supervisor, metrics, failed=alarm.wake),
            directory=directory,
            mock_clock=mock_clock,
        )


def _log_migration(version: int, name: str) -> None:
    """Say why the server is not ready yet: on a large database a migration takes a while."""
    _log.info("migrating", schema=version, migration=name)
