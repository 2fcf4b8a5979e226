"""The commands of the protocol, the events, and the errors of both."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True):
    """An event from the server; the fields of the protocol are attributes."""

    type: str
    fields: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(f"{self.type} has no {name}") from None


class CommandRefused(Exception):
    """The server refused a command."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class ConnectionLost(Exception):
    """The connection has ended for good."""

    def __init__(self, code: int | None, reason: str | None) -> None:
        super().__init__(f"the connection is closed: {code} {reason or ''}".rstrip())
        self.code = code
        self.reason = reason


class Suspended(ConnectionLost):
    """The user is suspended: `why` is the operator's text, `until` an ISO time or None."""

    def __init__(self, code: int | None, reason: str | None, why: str, until: str | None) -> None:
        super().__init__(code, f"{reason}: {why}")
        self.reason = reason
        self.why = why
        self.until = until


ROOM_CODES = frozenset(
    {"unknown_room", "room_closed", "room_full", "wrong_code", "forbidden", "rate_limited"}
)
"""Why a hello for a room is refused."""


class RoomRefused(ConnectionLost):
    """The server did not let the user into the room: `error` is the code of the protocol."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(None, f"{error}: {message}")
        self.args = (f"the room was refused: {error}: {message}",)
        self.error = error


class Commands(ABC):
    """Every command of the protocol; each returns the server's `ok` or raises."""

    @abstractmethod
    async def command(self, type: str, *, id: str | None = None, **fields: Any) -> Event:
        """Send a command and wait for its reply; a refusal raises `CommandRefused`."""

    async def spin(self) -> Event:
        """Join the queue."""
        return await self.command("spin")

    async def explain(self) -> Event:
        """Ask why there is no match yet."""
        return await self.command("explain")

    async def leave(self) -> Event:
        """Leave the queue or the match."""
        return await self.command("leave")

    async def acknowledge(self, match_id: str) -> Event:
        """Confirm that the match is on the screen."""
        return await self.command("acknowledge", match_id=match_id)

    async def vote(self, match_id: str, vote: str) -> Event:
        """Vote `yes` or `pass`."""
        return await self.command("vote", match_id=match_id, vote=vote)

    async def signal(self, date_id: str, data: Any) -> Event:
        """Send `data`, any JSON value, to the partner of the video date."""
        return await self.command("signal", date_id=date_id, data=data)

    async def end_date(self, date_id: str) -> Event:
        """End the video date."""
        return await self.command("end_date", date_id=date_id)

    async def answer_offer(self, offer_id: str, answer: str) -> Event:
        """Answer an offer of the day with `accept` or `decline`."""
        return await self.command("answer_offer", offer_id=offer_id, answer=answer)

    async def start_date(self, connection_id: str) -> Event:
        """Call a connection who is online, for a video date; the reply has `call_id`."""
        return await self.command("start_date", connection_id=connection_id)

    async def accept_call(self, call_id: str) -> Event:
        """Accept a call: the video date opens."""
        return await self.command("accept_call", call_id=call_id)

    async def decline_call(self, call_id: str) -> Event:
        """Decline a call."""
        return await self.command("decline_call", call_id=call_id)

    async def cancel_call(self, call_id: str) -> Event:
        """Stop your own call."""
        return await self.command("cancel_call", call_id=call_id)

    async def enter_room(self, room: str, code: str | None = None) -> Event:
        """Go into another room, while you are idle."""
        given = {} if code is None else {"code": code}
        return await self.command("enter_room", room=room, **given)

    async def stay_in_touch(self, date_id: str, answer: str) -> Event:
        """Say after a date whether to stay in touch: `yes` or `no`."""
        return await self.command("stay_in_touch", date_id=date_id, answer=answer)

    async def block(self, user_id: str) -> Event:
        """Block a user: no match, offer or date with them."""
        return await self.command("block", user_id=user_id)

    async def report(self, user_id: str, reason: str, match_id: str | None = None) -> Event:
        """Report a user to the operator."""
        extra = {} if match_id is None else {"match_id": match_id}
        return await self.command("report", user_id=user_id, reason=reason, **extra)

    async def heartbeat(self) -> Event:
        """Tell the server that the user is still there."""
        return await self.command("heartbeat")
