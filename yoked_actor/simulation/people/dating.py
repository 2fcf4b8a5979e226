"""Video dates and calls: talking, hanging up, calling a connection, staying in touch."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from yoked_actor.simulation.people.company import Company
from yoked_actor.simulation.people.doors import TwoDoors
from yoked_actor.simulation.people.profiles import Habits


class Dating(TwoDoors):
    """A person who talks with others."""

    def __init__(
        self, company: Company, user_id: str, random: Random, habits: Habits, ends_s: float
    ) -> None:
        super().__init__(company, user_id, random, habits, ends_s)
        self.has_called = False
        """Whether the person has called a connection this evening."""

    def talk(self, date_id: str) -> None:
        """Talk for a while; a date must be over when its time is."""
        for at_s in (0.5, 1.0):
            self.soon(at_s, partial(self._signal, date_id))
        length_s = self.random.choice((8.0, 20.0, 45.0, 400.0))
        self.soon(length_s, partial(self._hang_up, date_id))

        async def look() -> None:
            if self.account.date_id == date_id and self.is_connected:
                if self.company.weather.is_steady(300.0):
                    text = f"{self.user_id} is still on {date_id} after its end"
                    self.company.bench.report("overdue", text, self.user_id)

        self.soon(306.0, look)

    async def _signal(self, date_id: str) -> None:
        if self.account.date_id == date_id:
            await self.say_perhaps_twice("signal", date_id=date_id, data={"candidate": "udp"})

    async def _hang_up(self, date_id: str) -> None:
        if self.account.date_id == date_id:
            await self.say_perhaps_twice("end_date", date_id=date_id)

    def after_date(self, event: dict[str, Any]) -> None:
        """Say whether to stay in touch; a second answer must be refused if it is another one."""
        date_id = event["date_id"]
        if "touch_until" not in event or self.happens(0.2):
            return
        answers = ["yes" if self.happens(self.habits.accepts) else "no"]
        if self.happens(self.habits.repeats):
            answers.append(self.random.choice(("yes", "no")))
        for answer in answers:
            body = {"date_id": date_id, "answer": answer}
            self.soon(self.random.uniform(0.5, 20), partial(self._stay_in_touch, body))

    async def _stay_in_touch(self, body: dict[str, Any]) -> None:
        path = f"/api/dates/{body['date_id']}/stay_in_touch"
        await self.command("stay_in_touch", path, body)

    async def call_connection(self) -> None:
        """Call somebody, and stop to ring now and then."""
        self.has_called = True
        if self.account.connections:
            connection_id = self.random.choice(sorted(self.account.connections))
            await self.say("start_date", connection_id=connection_id)

    async def on_reply(self, command: dict[str, Any], reply: dict[str, Any]) -> None:
        """A call that rings can be stopped."""
        await super().on_reply(command, reply)
        if command["type"] == "start_date" and reply["type"] == "ok" and self.happens(0.25):
            call_id = reply["call_id"]
            self.soon(self.random.uniform(0.5, 8), partial(self._cancel_call, call_id))

    async def _cancel_call(self, call_id: str) -> None:
        await self.command("cancel_call", f"/api/calls/{call_id}/cancel", {"call_id": call_id})

    def ring(self, call_id: str) -> None:
        """A connection calls: accept, decline, or let it ring."""
        choice = self.random.choice(("accept", "accept", "decline", None))
        if choice is not None:
            path, body = f"/api/calls/{call_id}/{choice}", {"call_id": call_id}
            self.soon(
                self.random.uniform(1, 12), partial(self.command, f"{choice}_call", path, body)
            )
