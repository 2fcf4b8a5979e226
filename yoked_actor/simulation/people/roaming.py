"""Rooms: a person names one in the hello, goes to another one now and then, and guesses codes."""

from __future__ import annotations

from random import Random
from typing import Any

from yoked_actor.simulation.people.company import Company
from yoked_actor.simulation.people.dating import Dating
from yoked_actor.simulation.people.profiles import Habits
from yoked_actor.simulation.rooms import CODE, MAIN, WRONG_CODES

_LOOK_AFTER_S = 4.0
"""When to look whether somebody still waits in a room that has closed."""


class Roaming(Dating):
    """A person who goes from room to room."""

    def __init__(
        self,
        company: Company,
        user_id: str,
        random: Random,
        habits: Habits,
        ends_s: float,
        room: str | None,
    ) -> None:
        super().__init__(company, user_id, random, habits, ends_s)
        self._first_room = room

    def room_of_hello(self) -> dict[str, Any]:
        """The room that the first hello of the evening names; later ones name none."""
        room, self._first_room = self._first_room, None
        return {} if room is None else self._asking_for(room)

    def _asking_for(self, room: str) -> dict[str, Any]:
        poster = self.company.rooms.posters.get(room)
        if poster is None or poster.code is None or self.happens(0.05):
            return {"room": room}
        return {"room": room, "code": "let-me-in" if self.happens(0.2) else CODE}

    async def roam(self) -> None:
        """Go somewhere else, perhaps after a look at the list of rooms."""
        if self.happens(0.2):
            assert self._nursery is not None
            self._nursery.start_soon(self._read_list)
        rooms = (MAIN, *sorted(self.company.rooms.posters))
        room = "attic" if self.happens(0.03) else self.random.choice(rooms)
        await self._enter(self._asking_for(room))

    async def _read_list(self) -> None:
        answer = await self.api.call("GET", "/api/rooms", tries=1)
        if answer is not None and answer.status == 200:
            self.company.rooms.listed(self.user_id, answer.body["rooms"])

    async def go_home(self) -> None:
        """Go back to `main`, where everybody is."""
        await self._enter({"room": MAIN})

    async def _enter(self, asked: dict[str, Any]) -> None:
        if self.account.state == "idle" or self.happens(0.1):
            await self.command("enter_room", f"/api/rooms/{asked['room']}/enter", asked)

    async def on_reply(self, command: dict[str, Any], reply: dict[str, Any]) -> None:
        """A person whose code was wrong may try the next one, again and again."""
        await super().on_reply(command, reply)
        if command["type"] == "enter_room" and reply.get("code") == "wrong_code":
            if self.happens(0.15):
                for number in range(WRONG_CODES + 1):
                    guess = {"room": command["room"], "code": f"guess-{number}"}
                    await self.say("enter_room", **guess)

    def look_when_closed(self) -> None:
        """Look, soon after the room has closed, whether this person still waits in it."""
        closes_in_s = self.company.rooms.closes_in_s(self.account.room)
        if closes_in_s is not None and closes_in_s < 600.0:
            self.soon(closes_in_s + _LOOK_AFTER_S, self._look_closed)

    async def _look_closed(self) -> None:
        self.company.rooms.check_waiting(self.user_id)
