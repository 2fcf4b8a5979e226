"""A plain client that sends commands and keeps every message of the server in order."""

from __future__ import annotations

import json
from typing import Any

from trio.testing import wait_all_tasks_blocked

from tests.edge.raw_client import CLOSE, PING, PONG, TEXT, RawWebSocket, close_frame, frame
from yoked_actor.testing import World

Message = dict[str, Any]


class HungUp(Exception):
    """The server has closed the connection."""

    def __init__(self, code: int | None, reason: str) -> None:
        super().__init__(f"{code} {reason}")
        self.code = code
        self.reason = reason


class Talker:
    """One raw WebSocket. It does nothing by itself: no beats, no coming back."""

    def __init__(self, raw: RawWebSocket) -> None:
        self.raw = raw
        self._count = 0

    @classmethod
    async def dial(cls, world: World) -> Talker:
        """A socket that has not said hello."""
        raw = RawWebSocket(await world.dial()())
        head = await raw.shake_hands()
        assert head.startswith(b"HTTP/1.1 101 "), head
        return cls(raw)

    @classmethod
    async def greet(cls, world: World, user_id: str, **hello: Any) -> tuple[Talker, Message]:
        """A socket that has said hello, and the welcome it got."""
        talker = await cls.dial(world)
        return talker, await talker.hello(world.token(user_id), **hello)

    async def hello(self, token: str, **fields: Any) -> Message:
        """Say hello and return the welcome."""
        await self.say({"type": "hello", "id": "hello", "token": token, **fields})
        welcome = await self.hear()
        assert welcome["type"] == "welcome", welcome
        assert welcome["re"] == "hello"
        return welcome

    async def say(self, message: object) -> None:
        """Send anything as JSON."""
        await self.write(json.dumps(message).encode())

    async def write(self, text: bytes, opcode: int = TEXT) -> None:
        """Send one frame as it is."""
        await self.raw.stream.send_all(frame(opcode, text))

    async def hear(self) -> Message:
        """The next message; `HungUp` when the server closes instead."""
        while True:
            opcode, payload = await self.raw.receive()
            if opcode == TEXT:
                message = json.loads(payload)
                assert isinstance(message, dict)
                return message
            if opcode == PING:
                await self.raw.stream.send_all(frame(PONG, payload))
            if opcode == CLOSE:
                code = int.from_bytes(payload[:2], "big") if payload else None
                raise HungUp(code, payload[2:].decode())

    async def ask(self, type: str, **fields: Any) -> Message:
        """Send a command and return its reply, which must be what comes next."""
        id = fields.pop("id", None)
        if id is None:
            self._count += 1
            id = f"t{self._count}"
        await self.say({"type": type, "id": id, **fields})
        reply = await self.hear()
        assert reply["type"] in ("ok", "error"), reply
        assert reply["re"] == id, reply
        return reply

    async def news(self) -> list[Message]:
        """Everything that was said so far and not yet heard, at this very instant."""
        await wait_all_tasks_blocked()
        self._count += 1
        fence = f"fence{self._count}"
        await self.say({"type": "heartbeat", "id": fence})
        heard: list[Message] = []
        while (message := await self.hear()).get("re") != fence:
            heard.append(message)
        return heard

    async def hung_up(self) -> HungUp:
        """How the server ended the connection; what it said before is let go."""
        try:
            while True:
                await self.hear()
        except HungUp as end:
            return end

    async def hang_up(self) -> None:
        """Close politely."""
        await self.raw.stream.send_all(close_frame(1000))
        await self.raw.stream.aclose()

    async def vanish(self) -> None:
        """Be gone without a word."""
        await self.raw.stream.aclose()
