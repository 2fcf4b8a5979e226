"""What the clients do: repeat lifetimes at full load, spin by the clock, or stay idle.

A lifetime is one match from line to line: both have spun, both are matched, both acknowledge, both
vote, both receive the outcome. It counts when the second of the two has received it.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import msgspec

from scripts.benchmarks._load import Client, Crowd, Received
from scripts.benchmarks._process import Process

# Two who met never meet again. Beyond this share of all pairs the line is full of people who know
# each other, which is another benchmark: fresh users take over.
PAIRS_USED = 0.3
_WARM_UP_LIFETIMES = 300
_PATIENCE_S = 60.0


class Window(msgspec.Struct):
    """The counts between two readings of the server's CPU."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    lifetimes: int = 0
    commands: int = 0
    messages: int = 0
    events: int = 0

    def add(self, other: Window) -> None:
        """Add the counts of another window."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Cycling:
    """Clients that repeat lifetimes without a pause."""

    def __init__(self, mode: str) -> None:
        self.lifetimes = 0
        self._half_received: set[str] = set()
        self._vote = b'"yes"' if mode == "date" else b'"pass"'
        self._spins_again = mode == "spin"

    def have_lived(self, lifetimes: int) -> bool:
        """Whether so many lifetimes are complete."""
        return self.lifetimes >= lifetimes

    def handle(self, client: Client, received: Received) -> None:
        """React to a message."""
        kind = received.type
        if kind == "matched":
            client.command(b"acknowledge", b',"match_id":"%b"' % _ascii(received.match_id))
        elif kind == "voting":
            rest = b',"match_id":"%b","vote":%b' % (_ascii(received.match_id), self._vote)
            client.command(b"vote", rest)
        elif kind == "outcome":
            assert received.match_id is not None
            if received.match_id in self._half_received:
                self._half_received.discard(received.match_id)
                self.lifetimes += 1
            else:
                self._half_received.add(received.match_id)
            if self._spins_again:
                client.command(b"spin")
        elif kind == "date_started":
            if received.initiator:
                client.command(b"end_date", b',"date_id":"%b"' % _ascii(received.date_id))
        elif kind == "date_ended":
            client.command(b"spin")


def cycle(
    server: Process, user_ids: Sequence[str], clients: int, seconds: float, mode: str
) -> Iterator[Window]:
    """Run so many clients, in whole windows, for so long; each window has new users."""
    measured_s = 0.0
    enough = int(PAIRS_USED * (clients // 2) ** 2)
    for start in range(0, len(user_ids) - clients + 1, clients):
        cycling = Cycling(mode)
        crowd = Crowd(server.port)
        crew = crowd.connect(user_ids[start : start + clients], cycling.handle)
        for client in crew:
            client.command(b"spin")
        _run_until(crowd, partial(cycling.have_lived, _WARM_UP_LIFETIMES), _PATIENCE_S)
        before = _reading(server, crew, cycling)
        _run_until(crowd, partial(cycling.have_lived, enough), _PATIENCE_S)
        window = _difference(before, _reading(server, crew, cycling))
        crowd.leave()
        measured_s += window.seconds
        yield window
        if measured_s >= seconds:
            return
    raise SystemExit("more users are needed for so many seconds: raise --users")


def _run_until(crowd: Crowd, done: Callable[[], bool], patience_s: float) -> None:
    end = time.monotonic() + patience_s
    while not done() and time.monotonic() < end:
        crowd.step(0.1)


def _reading(server: Process, crew: Sequence[Client], cycling: Cycling) -> Window:
    return Window(
        time.monotonic(),
        server.cpu_s(),
        cycling.lifetimes,
        sum(client.commands for client in crew),
        sum(client.messages for client in crew),
        sum(client.events for client in crew),
    )


def _difference(before: Window, after: Window) -> Window:
    return Window(
        *(getattr(after, name) - getattr(before, name) for name in Window.__struct_fields__)
    )


class Pacing:
    """Clients that spin by the clock, independent of the server.

    Both vote yes, and the date is ended at once: so they are idle until their next turn. The time
    to `matched` is taken from the instant at which the later of the two was due to spin.
    """

    def __init__(self) -> None:
        self.idle: deque[Client] = deque()
        self.waits: list[tuple[float, float]] = []
        self.lifetimes = 0
        self._first: dict[str, Client] = {}
        self._told: dict[str, int] = {}

    def handle(self, client: Client, received: Received) -> None:
        """React to a message."""
        kind = received.type
        if kind == "matched":
            assert received.match_id is not None
            now = time.monotonic()
            client.matched_at = now
            other = self._first.pop(received.match_id, None)
            if other is None:
                self._first[received.match_id] = client
            else:
                later = max(client.spun_at, other.spun_at)
                self.waits += ((later, now), (later, other.matched_at))
            client.command(b"acknowledge", b',"match_id":"%b"' % _ascii(received.match_id))
        elif kind == "voting":
            client.command(b"vote", b',"match_id":"%b","vote":"yes"' % _ascii(received.match_id))
        elif kind == "date_started":
            if received.initiator:
                client.command(b"end_date", b',"date_id":"%b"' % _ascii(received.date_id))
        elif kind == "date_ended":
            self.lifetimes += 1
            self.idle.append(client)


def pace(
    server: Process,
    user_ids: Sequence[str],
    rate: float,
    seconds: float,
    seed: int,
    go_on: Callable[[], bool] = lambda: True,
) -> tuple[list[tuple[float, float]], float]:
    """Spin at a steady rate of lifetimes; the waits for `matched`, and the rate that came of it.

    A wait has two instants: that at which the later of the two was due, and that of `matched`.

    Women and men come in turn, each at an instant drawn from the seed within its slot, so that
    pairs are of people who came one shortly after the other. It ends before its time when `go_on`
    says so.
    """
    lots = random.Random(seed)
    crowd = Crowd(server.port)
    pacing = Pacing()
    sides = [deque[Client](), deque[Client]()]
    of_side = {}
    for client in crowd.connect(user_ids, pacing.handle):
        side = int(client.user_id.startswith("m"))
        of_side[client] = side
        sides[side].append(client)
    slot_s = 1 / (2 * rate)
    began = time.monotonic() + 0.1
    total = int(2 * rate * seconds)
    for number in range(total):
        if not go_on():
            total = number
            break
        due_at = began + (number + lots.random()) * slot_s
        while (left_s := due_at - time.monotonic()) > 0:
            # The last stretch is spun through: epoll's patience ends a millisecond late.
            crowd.step(left_s - 0.0015 if left_s > 0.0015 else 0)
            while pacing.idle:
                client = pacing.idle.popleft()
                sides[of_side[client]].append(client)
        client = sides[number % 2].popleft()
        client.spun_at = due_at
        client.command(b"spin")
    took_s = time.monotonic() - began
    _run_until(crowd, lambda: pacing.lifetimes >= total, 3)
    crowd.leave()
    return pacing.waits, pacing.lifetimes / 2 / took_s


def sit(server: Process, user_ids: Sequence[str], warm: Sequence[str], arrivals: int) -> float:
    """KiB of resident memory that one connected, welcomed, idle user costs the server.

    Some come first, so that what the server makes once is not counted. The more arrive at once, the
    higher the peak of their handshakes, and an allocator gives little of a peak back.
    """
    crowd = Crowd(server.port)
    crowd.connect(warm, _ignore)
    _settle(crowd)
    before = server.rss_kib()
    crowd.connect(user_ids, _ignore, arrivals)
    _settle(crowd)
    grown = server.rss_kib() - before
    crowd.leave()
    return grown / len(user_ids)


def _settle(crowd: Crowd) -> None:
    _run_until(crowd, lambda: False, 2.0)


def _ignore(client: Client, received: Received) -> None:
    pass


def _ascii(text: str | None) -> bytes:
    assert text is not None
    return text.encode("ascii")
