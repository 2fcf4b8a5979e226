"""A socket of an operator who watches the status."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from msgspec.structs import replace

from yoked_actor.actors.lobby import Connection, Renew
from yoked_actor.domain.lobby import Code
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.wire.lobby import Error, Event, Ok, OkMessage, encode, ok_reply
from yoked_actor.wire.lobby import commands as cmd


class Watcher:
    """Answers commands and sends numbered events. Methods do not block."""

    __slots__ = ("_connection", "_seq", "user_id")

    def __init__(self, connection: Connection, user_id: str) -> None:
        self._connection = connection
        self.user_id = user_id
        self._seq = 0

    def receive(self, text: bytes, now: Instant, renew: Renew) -> Coroutine[Any, Any, None] | None:
        """Handle one message; returns what has to be awaited for that, if anything.

        Raises `NotAnObject` when the protocol is broken.
        """
        try:
            command = cmd.decode_command(text)
        except cmd.BadCommand as bad:
            self.say(Error(re=bad.id, code=Code.BAD_REQUEST, message=bad.message))
            return None
        if isinstance(command, cmd.Hello):
            return self._renew(command, renew)
        if isinstance(command, cmd.Heartbeat):
            self.say(Ok(re=command.id, at=to_datetime(now)))
        else:
            message = "this socket only watches"
            self.say(Error(re=command.id, code=Code.WRONG_STATE, message=message))
        return None

    async def _renew(self, hello: cmd.Hello, renew: Renew) -> None:
        self.say(ok_reply(hello.id, await renew(hello)))

    def say(self, message: OkMessage | Error) -> None:
        """Send the reply to a command."""
        self._connection.send(encode(message))
        self._connection.flush()

    def tell(self, event: Event) -> None:
        """Send an event, with the next number."""
        self._seq += 1
        self._connection.send(encode(replace(event, seq=self._seq)))
        self._connection.flush()

    def close(self, code: int, reason: str) -> None:
        """Close the socket."""
        self._connection.close(code, reason)
