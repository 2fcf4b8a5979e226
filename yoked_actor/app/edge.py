"""Opens the edge: the HTTP calls, the conversations over WebSocket, the front door."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import partial

import msgspec
import trio
from quart_trio import QuartTrio

from yoked_actor.actors.nodes import Directory
from yoked_actor.actors.offers import Calendar, OfferDelivery
from yoked_actor.actors.ops import StatusBoard
from yoked_actor.app.base import Base
from yoked_actor.app.http_calls import add_calls
from yoked_actor.app.lobby import Live
from yoked_actor.app.people import People
from yoked_actor.edge.auth import Tokens
from yoked_actor.edge.front_door import FrontDoor
from yoked_actor.edge.http import Api, create_app
from yoked_actor.edge.net import EdgeMetrics, Origins, edge_limits, without_wire_timeouts
from yoked_actor.edge.ws import Conversations


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """The open edge."""

    tokens: Tokens
    app: QuartTrio
    board: StatusBoard
    conversations: Conversations
    front_door: FrontDoor


@asynccontextmanager
async def open_edge(
    base: Base,
    live: Live,
    delivery: OfferDelivery,
    tokens: Tokens,
    *,
    calendar: Calendar,
    people: People,
    listeners: Sequence[socket.socket] = (),
    ssl_context: ssl.SSLContext | None = None,
    stop: Callable[[], None],
    dev: bool = False,
    directory: Directory | None = None,
) -> AsyncIterator[Edge]:
    """Serve clients until the block is left; then drain, notify clients, and close connections.

    `stop` is called when an operator asks for a drain.
    """
    settings, clock, supervisor = base.settings, base.clock, base.supervisor
    board = StatusBoard(
        settings.console,
        clock,
        base.store,
        base.metrics,
        view=live.view,
        sessions=live.sessions,
        rooms=live.rooms,
        alarm=base.alarm,
        supervisor=supervisor,
        directory=directory,
    )

    def arrived(user_ids: Iterable[str]) -> None:
        delivery.wake(user_ids)
        people.warnings.wake(user_ids)
        live.timekeeper.welcome(user_ids)

    conversations = Conversations(live.sessions, tokens, clock, settings.edge, arrived, board)
    nodes: Collection[str] = frozenset() if directory is None else directory.urls
    app = create_app(settings.edge, dev=dev, nodes=nodes)
    api = Api(
        settings=settings,
        clock=clock,
        store=base.store,
        sessions=live.sessions,
        tokens=tokens,
        dev=dev,
        directory=directory,
    )
    add_calls(app, api, base, live, calendar=calendar, people=people, stop=stop)
    limits = edge_limits(settings.edge)
    if base.mock_clock is not None and listeners:
        limits = without_wire_timeouts(limits)
        app.config.update(BODY_TIMEOUT=None, RESPONSE_TIMEOUT=None)
    front_door = FrontDoor(
        app,
        conversations.begin,
        limits,
        origins=Origins(settings.edge.allowed_origins, local_only=dev, nodes=nodes),
        trusted_proxies=settings.edge.trusted_proxies,
        observer=EdgeMetrics(base.metrics),
        supervisor=supervisor,
    )
    edge = Edge(
        tokens=tokens, app=app, board=board, conversations=conversations, front_door=front_door
    )
    async with trio.open_nursery() as beside:
        beside.start_soon(supervisor.run_side, "hello_timeouts", conversations.run)
        beside.start_soon(supervisor.run_side, "token_expiries", conversations.expiries.run)
        beside.start_soon(supervisor.run_side, "status_board", board.run)
        if tokens.keys is not None:
            beside.start_soon(supervisor.run_side, "keys", tokens.keys.run)
        async with trio.open_nursery() as serving:
            await serving.start(_serve, base, front_door, listeners, ssl_context)
            yield edge
            front_door.drain()
            live.drain.begin()
            await live.drain.finish()
            board.drain(settings.server.reconnect_after_s)
            front_door.stop(settings.server.drain_s)
        beside.cancel_scope.cancel()


async def _serve(
    base: Base,
    front_door: FrontDoor,
    listeners: Sequence[socket.socket],
    ssl_context: ssl.SSLContext | None,
    *,
    task_status: trio.TaskStatus[None],
) -> None:
    serve = partial(front_door.serve, listeners, ssl_context=ssl_context, task_status=task_status)
    await base.supervisor.run_core("front_door", serve)
