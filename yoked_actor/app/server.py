"""The server: its features, opened in order and closed in reverse.

An error in one connection ends that connection. An error in a side actor is logged, and the
supervisor starts the actor again. An error in a core actor (the matchmaker, the sessions, the front
door) ends the server, because its state can no longer be trusted.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import msgspec
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.offers import Calendar, OfferDelivery
from yoked_actor.app.base import Base, open_base
from yoked_actor.app.edge import Edge, open_edge
from yoked_actor.app.jobs import open_jobs
from yoked_actor.app.lobby import Live, open_lobby
from yoked_actor.app.nodes import open_nodes
from yoked_actor.app.offers import open_calendar, open_delivery
from yoked_actor.app.ops import open_ops
from yoked_actor.app.people import People, open_people
from yoked_actor.edge.auth import Tokens
from yoked_actor.settings import Settings

if TYPE_CHECKING:
    from trio.testing import MockClock


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A running server."""

    base: Base
    live: Live
    calendar: Calendar
    delivery: OfferDelivery
    people: People
    edge: Edge
    stop: trio.Event
    """Set when the server is to end; the block of `open_server` has to be left then."""

    def drain(self) -> None:
        """Refuse new sockets and spins, make no more matches, and tell users who are in none."""
        self.edge.front_door.drain()
        self.live.drain.begin()

    def settings_changed(self) -> None:
        """Pass on reloaded settings to the parts that do not read them at each use."""
        edge = self.base.settings.edge
        self.edge.front_door.admit_by(
            max_connections=edge.max_connections,
            connections_per_s=edge.connections_per_s,
            burst=edge.connections_burst,
        )
        self.base.alarm.wake()
        for reloaded in self.base.on_reload:
            reloaded()

    def hurry(self) -> None:
        """End the drain at once."""
        self.live.drain.hurry()
        self.edge.front_door.hurry()


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
    worker_command: Sequence[str] | None = None,
) -> AsyncIterator[Server]:
    """Start the server, and shut it down cleanly on exit. `database` None keeps all in memory.

    `worker_command` starts a worker process; without it there is none.
    """
    stop = trio.Event() if stop is None else stop
    async with (
        open_base(settings, database, clock=clock, mock_clock=mock_clock) as base,
        open_ops(base),
        open_calendar(base) as calendar,
        open_lobby(base, calendar) as live,
        open_nodes(base, live) as directory,
        open_delivery(base, live, worker_command=worker_command, stop=stop) as delivery,
        open_people(base, live) as people,
        open_jobs(base, delivery, webhook_transport=webhook_transport),
        open_edge(
            base,
            live,
            delivery,
            tokens,
            calendar=calendar,
            people=people,
            listeners=listeners,
            ssl_context=ssl_context,
            stop=stop.set,
            dev=dev,
            directory=directory,
        ) as edge,
    ):
        yield Server(
            base=base,
            live=live,
            calendar=calendar,
            delivery=delivery,
            people=people,
            edge=edge,
            stop=stop,
        )
