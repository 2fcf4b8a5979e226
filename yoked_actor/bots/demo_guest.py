"""One guest of the demo: waits for an errand, goes through one match, and waits again.

After a date with a visitor it may remain for a while, for the visitor to call.
"""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import suppress
from random import Random
from typing import Any

import msgspec
import trio

from yoked_actor.bots.demo_people import SAYS_YES, Role, farewell, greeting, is_demo
from yoked_actor.client import Api, Client, CommandRefused, Event

Range = tuple[float, float]

_ACKNOWLEDGE_S: Range = (0.3, 1.2)
_VOTE_S: Range = (1.5, 4.5)
_LEAVE_S: Range = (1.0, 3.0)
_DATE_S: Range = (30.0, 45.0)
_FADE_S: Range = (8.0, 12.0)
_AMONG_THEMSELVES_S: Range = (5.0, 12.0)
_ANSWER_S: Range = (1.5, 3.5)
_FAREWELL_S = 4.0
_REMAIN_S = 300.0
_PATIENCE_S = 5.0


class Errand(msgspec.Struct, frozen=True):
    """What a guest should do: its role, and its profile (None: the one it has)."""

    role: Role
    profile: dict[str, Any] | None = None


class DemoGuest:
    """A connected guest."""

    def __init__(self, user_id: str, client: Client, api: Api, random: Random) -> None:
        self.user_id = user_id
        self.is_looking = False
        """Whether it has an errand and no match yet."""
        self.is_done = False
        """Whether it has met a visitor, or has vanished: it cannot be sent again."""
        self.met: set[str] = set()
        """The users it has been matched with."""
        self.can_remain = False
        """Whether it has said yes to staying in touch with a visitor."""
        self.is_on_call = False
        """Whether it answers a call, or is on the date that follows."""
        self._client = client
        self._api = api
        self._random = random
        self._partner_id = ""
        self._interests: list[str] = []
        self._errand: Errand | None = None
        self._asked = trio.Event()
        self._remaining = trio.CancelScope()

    def ask(self, errand: Errand) -> None:
        """Give it an errand."""
        self.is_looking = True
        self._errand = errand
        self._asked.set()

    async def serve(self) -> None:
        """Wait for an errand, and carry it out."""
        await self._asked.wait()
        errand = self._errand
        assert errand is not None
        try:
            if errand.profile is not None:
                self._interests = errand.profile["interests"]
                await self._api.call("PUT", "/api/profile", errand.profile)
            self._client.pending_events()
            await self._play(errand.role)
        finally:
            self.is_looking = False
            self._asked = trio.Event()

    async def remain(self) -> None:
        """Accept calls for a while, or until it is dismissed."""
        # Only the wait is limited in time: a date is not cut short.
        self._remaining = trio.CancelScope(deadline=trio.current_time() + _REMAIN_S)
        while not self._client.lost:
            leaves_at = self._remaining.deadline
            with trio.CancelScope(deadline=leaves_at) as self._remaining:
                call = await self._client.wait_for("call")
            if self._remaining.cancelled_caught:
                return
            self.is_on_call = True
            await self._answer(call.call_id)
            self.is_on_call = False

    def dismiss(self) -> None:
        """End `remain`. Not while the guest is on a call."""
        self._remaining.cancel()

    async def _answer(self, call_id: str) -> None:
        await self._pause(_ANSWER_S)
        if not await self._try(self._client.accept_call(call_id)):
            return
        event = await self._client.wait_for("date_started", "welcome")
        if event.type == "date_started":
            await self._talk(event.date_id)

    async def _play(self, role: Role) -> None:
        await self._try(self._client.spin())
        patience = trio.current_time() + _PATIENCE_S
        while not self._client.lost:
            with trio.move_on_at(patience if self.is_looking else float("inf")) as waiting:
                event = await self._client.next_event()
            if waiting.cancelled_caught:
                self.is_looking = False
                await self._try(self._client.leave())
                continue
            if await self._is_over(event, role):
                return

    async def _is_over(self, event: Event, role: Role) -> bool:
        """Handle an event; True when the guest neither waits, is matched nor is on a date."""
        match event.type:
            case "matched":
                self.is_looking = False
                self._partner_id = event.partner["user_id"]
                self.met.add(self._partner_id)
                self.is_done = self.is_done or not is_demo(self._partner_id)
                await self._acknowledge(event.match_id, role)
            case "voting":
                await self._vote(event.match_id, role)
                return role is Role.VANISHES
            case "waiting" if event.reason != "spun":
                # An errand is one match.
                await self._try(self._client.leave())
            case "date_started":
                await self._date(event.date_id, role)
                return True
            case "idle":
                return bool(event.reason != "date")
            case "welcome":
                return True
        return False

    async def _acknowledge(self, match_id: str, role: Role) -> None:
        if role is Role.SILENT:
            return
        if role is not Role.VANISHES:
            # No pause: the server notices the loss only some time after the last heartbeat.
            await self._pause(_ACKNOWLEDGE_S)
        await self._try(self._client.acknowledge(match_id))

    async def _vote(self, match_id: str, role: Role) -> None:
        if role is Role.VANISHES:
            await self._vanish()
        elif role is Role.LEAVES:
            await self._pause(_LEAVE_S)
            await self._try(self._client.leave())
        elif role is not Role.UNDECIDED:
            await self._pause(_VOTE_S)
            await self._try(
                self._client.vote(match_id, "yes" if role in SAYS_YES else "pass"),
            )

    async def _date(self, date_id: str, role: Role) -> None:
        if is_demo(self._partner_id):
            await self._stay(_AMONG_THEMSELVES_S)
            await self._try(self._client.end_date(date_id))
            return
        if role is Role.FADES:
            await self._greet(date_id)
            if not await self._stay(_FADE_S):
                await self._vanish()
            return
        if role is Role.STAYS:
            await self._greet(date_id)
            await self._client.wait_for("date_ended")
        else:
            await self._talk(date_id)
        # Refused after a date that was too short for the question.
        self.can_remain = await self._try(self._client.stay_in_touch(date_id, "yes"))

    async def _talk(self, date_id: str) -> None:
        """Greet, stay for a while, and end the date."""
        await self._greet(date_id)
        if not await self._stay(_DATE_S):
            await self._say(date_id, farewell(self._random))
            await self._stay((_FAREWELL_S, _FAREWELL_S))
            await self._try(self._client.end_date(date_id))

    async def _stay(self, range_s: Range) -> bool:
        """Stay on the date for a while; whether it ended before that."""
        with trio.move_on_after(self._random.uniform(*range_s)) as staying:
            await self._client.wait_for("date_ended")
        return not staying.cancelled_caught

    async def _greet(self, date_id: str) -> None:
        await self._say(date_id, greeting(self._random, self._interests))

    async def _say(self, date_id: str, text: str) -> None:
        await self._try(self._client.signal(date_id, {"kind": "demo", "text": text}))

    async def _vanish(self) -> None:
        self.is_done = True
        await self._client.drop(stay_away=True)

    async def _try(self, command: Awaitable[Event]) -> bool:
        # A command that comes too late is expected.
        with suppress(CommandRefused):
            await command
            return True
        return False

    async def _pause(self, range_s: Range) -> None:
        await trio.sleep(self._random.uniform(*range_s))
