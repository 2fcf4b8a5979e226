"""Many WebSocket clients in one thread, with little CPU of their own.

Plain non-blocking sockets and one epoll; frames are made and read by hand. The mask of a client's
frame is four zero bytes, which is legal, costs the server the same as any other, and costs us
nothing. Every command is a write of its own, as it would be from a phone.
"""

from __future__ import annotations

import base64
import os
import select
import socket
import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from scripts.benchmarks._process import token

_TEXT, _CLOSE, _PING = 0x81, 0x88, 0x89
_RECEIVE_BYTES = 65536
ARRIVALS = 16


class Received(msgspec.Struct):
    """The parts of a server's message that a client reads."""

    type: str
    re: str | None = None
    code: str | None = None
    message: str | None = None
    match_id: str | None = None
    date_id: str | None = None
    initiator: bool = False
    resumed: bool = False
    next: str | None = None


_decode = msgspec.json.Decoder(Received).decode


def frame(payload: bytes, opcode: int = _TEXT) -> bytes:
    """One masked frame."""
    size = len(payload)
    if size < 126:
        return b"%c%c\0\0\0\0%b" % (opcode, 0x80 | size, payload)
    return b"%c\xfe%b\0\0\0\0%b" % (opcode, size.to_bytes(2, "big"), payload)


class Client:
    """One user's socket."""

    __slots__ = (
        "buffer",
        "commands",
        "events",
        "handle",
        "matched_at",
        "messages",
        "sock",
        "spun_at",
        "user_id",
        "welcomed",
    )

    def __init__(self, user_id: str, port: int, handle: Callable[[Client, Received], None]) -> None:
        self.user_id = user_id
        self.handle = handle
        self.buffer = b""
        self.commands = 0
        self.messages = 0
        self.events = 0
        self.welcomed = False
        self.spun_at = 0.0
        self.matched_at = 0.0
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        self.sock.sendall(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Protocol: yoked.v1\r\n\r\n".encode()
        )
        hello = msgspec.json.encode({"type": "hello", "id": "h", "token": token(user_id)})
        self.sock.sendall(frame(hello))
        self.sock.setblocking(False)

    def command(self, kind: bytes, rest: bytes = b"") -> None:
        """Send a command; `rest` is the text of its other fields."""
        self.commands += 1
        payload = b'{"type":"%b","id":"%d"%b}' % (kind, self.commands, rest)
        self.sock.send(frame(payload))

    def receive(self) -> None:
        """Read what has arrived, and handle every message."""
        try:
            data = self.sock.recv(_RECEIVE_BYTES)
        except BlockingIOError:
            return
        if not data:
            raise SystemExit(f"the server hung up on {self.user_id}")
        data = self.buffer + data
        at = 0
        if not self.welcomed and data.startswith(b"HTTP/1.1 "):
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self.buffer = data
                return
            if not data.startswith(b"HTTP/1.1 101"):
                raise SystemExit(f"the handshake was refused: {data[:200]!r}")
            at = end + 4
        while len(data) - at >= 2:
            size, head = data[at + 1], 2
            if size == 126:
                size, head = int.from_bytes(data[at + 2 : at + 4], "big"), 4
            if len(data) - at < head + size:
                break
            self._take(data[at], data[at + head : at + head + size])
            at += head + size
        self.buffer = data[at:]

    def _take(self, opcode: int, payload: bytes) -> None:
        if opcode == _TEXT:
            received = _decode(payload)
            self.messages += 1
            if received.type == "ok":
                return
            if received.type == "error":
                raise SystemExit(f"{self.user_id} was refused: {payload.decode()}")
            if received.type == "welcome":
                self.welcomed = True
            else:
                self.events += 1
            self.handle(self, received)
        elif opcode == _PING:
            self.sock.send(frame(payload, 0x8A))
        elif opcode == _CLOSE:
            raise SystemExit(f"the server closed {self.user_id}: {payload!r}")


class Crowd:
    """Many clients on one epoll."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._poll = select.epoll()
        self._clients: dict[int, Client] = {}

    def connect(
        self,
        user_ids: Iterable[str],
        handle: Callable[[Client, Received], None],
        arrivals: int = ARRIVALS,
    ) -> list[Client]:
        """Connect users, at most `arrivals` without a welcome at a time, and wait for all."""
        clients: list[Client] = []
        for user_id in user_ids:
            client = Client(user_id, self._port, handle)
            self._clients[client.sock.fileno()] = client
            self._poll.register(client.sock, select.EPOLLIN)
            clients.append(client)
            if len(clients) >= arrivals:
                self._await_welcome([clients[-arrivals]])
        self._await_welcome(clients)
        return clients

    def _await_welcome(self, clients: Sequence[Client]) -> None:
        deadline = time.monotonic() + 60
        while not all(client.welcomed for client in clients):
            if time.monotonic() > deadline:
                raise SystemExit("not everybody was welcomed within a minute")
            self.step(0.1)

    def step(self, timeout_s: float) -> None:
        """Handle what has arrived; wait for it at most that long."""
        clients = self._clients
        for number, _ in self._poll.poll(timeout_s):
            clients[number].receive()

    def leave(self) -> None:
        """Close all sockets."""
        for client in self._clients.values():
            self._poll.unregister(client.sock)
            client.sock.close()
        self._clients.clear()
