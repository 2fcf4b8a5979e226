"""Several nodes over one PostgreSQL, in one process: servers on real ports and the real clock."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import trio

from yoked_actor.app.server import Server, open_server
from yoked_actor.client import Api, Client, open_client
from yoked_actor.domain.ops import Role
from yoked_actor.edge.auth import Tokens
from yoked_actor.settings import load_settings
from yoked_actor.testing.profiles import make_profile

SECRET = "a secret of thirty-two bytes or more"
PATIENCE_S = 20.0


class Node:
    """One of the servers."""

    def __init__(self, name: str, url: str, server: Server, leave: trio.Event) -> None:
        self.name = name
        self.url = url
        self.server = server
        self.stop = leave.set

    @property
    def owned(self) -> set[str]:
        """The rooms that it serves."""
        return self.server.live.rooms.owned()

    def value(self, name: str, **labels: str) -> float | None:
        """A metric."""
        return self.server.base.metrics.registry.get_sample_value(name, labels)


class Nodes:
    """The servers, and their clients."""

    def __init__(
        self, url: str, nursery: trio.Nursery, visits: AsyncExitStack, settings: dict[str, Any]
    ) -> None:
        self._url = url
        self._nursery = nursery
        self._settings = settings
        self._tokens = Tokens("HS256", SECRET)
        self._visits = visits

    async def start(self, name: str) -> Node:
        """Start a node."""
        node: Node = await self._nursery.start(self._serve, name)
        return node

    async def _serve(self, name: str, task_status: trio.TaskStatus[Node]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            mine = {"id": name, "url": url, "lease_s": 1.5, **self._settings.get("node", {})}
            given = {**self._settings, "store": {"url": self._url}, "node": mine}
            leave = trio.Event()
            async with open_server(
                load_settings(None, {}, given), self._tokens, database=None, listeners=[listener]
            ) as server:
                task_status.started(Node(name, url, server, leave))
                await leave.wait()

    def token(self, node: Node, user_id: str, role: Role | None = None) -> str:
        """A token of a user, or of an operator."""
        return self._tokens.sign(user_id, node.server.base.clock.now(), 3600, role=role)

    def api(self, node: Node, user_id: str, role: Role | None = None) -> Api:
        """The HTTP client of a user."""
        return Api(node.url, self.token(node, user_id, role))

    async def join(
        self, node: Node, user_id: str, room: str | None = None, **profile: Any
    ) -> Client:
        """Store a profile, and connect."""
        await self.api(node, user_id).save_profile(make_profile(user_id.capitalize(), **profile))
        return await self.connect(node, user_id, room)

    async def connect(self, node: Node, user_id: str, room: str | None = None) -> Client:
        """Connect a user who has a profile."""
        visit = open_client(node.url, self.token(node, user_id), room=room)
        return await self._visits.enter_async_context(visit)


@asynccontextmanager
async def open_nodes(url: str, **settings: Any) -> AsyncIterator[Nodes]:
    """Nodes that are killed at the end."""
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            async with AsyncExitStack() as visits:
                yield Nodes(url, nursery, visits, settings)
            nursery.cancel_scope.cancel()


async def start_pair(nodes: Nodes) -> tuple[Node, Node]:
    """Two nodes that serve one room each: `main`, and another one."""
    first, second = await nodes.start("a"), await nodes.start("b")
    await until(lambda: len(first.owned) == len(second.owned) == 1)
    return (first, second) if "main" in first.owned else (second, first)


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    with trio.fail_after(PATIENCE_S):
        while True:
            if condition():
                return
            await trio.sleep(0.02)
