"""Bots on a real server, which a test kills or restarts meanwhile."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import trio

from tests.process.server import ServerProcess
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
# Long: clients on a busy machine may be slow, and must not count as lost.
LIVENESS_S = 60


class Evening:
    """A server, bots that meet again and again, and wallflowers whom nobody is looking for."""

    def __init__(self, server: ServerProcess, *, users: int, seed: int) -> None:
        self.server = server
        self.users = users
        self.witness = Witness()
        self.wallflowers = Wallflowers()
        self._seed = seed

    async def run(self, disturb: Callable[[], Awaitable[None]]) -> None:
        """Run the bots until `disturb` returns."""
        crowd = Crowd(
            self.server.url,
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
                    sidelines.start_soon(self.wallflowers.keep_waiting, name, self.server.url)
                await until(self.server, self._all_wallflowers_wait, "wallflowers wait")
                await disturb()
                sidelines.cancel_scope.cancel()
            for bot in self.witness.bots.values():
                for event in bot.client.pending_events():
                    self.witness.saw(bot, event)
            crowd.stop()

    async def matches_more(self, count: int) -> None:
        """Wait for this many more matches."""
        enough = self.witness.matches + count
        await until(self.server, lambda: self.witness.matches >= enough, f"{count} matches more")

    async def most_are_here(self) -> float:
        """Wait until most bots are connected; returns how long that took."""
        # Some bots disconnect on purpose, and stay away for a while.
        enough = 0.8 * self.users
        return await until(
            self.server, lambda: self.witness.connected >= enough, "most people are here"
        )

    async def wallflowers_are_back(self) -> None:
        """Wait until all wallflowers have reconnected."""
        await until(self.server, self._all_wallflowers_returned, "wallflowers are back")

    def places_kept(self) -> int:
        """How often a waiting user reconnected and had the same place in line."""
        return self.witness.places_kept + self.wallflowers.returns

    def check(self, books: Books) -> None:
        """Compare the database with what clients were told, and with the places in line."""
        witness, told = self.witness, told_matches(self.witness)
        assert witness.errors == {}, witness.first_error
        assert witness.objections == []
        assert self.wallflowers.objections == []
        assert books.problems(witness.accounts) == []
        assert len({match_id for match_id, _ in told}) == len(told), "partners are symmetric"
        for user_id, since in self.wallflowers.since.items():
            waits_since = from_datetime(datetime.fromisoformat(since))
            assert books.seats[user_id][:2] == ["waiting", waits_since]
        assert witness.sessions_lost >= self.users, "clients have seen the restarts"

    def _all_wallflowers_wait(self) -> bool:
        return len(self.wallflowers.since) == WALLFLOWERS

    def _all_wallflowers_returned(self) -> bool:
        return len(self.wallflowers.returned) == WALLFLOWERS
