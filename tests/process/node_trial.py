"""Several nodes over one PostgreSQL, killed and stopped while bots meet in several rooms.

Bots are the witnesses of what they were told. Probes connect to every room again and again, through
nodes that run, and measure how long a room was not served.
"""

from __future__ import annotations

import re
import signal
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import trio

from tests.process.server import PATIENCE_S, ServerProcess, free_port
from tests.process.witnesses import Account, Books, Witness, somebody
from yoked_actor.bots import Bot, Pace
from yoked_actor.bots.valve import Valve
from yoked_actor.client import Api, CallRefused, ConnectionLost, open_client

SECRET = "0123456789abcdef0123456789abcdef"
PROBE_EVERY_S = 0.25
PROBE_S = 2.0
NAMES = "abcdefgh"
# Slow: two users meet once, and there must be pairs left at the end.
CALM = Pace(
    acknowledge_s=(0.0, 0.5),
    vote_s=(0.5, 3.0),
    date_s=(0.5, 1.5),
    rest_s=(0.1, 1.0),
    patience_s=(600, 600),
)


class PostgresBooks(Books):
    """What PostgreSQL has stored."""

    def __init__(self, url: str) -> None:
        self.integrity = "ok"
        with psycopg.connect(url) as books:
            self.matches = {
                f"m{number}": row
                for number, *row in books.execute(
                    "SELECT number, a, b, a_vote, b_vote, outcome, ended_at FROM matches"
                )
            }
            self.seats = {
                user_id: row
                for user_id, *row in books.execute(
                    "SELECT user_id, state, waiting_since, match_number FROM seats"
                )
            }
            self.rooms: dict[str, int] = dict(
                books.execute("SELECT room, count(*) FROM matches GROUP BY room")
            )
            self.epochs: dict[str, int] = dict(books.execute("SELECT room, epoch FROM room_leases"))

    def disagreements(self, accounts: dict[str, Account]) -> list[str]:
        """Matches that only one of the two names, and outcomes on which the two differ."""
        found = []
        for user_id, account in accounts.items():
            for match_id, partner in account.partners.items():
                other = accounts.get(partner)
                if other is None or match_id not in other.partners:
                    continue
                if other.partners[match_id] != user_id:
                    found.append(f"{match_id}: {user_id} names {partner}, who names another")
                told, theirs = account.outcomes.get(match_id), other.outcomes.get(match_id)
                if told is not None and theirs is not None and told != theirs:
                    found.append(f"{match_id}: {user_id} was told {told}, {partner} {theirs}")
        return found


class Trial:
    """Nodes, rooms, bots and probes."""

    def __init__(
        self,
        url: str,
        directory: Path,
        *,
        nodes: int,
        rooms: int,
        bots: int,
        lease_s: float,
        pace: Pace = CALM,
    ) -> None:
        self.url = url
        self.pace = pace
        self.lease_s = lease_s
        self.rooms = ["main", *(f"room{number}" for number in range(1, rooms))]
        self.bots = bots
        self.witness = Witness()
        self.served: dict[str, list[float]] = {room: [] for room in self.rooms}
        """When a probe was welcomed in each room."""
        self.missed: list[tuple[str, float, str]] = []
        """Probes that were not welcomed: the room, when, and why."""
        self.faults: list[tuple[str, str, float]] = []
        """What was done to which node, and when."""
        self.fault_times: list[tuple[str, datetime]] = []
        """Which node was killed or stopped, and at what time of the day."""
        self._away: set[ServerProcess] = set()
        self._refused: dict[ServerProcess, tuple[int, float]] = {}
        config = directory / "rooms.toml"
        config.write_text("".join(f'[rooms.{r}]\nname = "{r}"\n' for r in self.rooms[1:]))
        ports = [free_port()]
        while len(ports) < nodes:
            ports.append(free_port(ports[-1] + 1))
        self.nodes = [
            ServerProcess(
                directory / name,
                *("--config", str(config)),
                store__url=url,
                node__id=name,
                node__lease_s=lease_s,
                auth__secret=SECRET,
                matching__liveness_s=30.0,
                port=port,
            )
            for name, port in zip(NAMES, ports, strict=False)
        ]
        for node in self.nodes:
            node.url = f"http://127.0.0.1:{node.port}"
            node.set(node__url=node.url)

    # Nodes

    def start(self) -> None:
        for node in self.nodes:
            node.start()

    def close(self) -> None:
        for node in self.nodes:
            if node.is_running():
                node.signal(signal.SIGCONT)
                node.kill()

    def running(self) -> list[ServerProcess]:
        """The nodes that answer."""
        return [node for node in self.nodes if node.is_running() and node not in self._away]

    def urls(self, first: int = 0) -> list[str]:
        """The nodes that answer, beginning with one of them, then the others."""
        nodes = self.running() or self.nodes
        return [nodes[(first + place) % len(nodes)].url for place in range(len(nodes))]

    async def kill(self, node: ServerProcess) -> None:
        """kill -9, and start the node again after its rooms were taken over."""
        self._away.add(node)
        self._note("killed", node)
        node.kill()
        await trio.sleep(self.lease_s + 3)
        await trio.to_thread.run_sync(node.start)
        self._away.discard(node)

    async def stop_for(self, node: ServerProcess, seconds: float) -> None:
        """SIGSTOP, and SIGCONT after some time."""
        self._away.add(node)
        self._note("stopped", node)
        node.signal(signal.SIGSTOP)
        await trio.sleep(seconds)
        node.signal(signal.SIGCONT)
        self._note("continued", node)
        self._away.discard(node)

    async def leave(self, node: ServerProcess) -> int:
        """SIGTERM; returns the exit code."""
        self._away.add(node)
        self._note("left", node)
        return await trio.to_thread.run_sync(node.stop)

    def owner_of(self, room: str) -> ServerProcess:
        """The node that has the lease of a room."""
        with psycopg.connect(self.url) as books:
            [(name,)] = books.execute("SELECT node FROM room_leases WHERE room = %s", [room])
        return next(node for node in self.nodes if node.data_dir.name == name)

    def takeovers_s(self) -> list[float]:
        """How long after each kill and stop the last room of the node was served again.

        Nodes say in their logs when they serve a room; rooms that were being handed over count.
        """
        served = sorted(
            (datetime.fromisoformat(line["at"]), node.data_dir.name, line["room"])
            for node in self.nodes
            for line in node.log_lines()
            if line["event"] == "room_served"
        )
        found = []
        for name, failed_at in self.fault_times:
            owners = {room: node for at, node, room in served if at <= failed_at}
            waits = [
                next(((at - failed_at).total_seconds() for at in again), float("inf"))
                for room, node in owners.items()
                if node == name
                for again in [[at for at, _, one in served if one == room and at > failed_at]]
            ]
            found.append(round(max(waits, default=0.0), 2))
        return found

    def _note(self, what: str, node: ServerProcess) -> None:
        self.faults.append((what, node.data_dir.name, trio.current_time()))
        if what in ("killed", "stopped"):
            self.fault_times.append((node.data_dir.name, datetime.now(UTC)))

    def metric(self, node: ServerProcess, name: str) -> float:
        """A metric of a node, summed over its labels."""
        with urllib.request.urlopen(f"{node.url}/metrics", timeout=30) as answer:
            text = answer.read().decode()
        found = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return sum(map(float, found))

    def take_refused(self, node: ServerProcess) -> float:
        """How many late writes of a node were refused since the last call."""
        count = self.metric(node, "yoked_node_refused_writes_total")
        before = self._refused.get(node, (0, 0.0))
        self._refused[node] = (node.starts, count)
        return count - before[1] if before[0] == node.starts else count

    # Users

    async def run(self, play: Callable[[], Any]) -> None:
        """Let bots meet and probes knock while `play` runs."""
        async with trio.open_nursery() as nursery:
            for number in range(self.bots):
                nursery.start_soon(self._mingle, number)
            for place, room in enumerate(self.rooms):
                nursery.start_soon(self._probe, room, place)
            await play()
            nursery.cancel_scope.cancel()

    async def all_served(self) -> None:
        """Wait until every room has welcomed a probe and most bots are there."""
        await _until(
            lambda: all(self.served.values()) and len(self.witness.bots) >= 0.9 * self.bots
        )

    async def matches_more(self, count: int) -> None:
        """Wait for so many more matches."""
        wanted = len(self.told()) + count
        await _until(lambda: len(self.told()) >= wanted)

    async def moved_from(self, node: ServerProcess, room: str) -> None:
        """Wait until another node has the lease of a room."""
        await _until(lambda: self.owner_of(room) is not node)

    def told(self) -> set[str]:
        """The matches that were told to somebody."""
        return {m for account in self.witness.accounts.values() for m in account.partners}

    def outages_s(self) -> dict[str, float]:
        """The longest time between two welcomes of a probe, by room."""
        return {
            room: round(max(b - a for a, b in pairwise(at)), 2) for room, at in self.served.items()
        }

    async def _mingle(self, number: int) -> None:
        user_id, room = f"bot{number}", self.rooms[number % len(self.rooms)]
        random = Random(user_id)
        while True:
            try:
                await self._visit(user_id, room, random, number)
            except* (ConnectionLost, OSError, trio.BrokenResourceError, CallRefused) as lost:
                self.witness.failed("lost", f"{user_id}: {lost.exceptions[0]!r}")
            await trio.sleep(1)

    async def _visit(self, user_id: str, room: str, random: Random, number: int) -> None:
        first, *others = self.urls(number)
        token = await Api(first, others=others).login(user_id, somebody(random))
        async with open_client(first, token, others=others, room=room) as client:
            bot = Bot(user_id, client, random, self.witness, self.pace, Valve())
            with self.witness.present(bot):
                await bot.mingle(lambda partner: random.choice(["yes", "pass", "pass"]))

    async def _probe(self, room: str, place: int) -> None:
        user_id, token = f"probe-{room}", ""
        while True:
            first, *others = self.urls(place)
            began = trio.current_time()
            with trio.move_on_after(PROBE_S) as trying:
                try:
                    if not token:
                        api = Api(first, others=others)
                        token = await api.login(user_id, somebody(Random(user_id)))
                    async with open_client(first, token, room=room):
                        self.served[room].append(trio.current_time())
                except* (ConnectionLost, OSError, trio.BrokenResourceError, CallRefused) as lost:
                    self.missed.append((room, began, repr(lost.exceptions[0])))
            if trying.cancelled_caught:
                self.missed.append((room, began, f"no welcome from {first} in time"))
            await trio.sleep(PROBE_EVERY_S)


async def _until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(PATIENCE_S):
        while True:
            if condition():
                return
            await trio.sleep(0.05)


@contextmanager
def open_trial(url: str, directory: Path, **size: Any) -> Iterator[Trial]:
    """A trial whose nodes run; they are killed at the end."""
    with ExitStack() as stack:
        trial = Trial(url, directory, **size)
        stack.callback(trial.close)
        trial.start()
        yield trial
