"""An evening of bots at a real server, which a test disturbs as it likes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import trio

from tests.process.house import House
from tests.process.witnesses import (
    FAST,
    Books,
    Wallflowers,
    Witness,
    somebody,
    told_matches,
    until,
)
from yoked_actor.bots import Crowd
from yoked_actor.domain.time import from_datetime

WALLFLOWERS = 5
# Silence of a client on a busy machine must not be taken for its loss.
LIVENESS_S = 60


class Evening:
    """A server and its guests: those who cycle, and some for whom nobody comes."""

    def __init__(self, house: House, *, users: int, seed: int) -> None:
        self.house = house
        self.users = users
        self.witness = Witness()
        self.wallflowers = Wallflowers()
        self._seed = seed

    async def run(self, disturb: Callable[[], Awaitable[None]]) -> None:
        """Let everybody come and cycle until `disturb` has done its work."""
        crowd = Crowd(
            self.house.url,
            users=self.users,
            persona="mix",
            seed=self._seed,
            ramp=100,
            pace=FAST,
            tally=self.witness,
            people=somebody,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crowd.run)
            async with trio.open_nursery() as sidelines:
                for number in range(WALLFLOWERS):
                    name = f"wallflower{number}"
                    sidelines.start_soon(self.wallflowers.wait_for_ever, name, self.house.url)
                await until(self.house, self._all_wallflowers_wait, "wallflowers wait")
                await disturb()
                sidelines.cancel_scope.cancel()
            for bot in self.witness.bots.values():
                for event in bot.client.pending_events():
                    self.witness.heard(bot, event)
            crowd.stop()

    async def matches_more(self, count: int) -> None:
        """Wait for so many matches more."""
        enough = self.witness.matches + count
        await until(self.house, lambda: self.witness.matches >= enough, f"{count} matches more")

    async def most_are_here(self) -> float:
        """Wait until hardly anybody is missing; returns how long that took."""
        # Those who drop on purpose may be away for a while.
        enough = 0.8 * self.users
        return await until(
            self.house, lambda: self.witness.connected >= enough, "most people are here"
        )

    async def wallflowers_are_back(self) -> None:
        """Wait for the return of all who only wait."""
        await until(self.house, self._all_wallflowers_returned, "wallflowers are back")

    def places_kept(self) -> int:
        """How often somebody who waited came back to their place."""
        return self.witness.places_kept + self.wallflowers.returns

    def check(self, books: Books) -> None:
        """Whatever was told to anybody stands in the books, and everybody has their place."""
        witness, told = self.witness, told_matches(self.witness)
        assert witness.errors == {}, witness.first_error
        assert witness.objections == []
        assert self.wallflowers.objections == []
        assert books.problems(witness.accounts) == []
        assert len({match_id for match_id, _ in told}) == len(told), "partners are symmetric"
        for user_id, since in self.wallflowers.since.items():
            waits_since = from_datetime(datetime.fromisoformat(since))
            assert books.seats[user_id][:2] == ["waiting", waits_since]
        assert witness.sessions_lost >= self.users, "they have seen the restarts"

    def _all_wallflowers_wait(self) -> bool:
        return len(self.wallflowers.since) == WALLFLOWERS

    def _all_wallflowers_returned(self) -> bool:
        return len(self.wallflowers.returned) == WALLFLOWERS
