"""The composition root: what the house is made of, and in which order it is lit and left.

Lit from the ground up: the store (which holds the data directory), the lobby with what an earlier
process left in it, the matchmaker and the sessions, and last the front door. Left from the top
down: matches in which votes are in flight are waited for, clients are told and hung up on, the
front door closes, jobs end or are given back, the matchmaker stops, the store finishes what it was
asked for.

An error in one connection ends that connection. One in a side actor is the supervisor's: it starts
the actor again, and people meet all the while. One in a core actor (the matchmaker, the sessions,
the front door) ends the server, because nothing it says could be trusted any more.
"""

from __future__ import annotations

import math
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_bytes

import httpx
import msgspec
import structlog
import trio
from quart_trio import QuartTrio
from trio.testing import MockClock

from yoked_actor.actors.clock import CHECK_EVERY_S, Clock
from yoked_actor.actors.jobs import (
    Dispatcher,
    listen_for_wakeups,
    prune_job,
    register_upkeep,
    wake_other_processes,
)
from yoked_actor.actors.lobby import Drain, Matchmaker, Sessions
from yoked_actor.actors.offers import Calendar, OfferDesk, OfferJobs
from yoked_actor.actors.ops import Alarm, LoopLag, free_share_of
from yoked_actor.actors.people import Care, prune_store_job, register_care
from yoked_actor.actors.supervisor import Actor, Supervisor
from yoked_actor.domain.lobby import Lobby, SettledView
from yoked_actor.domain.people import Person, ShownPlaces
from yoked_actor.domain.time import Instant
from yoked_actor.edge.auth import Tokens
from yoked_actor.edge.front_door import FrontDoor
from yoked_actor.edge.http import Doors, StatusBoard, add_all_calls, create_app
from yoked_actor.edge.net import EdgeMetrics, Origins, edge_limits, without_wire_timeouts
from yoked_actor.edge.outgoing import Webhook
from yoked_actor.edge.ws import Conversations
from yoked_actor.settings import Settings
from yoked_actor.store import (
    Batch,
    InlineRunner,
    Runner,
    SqliteStore,
    ThreadRunner,
    enqueue_in,
    open_store,
)
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()

DATABASE = "yoked.db"


class Server(msgspec.Struct):
    """A running server, for those who started it."""

    settings: Settings
    clock: Clock
    store: SqliteStore
    lobby: Lobby
    view: SettledView
    matchmaker: Matchmaker
    sessions: Sessions
    dispatcher: Dispatcher
    calendar: Calendar
    desk: OfferDesk
    board: StatusBoard
    alarm: Alarm
    supervisor: Supervisor
    conversations: Conversations
    care: Care
    front_door: FrontDoor
    tokens: Tokens
    metrics: Metrics
    app: QuartTrio
    leave: Drain
    stop: trio.Event
    """Set when somebody wants the server to end; whoever started it leaves its block then."""

    def drain(self) -> None:
        """Refuse new sockets and spins, pair nobody, and tell whoever is not in a match."""
        self.front_door.drain()
        self.leave.begin()

    def settings_changed(self) -> None:
        """Hand on what was reloaded to those who do not read it each time."""
        edge = self.settings.edge
        self.front_door.admit_by(
            max_connections=edge.max_connections,
            connections_per_s=edge.connections_per_s,
            burst=edge.connections_burst,
        )
        self.alarm.wake()

    def hurry(self) -> None:
        """Wait for nobody any more."""
        self.leave.hurry()
        self.front_door.hurry()


@asynccontextmanager
async def open_server(
    settings: Settings,
    tokens: Tokens,
    *,
    database: Path | None,
    clock: Clock | None = None,
    mock_clock: MockClock | None = None,
    listeners: Sequence[socket.socket] = (),
    ssl_context: ssl.SSLContext | None = None,
    webhook_transport: httpx.AsyncBaseTransport | None = None,
    stop: trio.Event | None = None,
    dev: bool = False,
) -> AsyncIterator[Server]:
    """Light the house, and leave it in good order. `database` None keeps everything in memory.

    `stop` is set when an operator asks for a drain; the block has to be left then.
    """
    stop = trio.Event() if stop is None else stop
    clock = Clock.real(settings.server.clock_step_s) if clock is None else clock
    metrics = Metrics()
    metrics.objectives.use(settings.objectives)
    # A mock clock may jump while a thread works, so there the store works on this thread.
    inline = mock_clock is not None or settings.store.runner == "inline"
    runner: Runner = InlineRunner() if inline else ThreadRunner()
    async with open_store(
        database,
        runner=runner,
        busy_timeout_s=settings.store.busy_timeout_s,
        checkpoint_pages=settings.store.checkpoint_pages,
        max_pending=settings.store.max_pending,
        max_batch=settings.store.max_batch,
        machine=clock.machine_time,
        observer=_commit_observer(metrics),
    ) as store:
        recovered = await store.recover()
        # With a mock clock every run is the same, so nothing may be random.
        made = sha256(b"mock").digest() if mock_clock is not None else token_bytes(32)
        secret = await store.secret("shown_places", made)
        places = ShownPlaces(secret, settings.matching.shown_place_every_s)
        lobby = Lobby(settings.rules(), recovered.next_number, places)
        lobby.restore(recovered.users, recovered.matches, recovered.dates, clock.now())
        _log.info(
            "recovered",
            boot=recovered.boot,
            users=len(recovered.users),
            matches=len(recovered.matches),
            dates=len(recovered.dates),
        )
        view = SettledView(lobby.floor)
        sessions = Sessions(clock, store, metrics, settings, recovered.boot)
        matchmaker = Matchmaker(
            lobby,
            store,
            clock,
            sessions,
            metrics,
            settings,
            stored_people=lambda people, now: _tell_calendar(calendar, people, now),
            alert=lambda: alarm.wake(),
        )
        desk = OfferDesk(
            *(store, sessions, clock, settings, metrics),
            is_online=view.is_online,
            places=places,
        )
        sessions.use(matchmaker.mailbox, desk)
        for known in recovered.users:
            sessions.adopt(known.user_id)
        directory = None if database is None else database.parent
        dispatcher = Dispatcher(
            store.jobs,
            clock,
            settings,
            metrics,
            threads=mock_clock is None,
            wake_others=None if directory is None else lambda: wake_other_processes(directory),
        )
        register_upkeep(dispatcher, store.jobs, clock, settings.jobs)
        OfferJobs(
            store.offers,
            store.jobs,
            clock,
            settings,
            metrics,
            threads=mock_clock is None,
            stored=desk.wake,
        ).register(dispatcher)
        Webhook(settings.alerts, store.jobs, clock, webhook_transport).register(dispatcher)
        care = Care(sessions, store, clock, settings.store)
        register_care(dispatcher, care, store, clock, settings.privacy)
        calendar = Calendar(
            store.calendar,
            clock,
            settings,
            enqueue_in,
            at=settings.offers.time_of_day(),
            metrics=metrics.calendar,
            then=lambda turn: dispatcher.wake(),
        )
        lag = LoopLag(metrics.loop_lag)
        is_real = mock_clock is None
        alarm = Alarm(
            dispatcher.watch,
            clock,
            settings,
            metrics,
            alerts=store.alerts,
            enqueued=dispatcher.wake,
            loop_lag_s=lambda: lag.p99_s,
            free_share=(lambda: free_share_of(directory)) if directory and is_real else None,
            lost_files=store.lost_files,
            is_restless=is_real,
        )
        supervisor = Supervisor(clock, settings.supervisor, metrics, failed=alarm.wake)
        metrics.expect(settings.matching.policy)
        metrics.watch(
            waiting=view.waiting,
            sessions=lambda: len(sessions),
            mailbox=lambda: len(matchmaker.mailbox),
            writes=lambda: store.pending_writes,
            ready=lambda: (
                not (sessions.context.draining or matchmaker.stalled or store.lost_files())
            ),
        )
        doors = Doors(
            settings,
            clock,
            sessions,
            store,
            tokens,
            metrics,
            desk,
            view,
            matchmaker,
            dispatcher,
            calendar,
            alarm,
            supervisor,
            is_stalled=lambda: matchmaker.stalled,
            dev=dev,
            mock_clock=mock_clock,
        )
        board = StatusBoard(doors)
        conversations = Conversations(sessions, tokens, clock, settings.edge, desk.wake, board)
        app = create_app(doors)
        add_all_calls(app, doors, care, store.calendar, stop.set)
        limits = edge_limits(settings.edge)
        if mock_clock is not None and listeners:
            limits = without_wire_timeouts(limits)
            app.config.update(BODY_TIMEOUT=None, RESPONSE_TIMEOUT=None)
        front_door = FrontDoor(
            app,
            conversations.hold,
            limits,
            origins=Origins(settings.edge.allowed_origins, local_only=dev),
            trusted_proxies=settings.edge.trusted_proxies,
            observer=EdgeMetrics(metrics),
            supervisor=supervisor,
        )
        server = Server(
            settings,
            clock,
            store,
            lobby,
            view,
            matchmaker,
            sessions,
            dispatcher,
            calendar,
            desk,
            board,
            alarm,
            supervisor,
            conversations,
            care,
            front_door,
            tokens,
            metrics,
            app,
            Drain(lobby, matchmaker, sessions, settings.server),
            stop,
        )

        def wake() -> None:
            # Another process may have enqueued or cancelled something, or stored somebody's offers.
            dispatcher.wake(from_other_process=True)
            desk.wake()

        async def enqueue_upkeep() -> None:
            now = clock.now()
            await dispatcher.enqueue([prune_job(now), prune_store_job(now)])

        check_every_s = CHECK_EVERY_S if is_real else math.inf
        side: dict[str, Actor] = {
            "clock": partial(clock.watch, metrics.clock.count, check_every_s),
            "suspensions": care.run,
            "hello_timeouts": conversations.run,
            "token_expiries": conversations.expiries.run,
            **({} if tokens.keys is None else {"keys": tokens.keys.run}),
            "dispatcher": dispatcher.run,
            "calendar": calendar.run,
            "desk": desk.run,
            "status_board": board.run,
            "alarm": alarm.run,
        }
        if mock_clock is None:
            side["loop_lag"] = lag.run
        if directory is not None:
            side["job_bell"] = partial(listen_for_wakeups, directory, wake)

        async with trio.open_nursery() as core:
            core.start_soon(matchmaker.run)
            core.start_soon(supervisor.run_core, "sessions", sessions.run)
            await core.start(supervisor.run_side, "upkeep", enqueue_upkeep)
            for name, actor in side.items():
                core.start_soon(supervisor.run_side, name, actor)
            # A user may have been suspended while no server ran: out before anybody comes in.
            await care.open()
            async with trio.open_nursery() as edge:
                await edge.start(_serve, supervisor, front_door, listeners, ssl_context)
                yield server
                server.drain()
                await server.leave.finish()
                board.drain(settings.server.reconnect_after_s)
                front_door.stop(settings.server.drain_s)
            await dispatcher.drain()
            core.cancel_scope.cancel()


def _tell_calendar(calendar: Calendar, people: Sequence[Person], now: Instant) -> None:
    for person in people:
        calendar.wake(person.time_zone, now)


async def _serve(
    supervisor: Supervisor,
    front_door: FrontDoor,
    listeners: Sequence[socket.socket],
    ssl_context: ssl.SSLContext | None,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    serve = partial(front_door.serve, listeners, ssl_context=ssl_context, task_status=task_status)
    await supervisor.run_core("front_door", serve)


def _commit_observer(metrics: Metrics) -> Callable[[Batch], None]:
    def observe(batch: Batch) -> None:
        metrics.count_commit(batch.seconds, batch.writes)

    return observe
