"""kill -9 at any moment: what was told is there, and everybody takes up where they were (R17-R19).

Bots cycle over real sockets with the real client. The server is killed at moments drawn by a seed,
some of them while it is still greeting those who come back, and started again on the same directory
and port. Witnesses write down everything that the clients were told; in the end that is held
against the SQLite file.
"""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path
from random import Random

import pytest
import trio

from tests.process.house import House, open_house
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
from yoked_actor.domain.instants import from_datetime

pytestmark = pytest.mark.process

_log = logging.getLogger(__name__)

USERS = 60
KILLS = 9
WALLFLOWERS = 5
SEED = 20260101
# Silence of a client on a busy machine must not be taken for its loss.
LIVENESS_S = 60


class Evening:
    """A server, its guests, and somebody who pulls the plug."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.witness = Witness()
        self.wallflowers = Wallflowers()
        self.back_after_s: list[float] = []
        self._random = Random(SEED)

    async def run(self, copies: Path) -> None:
        """Let everybody come, kill the server so many times, and see that it goes on."""
        witness = self.witness
        crowd = Crowd(
            self.house.url,
            users=USERS,
            persona="mix",
            seed=SEED,
            ramp=100,
            pace=FAST,
            tally=witness,
            people=somebody,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crowd.run)
            async with trio.open_nursery() as sidelines:
                for number in range(WALLFLOWERS):
                    name = f"wallflower{number}"
                    sidelines.start_soon(self.wallflowers.wait_for_ever, name, self.house.url)
                await until(self.house, self._all_wallflowers_wait, "wallflowers wait")
                for kill in range(KILLS):
                    await self._kill(copies / f"kill{kill}", is_early=kill % 3 == 1)
                await self._wait_for_matches()
                await self._wait_for_returns()
                sidelines.cancel_scope.cancel()
            for bot in witness.bots.values():
                for event in bot.client.pending_events():
                    witness.heard(bot, event)
            crowd.stop()

    async def _kill(self, copy: Path, *, is_early: bool) -> None:
        """Kill at any moment; an early kill hits a server that is still greeting its guests."""
        if not is_early:
            await self._wait_for_returns()
            await self._wait_for_matches()
        await trio.sleep(self._random.uniform(0.0, 0.3 if is_early else 1.5))
        self.house.kill()
        assert Books(self.house, copy).problems(self.witness.accounts) == []
        self.wallflowers.returned.clear()
        await trio.to_thread.run_sync(self.house.start)

    async def _wait_for_matches(self) -> None:
        enough = self.witness.matches + 10
        await until(self.house, lambda: self.witness.matches >= enough, "ten matches more")

    async def _wait_for_returns(self) -> None:
        took_s = await until(self.house, self._most_are_here, "most are here")
        if self.house.starts > 1:
            self.back_after_s.append(took_s)
            await until(self.house, self._all_wallflowers_returned, "wallflowers are back")

    def _most_are_here(self) -> bool:
        # Those who drop on purpose may be away for a while.
        return self.witness.connected >= 0.8 * USERS

    def _all_wallflowers_wait(self) -> bool:
        return len(self.wallflowers.since) == WALLFLOWERS

    def _all_wallflowers_returned(self) -> bool:
        return len(self.wallflowers.returned) == WALLFLOWERS


async def test_nothing_told_is_lost_when_the_server_is_killed_again_and_again(tmp_path):
    with open_house(tmp_path / "data", matching__liveness_s=LIVENESS_S) as house:
        evening = Evening(house)
        await evening.run(tmp_path)
        assert await trio.to_thread.run_sync(house.stop) == 0
        books = Books(house, tmp_path / "end")

    witness, wallflowers = evening.witness, evening.wallflowers
    told = told_matches(witness)
    _log.info(
        "%d kills; %d matches told; %d sessions begun anew; %d places kept; back after %s s",
        *(KILLS, len(told), witness.sessions_lost, witness.places_kept + wallflowers.returns),
        [round(seconds, 2) for seconds in evening.back_after_s],
    )
    assert witness.errors == {}
    assert witness.objections == []
    assert wallflowers.objections == []
    assert books.problems(witness.accounts) == []
    assert len({match_id for match_id, _ in told}) == len(told), "partners are symmetric"
    for user_id, since in wallflowers.since.items():
        assert books.seats[user_id][:2] == ["waiting", from_datetime(datetime.fromisoformat(since))]
    assert witness.sessions_lost >= USERS, "they have seen the restarts"
    assert sum(len(account.outcomes) for account in witness.accounts.values()) > 50
    assert sum(len(account.votes) for account in witness.accounts.values()) > 50
