"""A bot: one user who reacts to each event.

Like a person with a phone, it reads an event, pauses, and then sends a command. By then the server
may have moved on: a command that comes too late is expected, not an error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from random import Random
from typing import Any, Protocol

import msgspec
import trio

from yoked_actor.bots.valve import Valve
from yoked_actor.client import Client, CommandRefused, Event

Range = tuple[float, float]
Choose = Callable[[str], str | None]
"""The vote on a partner, by user id: `yes`, `pass`, or None for no vote."""

TOO_LATE = frozenset(
    {"unknown_match", "vote_closed", "wrong_state", "not_found", "on_a_date", "draining"}
)
"""Refusals of commands that come too late."""


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The shortest and longest time that a bot takes for each step."""

    acknowledge_s: Range = (0.3, 2.0)
    vote_s: Range = (1.0, 6.0)
    answer_s: Range = (1.0, 4.0)
    date_s: Range = (3.0, 8.0)
    rest_s: Range = (0.5, 3.0)
    patience_s: Range = (40.0, 80.0)


class Phase(StrEnum):
    """The state of a bot, as far as it knows."""

    IDLE = "idle"
    WAITING = "waiting"
    MATCHED = "matched"
    VOTING = "voting"
    DATE = "on a date"


class Watcher(Protocol):
    """Is notified of what a bot sees."""

    def saw(self, bot: Bot, event: Event) -> None:
        """The bot handles an event."""

    def voted(self, bot: Bot, match_id: str, vote: str) -> None:
        """The server has accepted the bot's vote."""

    def paired_after(self, bot: Bot, seconds: float) -> None:
        """The bot was matched so long after its spin."""

    def refused(self, bot: Bot, refusal: CommandRefused) -> None:
        """A command was refused for another reason than being too late."""


class Bot:
    """One user. A persona decides its behaviour."""

    def __init__(
        self,
        user_id: str,
        client: Client,
        random: Random,
        watcher: Watcher,
        pace: Pace,
        valve: Valve,
    ) -> None:
        self.user_id = user_id
        self.client = client
        self.random = random
        self.pace = pace
        self.valve = valve
        self.phase = Phase.IDLE
        self.phase_at = trio.current_time()
        """When it entered this phase, by trio's clock."""
        self.partner_id = ""
        """The partner of its current or last match."""
        self._watcher = watcher
        self._gives_up_at = 0.0
        self._choice: dict[str, str | None] = {}

    async def mingle(self, choose: Choose) -> None:
        """Spin, vote and date until a wait is longer than the bot's patience."""
        await self._spin()
        while True:
            patience = self._gives_up_at if self.phase is Phase.WAITING else float("inf")
            with trio.move_on_at(patience) as waiting:
                event = await self.client.next_event()
            if waiting.cancelled_caught:
                await self._try(self.client.leave())
                return
            self._watcher.saw(self, event)
            await self._react(event, choose)

    async def _react(self, event: Event, choose: Choose) -> None:
        match event.type:
            case "welcome":
                await self._resume(event.snapshot, choose)
            case "waiting":
                if self.phase is not Phase.WAITING:
                    self._wait()
            case "matched":
                if self.phase is Phase.WAITING:
                    self._watcher.paired_after(self, trio.current_time() - self.phase_at)
                await self._acknowledge(event.match_id, event.partner["user_id"])
            case "voting":
                await self._vote(event.match_id, choose)
            case "idle" if event.reason != "date":
                await self._spin()
            case "call":
                await self._answer(event.call_id)
            case "date_started":
                await self._end_date(event.date_id)
            case "date_ended":
                await self._spin()

    async def _resume(self, snapshot: dict[str, Any], choose: Choose) -> None:
        """Continue from a snapshot, after the session was lost to a restart or a long absence."""
        match snapshot:
            case {"date": date}:
                await self._end_date(date["date_id"])
            case {"match": match} if not match["acknowledged"]:
                await self._acknowledge(match["match_id"], match["partner"]["user_id"])
            case {"match": match}:
                self.partner_id = match["partner"]["user_id"]
                voting = snapshot["state"] == "voting"
                self._enter(Phase.VOTING if voting else Phase.MATCHED)
                if voting and not match["voted"]:
                    await self._vote(match["match_id"], choose)
            case {"state": "waiting"}:
                self._wait()
            case _:
                await self._spin()

    async def _spin(self) -> None:
        self._enter(Phase.IDLE)
        await self._pause(self.pace.rest_s)
        self._wait()
        await self._try(self.client.spin())

    def _wait(self) -> None:
        self._enter(Phase.WAITING)
        self._gives_up_at = trio.current_time() + self.random.uniform(*self.pace.patience_s)

    async def _acknowledge(self, match_id: str, partner_id: str) -> None:
        self._enter(Phase.MATCHED)
        self.partner_id = partner_id
        await self._pause(self.pace.acknowledge_s)
        await self._try(self.client.acknowledge(match_id))

    async def _vote(self, match_id: str, choose: Choose) -> None:
        self._enter(Phase.VOTING)
        if match_id not in self._choice:
            # Chosen once: after a restart the server may open the same vote again.
            self._choice = {match_id: choose(self.partner_id)}
        vote = self._choice[match_id]
        if vote is None:
            return
        await self._pause(self.pace.vote_s)
        if await self._try(self.client.vote(match_id, vote)):
            self._watcher.voted(self, match_id, vote)

    async def _answer(self, call_id: str) -> None:
        """Answer a call: mostly yes, sometimes no, and now and then not at all."""
        await self._pause(self.pace.answer_s)
        choice = self.random.random()
        if choice < 0.7:
            await self._try(self.client.accept_call(call_id))
        elif choice < 0.9:
            await self._try(self.client.decline_call(call_id))

    async def _end_date(self, date_id: str) -> None:
        self._enter(Phase.DATE)
        await self._pause(self.pace.date_s)
        await self._try(self.client.end_date(date_id))

    async def _try(self, command: Awaitable[Event]) -> bool:
        try:
            await command
        except CommandRefused as refusal:
            if refusal.code not in TOO_LATE:
                self._watcher.refused(self, refusal)
            return False
        return True

    async def _pause(self, range_s: Range) -> None:
        await trio.sleep(self.random.uniform(*range_s))

    def _enter(self, phase: Phase) -> None:
        if phase is not self.phase:
            self.phase = phase
            self.phase_at = trio.current_time()
