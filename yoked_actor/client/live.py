"""A live connection of one user: commands with their replies, events in order, resume.

The client beats by itself, and when its socket is lost it comes back by itself, takes up its
session where it was, and sends again what has had no reply: a command has one id however often it
is sent, so it has one effect. It does not come back before the time that a stopping server has
named. It gives up only when coming back is no use: another device has taken over (4001), or the
token is not accepted or the user is suspended (4003). With a token provider it renews its token
before that ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import msgspec
import trio
from trio_websocket import ConnectionClosed, HandshakeError, WebSocketConnection, wrap_client_stream

from yoked_actor.client.commands import (
    CommandRefused,
    Commands,
    ConnectionLost,
    Event,
    Suspended,
)
from yoked_actor.client.dialing import Address, Dial
from yoked_actor.client.tokens import TokenProvider, TokenSource, TokenUnavailable
from yoked_actor.wire.close_codes import CloseCode

UNREACHABLE = CloseCode.ABNORMAL_CLOSURE
FINAL_CODES = frozenset({UNREACHABLE, CloseCode.REPLACED, CloseCode.UNAUTHORIZED})
_MOST_PROTOCOL_ERRORS = 3
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
_GOODBYE_S = 2.0
_RENEW_AGAIN_S = 10.0
_EXPIRED = "the token has expired"
_CONNECT_S = 10.0
_GONE = (
    ConnectionClosed,
    HandshakeError,
    OSError,
    trio.BrokenResourceError,
    trio.TooSlowError,
)
_MAX_EVENTS = 10_000


class _Awaited:
    __slots__ = ("arrived", "reply", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.arrived = trio.Event()
        self.reply: dict[str, Any] | None = None


class Client(Commands):
    """One user's side of the conversation. Made by `open_client`."""

    def __init__(self, address: Address, dial: Dial, token: str | TokenProvider) -> None:
        self._address = address
        self._dial = dial
        self._tokens = TokenSource(token)
        self._token_refused = False
        self._socket: WebSocketConnection | None = None
        self._stream: trio.abc.Stream | None = None
        self._connected = trio.Event()
        self._events: deque[Event] = deque(maxlen=_MAX_EVENTS)
        self._came = trio.lowlevel.ParkingLot()
        self._left = trio.lowlevel.ParkingLot()
        self._visit = trio.CancelScope()
        self._awaited: dict[str, _Awaited] = {}
        self._resend = False
        self._back_in_s = 0.0
        self._protocol_errors = 0
        self._suspended: tuple[str, str | None] | None = None
        self._count = 0
        self._wanted = trio.Event()
        self._wanted.set()
        self.beating = True
        """Whether the client beats by itself."""
        self.session: str | None = None
        self.seq = 0
        self.resumed = False
        self.welcomes = 0
        """How often it has been welcomed: once, and again each time it came back."""
        self.snapshot: dict[str, Any] = {}
        """As the last welcome told it."""
        self.heartbeat_every_s = 3.0
        self.lost: ConnectionLost | None = None

    # Commands

    async def command(self, type: str, *, id: str | None = None, **fields: Any) -> Event:
        """Send a command and wait for its reply; a refusal raises `CommandRefused`."""
        if id is None:
            self._count += 1
            id = f"c{self._count}"
        message = msgspec.json.encode({"type": type, "id": id, **fields}).decode()
        awaited = self._awaited.setdefault(id, _Awaited(message))
        await self._send(message)
        await awaited.arrived.wait()
        if awaited.reply is None:
            raise self.lost or ConnectionLost(None, None)
        reply = awaited.reply
        if reply["type"] == "error":
            raise CommandRefused(reply["code"], reply["message"])
        return Event("ok", reply)

    # Events

    async def next_event(self) -> Event:
        """The next event, in order.

        A `welcome` is among them only when the session was lost (`resumed` is false): its
        snapshot stands for all that was missed.
        """
        while not self._events:
            if self.lost is not None:
                raise self.lost
            await self._came.park()
        return self._events.popleft()

    async def wait_for(self, *types: str) -> Event:
        """The next event of one of these types; those before it are let go."""
        while True:
            event = await self.next_event()
            if event.type in types:
                return event

    def pending_events(self) -> list[Event]:
        """What has come and was not looked at yet."""
        events = list(self._events)
        self._events.clear()
        return events

    # The connection

    @property
    def is_connected(self) -> bool:
        """Whether the client has been welcomed on a socket that is open."""
        return self._connected.is_set()

    async def drop(self, *, stay_away: bool = False) -> None:
        """Lose the socket without a word, as a phone in a tunnel does; then come back by itself,
        or, with `stay_away`, when told to `come_back`."""
        if stay_away:
            self._wanted = trio.Event()
        if self._stream is not None:
            await trio.aclose_forcefully(self._stream)

    async def come_back(self) -> None:
        """Connect again after staying away; returns when welcomed."""
        self._wanted.set()
        await self.wait_connected()

    async def wait_connected(self) -> None:
        """Wait for a welcome, or raise `ConnectionLost` when there will be none."""
        await self._connected.wait()
        if self.lost is not None:
            raise self.lost

    async def close(self) -> None:
        """Close the socket, politely, and stay away."""
        self._wanted = trio.Event()
        self._visit.cancel()
        while self._socket is not None:
            await self._left.park()

    async def run(self) -> None:
        """Keep the connection up until it is lost for good."""
        pause_s = _FIRST_PAUSE_S
        while self.lost is None:
            await self._wanted.wait()
            code = reason = None
            try:
                async with trio.open_nursery() as nursery:
                    with trio.CancelScope() as self._visit:
                        # A server that dies during the handshake leaves the library waiting.
                        with trio.fail_after(_CONNECT_S):
                            await self._connect(nursery)
                        pause_s = _FIRST_PAUSE_S
                        nursery.start_soon(self._beat)
                        nursery.start_soon(self._keep_token_fresh)
                        await self._listen()
                    await self._say_goodbye()
                    nursery.cancel_scope.cancel()
            except* _GONE as group:
                code, reason = _closing(group)
                if self.session is None and code is None:
                    # Never welcomed: there may be no such server, so do not try for ever.
                    code, reason = UNREACHABLE, f"cannot connect to {self._address.authority}"
            finally:
                # The library leaves a stream open that has broken or was never a WebSocket.
                await self.drop()
            self._socket = self._stream = None
            self._left.unpark_all()
            if self._connected.is_set():
                self._connected = trio.Event()
            if code == CloseCode.PROTOCOL_ERROR:
                # Once, it was a hello that came late over a bad line; always, it is our fault.
                self._protocol_errors += 1
            expired = code == CloseCode.UNAUTHORIZED and reason == _EXPIRED
            if expired and self._tokens.can_renew and not self._token_refused:
                # By the server's clock, whatever ours says: try once with a new one.
                self._token_refused = True
                self._tokens.forget()
                code = None
            if code in FINAL_CODES or self._protocol_errors >= _MOST_PROTOCOL_ERRORS:
                if self._suspended is not None:
                    self._give_up(Suspended(code, reason, *self._suspended))
                else:
                    self._give_up(ConnectionLost(code, reason))
            elif self._wanted.is_set():
                # A server that is about to stop says how long it will be away.
                await trio.sleep(max(pause_s, self._back_in_s))
                self._back_in_s = 0.0
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _say_goodbye(self) -> None:
        # The socket's reader task must live until both sides have closed.
        if self._socket is not None:
            with trio.move_on_after(_GOODBYE_S):
                await self._socket.aclose()

    async def _connect(self, nursery: trio.Nursery) -> None:
        self._stream = await self._dial()
        self._socket = await wrap_client_stream(
            nursery,
            cast(trio.SocketStream, self._stream),  # Any stream will do; the annotation is narrow.
            self._address.authority,
            "/ws",
            subprotocols=["yoked.v1"],
            message_queue_size=100,
        )
        self._count += 1
        token = await self._tokens.current()
        hello: dict[str, Any] = {"type": "hello", "id": f"h{self._count}", "token": token}
        if self.session is not None:
            hello["resume"] = {"session": self.session, "seq": self.seq}
        await self._socket.send_message(msgspec.json.encode(hello).decode())

    async def _listen(self) -> None:
        assert self._socket is not None
        while True:
            self._hear(await self._socket.get_message())
            if self._resend:
                await self._send_again()

    def _hear(self, text: str | bytes) -> None:
        message: dict[str, Any] = msgspec.json.decode(text)
        match message["type"]:
            case "ok" | "error":
                self._note_suspension(message)
                awaited = self._awaited.pop(message["re"], None)
                if awaited is not None:
                    awaited.reply = message
                    awaited.arrived.set()
            case "welcome":
                self._welcomed(message)
            case type:
                if type == "draining":
                    self._back_in_s = message["reconnect_after_s"]
                self._note_suspension(message)
                self.seq = message["seq"]
                self._events.append(Event(type, message))
                self._came.unpark_all()

    def _note_suspension(self, message: dict[str, Any]) -> None:
        """Keep what a suspended user is told, by an event or as the answer to hello."""
        if "suspended" in (message["type"], message.get("code")):
            self._suspended = (message["reason"], message["until"])

    def _welcomed(self, message: dict[str, Any]) -> None:
        self.welcomes += 1
        self._protocol_errors = 0
        if self.session is not None and not message["resumed"]:
            # What was missed will not be told again: whoever follows the events must look here.
            self._events.append(Event("welcome", message))
            self._came.unpark_all()
        self.session = message["session"]
        self.seq = message["seq"]
        self.resumed = message["resumed"]
        self.snapshot = message["snapshot"]
        self.heartbeat_every_s = message["heartbeat_every_s"]
        self._token_refused = False
        if "expires_at" in message:
            self._tokens.set_server_time(message["at"])
            self._tokens.expires(message["expires_at"])
        self._resend = bool(self._awaited)
        self._connected.set()

    async def _send_again(self) -> None:
        self._resend = False
        for awaited in list(self._awaited.values()):
            await self._send(awaited.text)

    async def _beat(self) -> None:
        while True:
            await trio.sleep(self.heartbeat_every_s)
            if self.beating and self._connected.is_set():
                self._count += 1
                beat = {"type": "heartbeat", "id": f"b{self._count}"}
                await self._send(msgspec.json.encode(beat).decode())

    async def _keep_token_fresh(self) -> None:
        """Renew the token before it ends, as long as there is a provider."""
        await self._connected.wait()
        while self._tokens.can_renew:
            await trio.sleep_until(self._tokens.renew_at)
            try:
                renewed = await self.command("hello", token=await self._tokens.renewed())
            except (CommandRefused, TokenUnavailable):
                self._tokens.try_again_in(_RENEW_AGAIN_S)
            else:
                self._tokens.expires(renewed.expires_at)

    async def _send(self, text: str) -> None:
        # A message that finds no socket is sent again after the next welcome.
        if self.lost is not None:
            raise self.lost
        if self._socket is not None and self._connected.is_set():
            with suppress(*_GONE):
                await self._socket.send_message(text)

    def _give_up(self, lost: ConnectionLost) -> None:
        self.lost = lost
        self._connected.set()
        for awaited in self._awaited.values():
            awaited.arrived.set()
        self._came.unpark_all()


def _closing(group: BaseExceptionGroup[BaseException]) -> tuple[int | None, str | None]:
    """The close code among what has ended a connection, if the server gave one."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            found = _closing(error)
        elif isinstance(error, ConnectionClosed) and error.reason is not None:
            found = (error.reason.code, error.reason.reason)
        else:
            continue
        # The library's word for a socket that ended without a close frame is not the server's.
        if found[0] not in (None, UNREACHABLE):
            return found
    return (None, None)


@asynccontextmanager
async def open_client(
    url: str, token: str | TokenProvider, *, dial: Dial | None = None
) -> AsyncIterator[Client]:
    """Connect a user; on leaving, the socket is closed. `dial` opens streams of another kind.

    `token` may be an async function that returns a token: it is called for the first one, and
    again before each of them ends. With a plain token the connection ends with it (4003).

    Raises `ConnectionLost` when there is no server, or it wants nothing of this user.
    """
    address = Address.parse(url)
    client = Client(address, dial or address.dial(), token)
    failed: BaseException | None = None
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.run)
            try:
                await client.wait_connected()
                yield client
            except BaseException as error:
                failed = error
                raise
            await client.close()
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # That there is a task behind the client is nothing that its user should have to know.
        if failed is not None and group.exceptions == (failed,):
            raise failed from failed.__cause__
        raise
