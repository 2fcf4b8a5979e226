"""Both doors: a person sends a command over the socket, or over HTTP, and sometimes twice."""

from __future__ import annotations

from random import Random
from typing import Any

from yoked_actor.simulation.people.api import Api
from yoked_actor.simulation.people.company import Company
from yoked_actor.simulation.people.profiles import Habits
from yoked_actor.simulation.people.visit import Visit


class TwoDoors(Visit):
    """A person with habits."""

    def __init__(
        self, company: Company, user_id: str, random: Random, habits: Habits, ends_s: float
    ) -> None:
        super().__init__(company, user_id, random, ends_s)
        self.habits = habits
        self.api = Api(company, user_id)

    def happens(self, share: float) -> bool:
        """Whether something that happens in this share of all cases happens now."""
        return self.random.random() < share

    async def command(self, kind: str, path: str, body: dict[str, Any]) -> None:
        """Send a command over the socket, or over HTTP."""
        if not self.happens(self.habits.by_http):
            await self.say_perhaps_twice(kind, **body)
            return
        command = {"type": kind, **body}
        self.company.replies.sending(self.user_id, command)
        if kind == "acknowledge" and self.account.match_id == body["match_id"]:
            self.account.acknowledged = True  # what it causes may be told before the answer
        assert self._nursery is not None
        self._nursery.start_soon(self._call, command, path, body)

    async def say_perhaps_twice(self, kind: str, **fields: Any) -> None:
        """Send a command over the socket, sometimes twice."""
        say = self.say_twice if self.happens(self.habits.repeats) else self.say
        await say(kind, **fields)

    async def _call(self, command: dict[str, Any], path: str, body: dict[str, Any]) -> None:
        is_entering = command["type"] == "enter_room"
        self.account.entering += is_entering
        try:
            answer = await self.api.call("POST", path, body, tries=1)
        finally:
            self.account.entering -= is_entering
        if answer is not None and answer.code != "suspended":
            reply: dict[str, Any] = {"type": "ok", **(answer.body or {})}
            if answer.status >= 400:
                reply = {"type": "error", "code": answer.code}
            self.company.replies.replied(self.user_id, command, reply)
