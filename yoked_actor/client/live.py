"""The WebSocket client of one user: commands with their replies, events in order, resume.

The client sends heartbeats. When its socket is lost, it reconnects, resumes its session and sends
every command without a reply again: a command keeps its id, so it has one effect. It waits as long
as a draining server has asked, and follows to another node when it is told to (4011). It gives up
only when reconnecting is no use: another device has replaced it (4001), or the token is not
accepted or the user is suspended (4003). With a token provider it renews its token before that
expires.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
import trio
from trio_websocket import wrap_client_stream

from yoked_actor.client.commands import (
    ROOM_CODES,
    CommandRefused,
    ConnectionLost,
    Event,
    RoomRefused,
)
from yoked_actor.client.dialing import Address, DialTo
from yoked_actor.client.event_queue import EventQueue
from yoked_actor.client.live_socket import SOCKET_ERRORS, LiveSocket, close_reason
from yoked_actor.client.pending_commands import PendingCommands
from yoked_actor.client.reconnects import UNREACHABLE, Reconnects
from yoked_actor.client.routing import Route
from yoked_actor.client.tokens import TokenProvider, TokenSource

_CONNECT_S, _CONNECT_BESIDE_S = 10.0, 5.0
"""How long a handshake may take; with another address to try, less: a node may hang."""


class Client(LiveSocket):
    """One user's connection to the server. Made by `open_client`."""

    def __init__(
        self,
        route: Route,
        dial_to: DialTo,
        token: str | TokenProvider,
        room: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(TokenSource(token))
        self._wanted_room = {"room": room, "code": code}
        self._route = route
        self._dial_to = dial_to
        self._reconnects = Reconnects(self._tokens)
        self._events = EventQueue()
        self._disconnected = trio.lowlevel.ParkingLot()
        self._visit = trio.CancelScope()
        self._pending = PendingCommands()
        self._resend = False
        self._was_welcomed = False
        self._wanted = trio.Event()
        self._wanted.set()
        self.session: str | None = None
        self.seq = 0
        self.resumed = False
        self.welcomes = 0
        """How many welcomes it has received: one, and one for each reconnect."""
        self.snapshot: dict[str, Any] = {}
        """The snapshot of the last welcome."""
        self.room: str | None = None
        """The room of the last welcome."""

    # Commands

    async def command(self, type: str, *, id: str | None = None, **fields: Any) -> Event:
        """Send a command and wait for its reply; a refusal raises `CommandRefused`."""
        if id is None:
            id = self._next_id("c")
        text = msgspec.json.encode({"type": type, "id": id, **fields}).decode()
        pending = self._pending.add(id, text)
        await self._send(text)
        reply = await pending.wait()
        if reply is None:
            raise self.lost or ConnectionLost(None, None)
        if reply["type"] == "error":
            raise CommandRefused(reply["code"], reply["message"])
        return Event("ok", reply)

    # Events

    async def next_event(self) -> Event:
        """The next event, in order.

        A `welcome` is among them only when the session was lost (`resumed` is false): its
        snapshot stands for all events that were missed.
        """
        return await self._events.next()

    async def wait_for(self, *types: str) -> Event:
        """The next event of one of these types; the events before it are dropped."""
        while True:
            event = await self.next_event()
            if event.type in types:
                return event

    def pending_events(self) -> list[Event]:
        """Take all events that have arrived and were not read yet."""
        return self._events.take_all()

    # The connection

    @property
    def address(self) -> Address:
        """The node that the client speaks to, or tries to reach."""
        return self._route.address

    async def drop(self, *, stay_away: bool = False) -> None:
        """Lose the socket without a close frame, as a phone in a tunnel does. The client then
        reconnects; with `stay_away`, only after `come_back`."""
        if stay_away:
            self._wanted = trio.Event()
        await self._lose_socket()

    async def come_back(self) -> None:
        """Connect again after staying away; returns after the welcome."""
        self._wanted.set()
        await self.wait_connected()

    async def wait_connected(self) -> None:
        """Wait for a welcome, or raise `ConnectionLost` when there will be none."""
        await self._connected.wait()
        if self.lost is not None:
            raise self.lost

    async def close(self) -> None:
        """Close the socket with a closing handshake, and stay away."""
        self._wanted = trio.Event()
        self._visit.cancel()
        while self._socket is not None:
            await self._disconnected.park()

    async def run(self) -> None:
        """Keep the connection open until it is lost for good."""
        while self.lost is None:
            await self._wanted.wait()
            code, reason = await self._stay_connected()
            self._socket = self._stream = None
            self._disconnected.unpark_all()
            if self._connected.is_set():
                self._connected = trio.Event()
            url = self._reconnects.take_moved(code)
            if url is not None and self._route.follow(url):
                continue
            if url is None and (self._was_silent or not self._was_welcomed):
                self._route.turn_back()
            error = self._reconnects.final_error(code, reason)
            if error is None and self.session is None and self._route.is_exhausted:
                error = ConnectionLost(code, reason)
            if error is not None:
                self._give_up(error)
            elif self._wanted.is_set():
                await trio.sleep(self._reconnects.next_pause_s())

    async def _stay_connected(self) -> tuple[int | None, str | None]:
        """Connect, and read until the socket ends; return its close code and reason."""
        code = reason = None
        self._was_welcomed = self._was_silent = False
        try:
            async with trio.open_nursery() as nursery:
                with trio.CancelScope() as self._visit:
                    # trio-websocket has no time-out for a server that dies in the handshake.
                    has_others = self._route.has_others
                    with trio.fail_after(_CONNECT_BESIDE_S if has_others else _CONNECT_S):
                        await self._connect(nursery)
                    nursery.start_soon(self._send_heartbeats)
                    nursery.start_soon(self._watch_silence)
                    nursery.start_soon(self._keep_token_fresh)
                    await self._read()
                await self._close_socket()
                nursery.cancel_scope.cancel()
        except* SOCKET_ERRORS as group:
            code, reason = close_reason(group)
            if self.session is None and code is None and not self._route.has_others:
                # Never welcomed: there may be no such server, so do not retry.
                code, reason = UNREACHABLE, f"cannot connect to {self.address.authority}"
        finally:
            # trio-websocket leaves a stream open that has broken or was never a WebSocket.
            await self.drop()
        return code, reason

    async def _connect(self, nursery: trio.Nursery) -> None:
        self._stream = await self._dial_to(self.address)()
        self._socket = await wrap_client_stream(
            nursery,
            cast(trio.SocketStream, self._stream),  # Works with any stream, whatever it declares.
            self.address.authority,
            "/ws",
            subprotocols=["yoked.v1"],
            message_queue_size=100,
        )
        id, token = self._next_id("h"), await self._tokens.current()
        hello: dict[str, Any] = {"type": "hello", "id": id, "token": token}
        if self.session is not None:
            hello["resume"] = {"session": self.session, "seq": self.seq}
        else:
            # Later the server knows in which room the user is.
            hello |= {key: value for key, value in self._wanted_room.items() if value is not None}
        await self._socket.send_message(msgspec.json.encode(hello).decode())
        self._heard_s = trio.current_time()

    async def _read(self) -> None:
        assert self._socket is not None
        while True:
            self._receive(await self._socket.get_message())
            if self._resend:
                self._resend = False
                for text in self._pending.texts():
                    await self._send(text)

    def _receive(self, text: str | bytes) -> None:
        self._heard_s = trio.current_time()
        message: dict[str, Any] = msgspec.json.decode(text)
        if message["type"] == "welcome":
            self._receive_welcome(message)
            return
        self._reconnects.note_message(message)
        if message["type"] == "error" and message["code"] in ROOM_CODES and not self._was_welcomed:
            self._give_up(RoomRefused(message["code"], message["message"]))
            self._visit.cancel()
        if message["type"] in ("ok", "error"):
            self._pending.resolve(message)
        else:
            self.seq = message["seq"]
            self._events.put(Event(message["type"], message))

    def _receive_welcome(self, message: dict[str, Any]) -> None:
        self.welcomes += 1
        if self.session is not None and not message["resumed"]:
            # Missed events are not sent again: this one stands for them.
            self._events.put(Event("welcome", message))
        self.session = message["session"]
        self.seq = message["seq"]
        self.resumed = message["resumed"]
        self.snapshot = message["snapshot"]
        self.room = message.get("room")
        self.heartbeat_every_s = message["heartbeat_every_s"]
        self._was_welcomed = True
        self._route.arrived()
        self._reconnects.note_welcome()
        if "expires_at" in message:
            self._tokens.set_server_time(message["at"])
            self._tokens.expires(message["expires_at"])
        self._resend = bool(self._pending)
        self._connected.set()

    def _give_up(self, lost: ConnectionLost) -> None:
        self.lost = lost
        self._connected.set()
        self._pending.abandon()
        self._events.close(lost)
