"""A world: one server in memory, and its clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import trio
from trio.testing import MockClock, memory_stream_pair

from yoked_actor.actors.clock import Clock
from yoked_actor.app.server import Server, open_server
from yoked_actor.client import Api, Client, Dial, open_client
from yoked_actor.domain.lobby import audit_floor
from yoked_actor.domain.ops import Role
from yoked_actor.domain.time import MICROSECONDS, Instant, from_datetime
from yoked_actor.edge.auth import Tokens
from yoked_actor.settings import Settings, load_settings
from yoked_actor.testing.determinism import schedule_by_seed
from yoked_actor.testing.profiles import make_profile

START = "2026-01-01T08:00:00Z"
URL = "http://world.test"
_SECRET = "a secret that everybody in the world of tests knows"


class FakeWall:
    """A wall clock that can be set. It runs with trio's clock."""

    def __init__(self, start_at: Instant) -> None:
        self._start_at = start_at
        self._trio_start = trio.current_time()

    def read(self) -> Instant:
        """The present instant of this clock."""
        return self._start_at + round((trio.current_time() - self._trio_start) * MICROSECONDS)

    def step(self, seconds: float) -> None:
        """Set it forward, or back when negative."""
        self._start_at += round(seconds * MICROSECONDS)


class World:
    """A server that can be crashed and restarted, and its clients. Made by `open_world`."""

    def __init__(
        self,
        settings: Settings,
        database: Path | None,
        clock: Clock,
        mock: MockClock,
        wall: FakeWall,
        webhook_transport: httpx.AsyncBaseTransport | None = None,
        tokens: Tokens | None = None,
    ) -> None:
        self._wall = wall
        self._settings = settings
        self._database = database
        self._clock = clock
        self._mock = mock
        self._webhook_transport = webhook_transport
        self._tokens = tokens or Tokens(
            "HS256",
            _SECRET,
            leeway_s=settings.auth.leeway_s,
            issuer=settings.auth.issuer,
            audience=settings.auth.audience,
        )
        self._server: Server | None = None
        self._serving = trio.CancelScope()
        self._stopped = trio.Event()
        self._dialled = 0
        self._nursery: trio.Nursery | None = None
        self._visitors: trio.Nursery | None = None
        self._over = trio.Event()

    @property
    def server(self) -> Server:
        """The server that runs now."""
        if self._server is None:
            raise RuntimeError("the server is not running")
        return self._server

    def now(self) -> Instant:
        """The present instant."""
        return self._clock.now()

    def step_clock(self, seconds: float) -> None:
        """Set the system's clock forward, or back when negative, while no time passes.

        A machine that resumes after it was suspended sees such a step forward.
        """
        self._wall.step(seconds)
        self._clock.check()

    # Clients

    async def join(self, user_id: str, **profile: Any) -> Client:
        """Log a user in with a profile (see `make_profile`), and connect.

        `room` and `code` are those of `connect`.
        """
        room, code = profile.pop("room", None), profile.pop("code", None)
        await self.sign_up(user_id, **profile)
        return await self.connect(user_id, room=room, code=code)

    async def sign_up(self, user_id: str, **profile: Any) -> Api:
        """Log a user in with a profile, and return their HTTP client."""
        api = Api(URL, dial=self.dial())
        await api.login(user_id, make_profile(user_id.capitalize(), **profile))
        return api

    async def connect(
        self, user_id: str, *, room: str | None = None, code: str | None = None
    ) -> Client:
        """Connect a user who has signed up; a second connection is a second device."""
        assert self._visitors is not None
        client: Client = await self._visitors.start(self._visit, user_id, room, code)
        return client

    def api(self, user_id: str) -> Api:
        """The HTTP client of a user who has signed up."""
        return Api(URL, self.token(user_id), dial=self.dial())

    def token(
        self,
        user_id: str,
        *,
        ttl_s: float = 86_400.0,
        admin: bool = False,
        role: Role | None = None,
    ) -> str:
        """A token of a user, or of an operator."""
        return self._tokens.sign(user_id, self.now(), ttl_s, admin=admin, role=role)

    def dial(self) -> Dial:
        """A way to open streams to the server; fails while it is down."""

        async def open_stream() -> trio.abc.Stream:
            await trio.lowlevel.checkpoint()
            if self._server is None or self._nursery is None:
                raise ConnectionRefusedError("the server is not running")
            self._dialled += 1
            ours, theirs = memory_stream_pair()
            peer = ("127.0.0.1", 10_000 + self._dialled % 50_000)
            self._nursery.start_soon(self._server.edge.front_door.serve_stream, theirs, peer)
            return ours

        return open_stream

    # The server

    async def start(self) -> None:
        """Start the server."""
        assert self._nursery is not None
        await self._nursery.start(self._serve)

    async def crash(self) -> None:
        """Stop the server at once, without a drain."""
        self._serving.cancel()
        await self._stopped.wait()

    async def stop(self) -> None:
        """Drain and stop the server, as a signal does."""
        self.server.stop.set()
        await self.stopped()

    async def stopped(self) -> None:
        """Wait until the server has stopped."""
        await self._stopped.wait()

    def audit(self) -> list[str]:
        """The invariants of the lobbies of all rooms that are broken."""
        floors = self.server.live.rooms.floors.values()
        return [found for floor in floors for found in audit_floor(floor, self.now())]

    async def _serve(self, *, task_status: trio.TaskStatus[None]) -> None:
        self._stopped = trio.Event()
        with trio.CancelScope() as self._serving:
            try:
                async with open_server(
                    self._settings,
                    self._tokens,
                    database=self._database,
                    clock=self._clock,
                    mock_clock=self._mock,
                    webhook_transport=self._webhook_transport,
                    dev=True,
                ) as self._server:
                    task_status.started()
                    await self._server.stop.wait()
            finally:
                self._server = None
                self._stopped.set()

    async def _visit(
        self,
        user_id: str,
        room: str | None,
        code: str | None,
        *,
        task_status: trio.TaskStatus[Client],
    ) -> None:
        # In a task of its own, so that `connect` can be called from any task and cancel scope.
        async def token() -> str:
            return self.token(user_id)

        async with open_client(URL, token, dial=self.dial(), room=room, code=code) as client:
            task_status.started(client)
            await self._over.wait()

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[World]:
        async with trio.open_nursery() as self._nursery:
            await self.start()
            async with trio.open_nursery() as self._visitors:
                yield self
                self._over.set()
            self._nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_world(
    *,
    seed: int = 0,
    settings: Mapping[str, Mapping[str, object]] | None = None,
    database: Path | None = None,
    start: str = START,
    webhook_transport: httpx.AsyncBaseTransport | None = None,
    tokens: Tokens | None = None,
) -> AsyncIterator[World]:
    """Open a world on the mock clock that trio runs on.

    `settings` are those of the configuration, by section; the auditor is strict unless they say
    otherwise. With `database` a file is used, and the world can be crashed and started again.
    `webhook_transport` carries the calls of the webhook. `tokens` checks tokens instead of the
    world's own.
    """
    mock = trio.lowlevel.current_clock()
    if not isinstance(mock, MockClock):
        raise RuntimeError(
            "a world needs a mock clock: take pytest-trio's autojump_clock fixture, or start with"
            " yoked_actor.testing.run"
        )
    schedule_by_seed(seed)
    given = {section: dict(values) for section, values in (settings or {}).items()}
    given.setdefault("matchmaker", {}).setdefault("audit", "raise")
    wall = FakeWall(from_datetime(datetime.fromisoformat(start)))
    loaded = load_settings(None, {}, given)
    clock = Clock(wall.read(), wall=wall.read, tolerance_s=loaded.server.clock_step_s)
    world = World(loaded, database, clock, mock, wall, webhook_transport, tokens)
    failed: BaseException | None = None
    try:
        async with world._open():
            try:
                yield world
            except BaseException as error:
                failed = error
                raise
    except BaseExceptionGroup as group:
        # Raise the error of a failed test itself, not a group.
        if failed is not None and _only_leaf(group) is failed:
            raise failed from failed.__cause__
        raise


def _only_leaf(error: BaseException) -> BaseException | None:
    """The only error inside nested groups, or None if there are several."""
    while isinstance(error, BaseExceptionGroup):
        if len(error.exceptions) > 1:
            return None
        error = error.exceptions[0]
    return error
