"""A visit: a person with an open page, from the first hello to the last.

The visit keeps the connection, heartbeats, commands and their replies. What the person does with
them is decided by `Evening`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from heapq import heappop, heappush
from random import Random
from typing import Any

import trio

from yoked_actor.simulation.people.company import Company
from yoked_actor.simulation.people.protocol import Gone, Socket

BEAT_S = 4.0
_REPLY_S = 8.0
_HELLO_S = 15.0
_REPLACED, _REFUSED = 4001, 4003
Action = Callable[[], Awaitable[None]]


class Visit:
    """One person's page. Subclasses react to what it is told."""

    def __init__(self, company: Company, user_id: str, random: Random, ends_s: float) -> None:
        self.company = company
        self.user_id = user_id
        self.random = random
        self.ends_s = ends_s
        self.account = company.ledger.of(user_id)
        self.is_over = False
        self.silent_until_s = -1.0
        self._socket: Socket | None = None
        self._number = 0
        self._welcomed = False
        self._session: str | None = None
        self._seq = 0
        self._ids = 0
        self._asked: dict[int, tuple[dict[str, Any], str | None]] = {}
        """By connection: the room of its hello, and where the person was before."""
        self._pending: dict[str, tuple[dict[str, Any], float]] = {}
        self._replies: dict[str, dict[str, Any]] = {}
        self._agenda: list[tuple[float, int, Action]] = []
        self._count = 0
        self._wakeup = trio.Event()
        self._nursery: trio.Nursery | None = None
        self._next_try_s = 0.0

    # To be overridden

    async def on_welcome(self, snapshot: dict[str, Any]) -> None:
        """The page has been welcomed, with a fresh session."""

    async def on_event(self, event: dict[str, Any]) -> None:
        """An event has arrived."""

    async def on_reply(self, command: dict[str, Any], reply: dict[str, Any]) -> None:
        """A command was answered over the socket."""

    def room_of_hello(self) -> dict[str, Any]:
        """The room, and its code, that the next hello names; empty for none."""
        return {}

    # Running

    async def run(self) -> None:
        """Stay until the end of the visit."""
        self.company.tally.visits += 1
        async with trio.open_nursery() as self._nursery:
            self.soon(BEAT_S, self._beat)
            while not self.is_over and trio.current_time() < self.ends_s:
                if self._socket is None and trio.current_time() >= self._next_try_s:
                    await self.connect()
                await self._wait()
                while self._agenda and self._agenda[0][0] <= trio.current_time():
                    await heappop(self._agenda)[2]()
            await self.leave_page()
            self._nursery.cancel_scope.cancel()

    async def leave_page(self) -> None:
        """The end of the visit: close the page."""
        if self._socket is not None:
            socket, self._socket = self._socket, None
            self.company.witness.disconnected(self.user_id, self._number)
            await socket.close()

    def soon(self, seconds: float, action: Action) -> None:
        """Do something after so many seconds."""
        self._count += 1
        heappush(self._agenda, (trio.current_time() + seconds, self._count, action))
        self._wakeup.set()

    async def _wait(self) -> None:
        until_s = self._agenda[0][0] if self._agenda else self.ends_s
        if self._socket is None:
            until_s = min(until_s, self._next_try_s)
        self._wakeup = trio.Event()
        with trio.move_on_at(min(until_s, self.ends_s)):
            await self._wakeup.wait()

    # The connection

    @property
    def is_connected(self) -> bool:
        """Whether the page has been welcomed on an open socket."""
        return self._socket is not None and self._welcomed

    async def connect(self, late_s: float = 0.0) -> None:
        """Open a socket and say hello; the welcome comes later.

        `late_s`: how long this hello travels. A hello that was said later may arrive before it.
        """
        try:
            line = await self.company.stage.dial()
            line.up.delay_s = late_s
            socket = Socket(line)
            with trio.fail_after(_HELLO_S):
                await socket.open()
                asked = self.room_of_hello()
                hello = self._hello() | asked
                if self._session is not None and self.random.random() < 0.7:
                    hello["resume"] = {"session": self._session, "seq": self._seq}
                await socket.send(hello)
                line.up.delay_s = 0.0
        except (Gone, ConnectionRefusedError, trio.TooSlowError):
            self._next_try_s = trio.current_time() + self.random.uniform(0.5, 3.0)
            return
        if self._socket is not None:
            # Another device of the same person: the server closes the older one.
            self.company.witness.disconnected(self.user_id, self._number)
        self._number = self.company.next_connection()
        self._socket, self._welcomed = socket, False
        if asked:
            self._asked[self._number] = (asked, self.account.room)
            self.company.rooms.asking(self.user_id, asked)
        assert self._nursery is not None
        self._nursery.start_soon(self._read, socket, self._number)

    def _hello(self) -> dict[str, Any]:
        token = self.company.stage.token(self.user_id)
        return {"type": "hello", "id": self._next_id(), "token": token}

    async def _not_let_in(self, socket: Socket, number: int, code: str) -> None:
        """The room of a hello was refused: say hello again on the same socket, without a room."""
        asked, before = self._asked.pop(number)
        self.company.rooms.not_let_in(self.user_id, before, asked, code)
        self.company.history.add(self.user_id, f"#{number} hello {asked['room']} -> {code}")
        await socket.send(self._hello())

    def drop(self, seconds: float) -> None:
        """Lose the network for so long."""
        if self._socket is not None:
            self._socket.line.cut()
            self.company.witness.disconnected(self.user_id, self._number)
            self._socket = None
        self._next_try_s = trio.current_time() + seconds
        self._wakeup.set()

    async def reload(self) -> None:
        """Close the page and open it again, without what it remembered."""
        await self.leave_page()
        self._session = None
        self._pending.clear()
        self._next_try_s = trio.current_time() + self.random.uniform(0.1, 1.0)

    async def _read(self, socket: Socket, number: int) -> None:
        gone = Gone()
        try:
            while True:
                message = await socket.receive()
                is_refused = message["type"] == "error" and message["code"] != "suspended"
                if is_refused and number in self._asked:
                    await self._not_let_in(socket, number, message["code"])
                else:
                    await self._hear(message, number)
        except Gone as raised:
            gone = raised
        self.company.history.add(self.user_id, f"#{number} closed {gone.code or ''}".rstrip())
        self.company.witness.disconnected(self.user_id, number)
        await trio.aclose_forcefully(socket.line.persons_end)
        if socket is not self._socket:
            return
        self._socket = None
        self._next_try_s = trio.current_time() + self.random.uniform(0.3, 2.5)
        if gone.code == _REFUSED:
            self.is_over = True
        self._wakeup.set()

    async def _hear(self, message: dict[str, Any], number: int) -> None:
        company, kind = self.company, message["type"]
        if kind in ("ok", "error"):
            await self._hear_reply(message)
            return
        company.tally.events[kind] += 1
        company.history.add(self.user_id, f"#{number} {line_of(message)}")
        if kind == "welcome":
            company.witness.connected(self.user_id, number, message)
            if number in self._asked:
                asked, before = self._asked.pop(number)
                company.rooms.welcomed(self.user_id, before, asked, message["room"])
            self._welcomed = True
            is_fresh = not message["resumed"] or self._session != message["session"]
            self._session, self._seq = message["session"], message["seq"]
            if is_fresh:
                self._pending.clear()
                await self.on_welcome(message["snapshot"])
            else:
                for command, _ in list(self._pending.values()):
                    await self._transmit(command)
            return
        company.witness.told(self.user_id, number, message)
        self._seq = message["seq"]
        if number == self._number:
            await self.on_event(message)

    async def _hear_reply(self, reply: dict[str, Any]) -> None:
        command_id = reply["re"]
        if reply.get("code") == "suspended":
            self.company.history.add(self.user_id, "refused: suspended")
            return
        pending = self._pending.pop(command_id, None)
        earlier = self._replies.pop(command_id, None)
        if earlier is not None and earlier != reply:
            text = f"{self.user_id}: {command_id} is answered {earlier}, then {reply}"
            self.company.bench.report("second_reply", text, self.user_id)
        if pending is None:
            return
        command = pending[0]
        if command["type"] != "heartbeat":
            text = f"{command['type']} -> {reply.get('code', 'ok')}"
            self.company.history.add(self.user_id, text)
        self.company.replies.replied(self.user_id, command, reply)
        await self.on_reply(command, reply)
        if command.pop("twice", False):
            self._replies[command_id] = reply
            await self._transmit(command)

    # Commands

    async def say(self, kind: str, **fields: Any) -> None:
        """Send a command; its reply is heard when it comes."""
        if not self.is_connected:
            return
        command = {"type": kind, "id": self._next_id(), **fields}
        self.company.tally.commands[kind] += 1
        self.company.replies.sending(self.user_id, command)
        self._pending[command["id"]] = (command, trio.current_time())
        await self._transmit(command)

    async def say_twice(self, kind: str, **fields: Any) -> None:
        """Send a command, and again with the same id when it was answered."""
        if self.is_connected:
            await self.say(kind, **fields)
            list(self._pending.values())[-1][0]["twice"] = True

    async def _transmit(self, command: dict[str, Any]) -> None:
        self.company.witness.spoke(self.user_id)
        if self._socket is not None:
            sent = {key: value for key, value in command.items() if key != "twice"}
            try:
                await self._socket.send(sent)
            except Gone:
                pass

    async def _beat(self) -> None:
        """A heartbeat in any state but idle; and a look at replies that do not come."""
        self.soon(BEAT_S, self._beat)
        self._check_replies()
        is_active = self.account.state != "idle" or self.account.date_id is not None
        if is_active and trio.current_time() >= self.silent_until_s:
            await self.say("heartbeat")

    def _check_replies(self) -> None:
        now_s = trio.current_time()
        since_s = self.account.online_s
        if not self.is_connected or since_s is None:
            return
        for command, sent_s in self._pending.values():
            if now_s - max(sent_s, since_s) > _REPLY_S and self.company.weather.is_fair(_REPLY_S):
                text = f"{self.user_id}: no reply to {command}"
                self.company.bench.report("no_reply", text, self.user_id)
                self._pending.clear()
                return

    def _next_id(self) -> str:
        self._ids += 1
        return f"{self._number}-{self._ids}"


def line_of(message: dict[str, Any]) -> str:
    """A message in one line, with what tells it from others."""
    parts = [message["type"]]
    for key in (
        "match_id",
        "date_id",
        "call_id",
        "room",
        "outcome",
        "reason",
        "next",
        "tier",
        "since",
        "credit",
    ):
        if key in message:
            parts.append(f"{key}={message[key]}")
    if "partner" in message:
        parts.append(f"with {message['partner']['user_id']}")
    if "snapshot" in message:
        snapshot = message["snapshot"]
        parts.append(f"{'resumed' if message['resumed'] else 'fresh'} {snapshot['state']}")
        parts.append(f"credit={snapshot['credit']}")
    if "offers" in message:
        parts.append(f"{message['date']}: {len(message['offers'])} offers")
    return " ".join(parts)
