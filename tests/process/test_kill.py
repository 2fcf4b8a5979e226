"""kill -9 at any moment: what was told is there, and everybody takes up where they were (R17-R19).

Bots cycle over real sockets with the real client. The server is killed at moments drawn by a seed,
some of them while it is still greeting those who come back, and started again on the same directory
and port. Witnesses write down everything that the clients were told; in the end that is held
against the SQLite file.
"""

from __future__ import annotations

import logging
from pathlib import Path
from random import Random

import pytest
import trio

from tests.process.evening import LIVENESS_S, Evening
from tests.process.house import open_house
from tests.process.witnesses import Books, told_matches

pytestmark = pytest.mark.process

_log = logging.getLogger(__name__)

USERS = 60
KILLS = 9
SEED = 20260101


class Blackouts:
    """Somebody who pulls the plug."""

    def __init__(self, evening: Evening, copies: Path) -> None:
        self.evening = evening
        self.back_after_s: list[float] = []
        self._copies = copies
        self._random = Random(SEED)

    async def kill_again_and_again(self) -> None:
        """Kill the server so many times, and see that it goes on."""
        for kill in range(KILLS):
            await self._kill(self._copies / f"kill{kill}", is_early=kill % 3 == 1)
        await self.evening.matches_more(10)
        await self._wait_for_returns()

    async def _kill(self, copy: Path, *, is_early: bool) -> None:
        """Kill at any moment; an early kill hits a server that is still greeting its guests."""
        evening = self.evening
        if not is_early:
            await self._wait_for_returns()
            await evening.matches_more(10)
        await trio.sleep(self._random.uniform(0.0, 0.3 if is_early else 1.5))
        evening.house.kill()
        assert Books(evening.house, copy).problems(evening.witness.accounts) == []
        evening.wallflowers.returned.clear()
        await trio.to_thread.run_sync(evening.house.start)

    async def _wait_for_returns(self) -> None:
        took_s = await self.evening.most_are_here()
        if self.evening.house.starts > 1:
            self.back_after_s.append(took_s)
            await self.evening.wallflowers_are_back()


async def test_nothing_told_is_lost_when_the_server_is_killed_again_and_again(tmp_path):
    with open_house(tmp_path / "data", matching__liveness_s=LIVENESS_S) as house:
        evening = Evening(house, users=USERS, seed=SEED)
        blackouts = Blackouts(evening, tmp_path)
        await evening.run(blackouts.kill_again_and_again)
        assert await trio.to_thread.run_sync(house.stop) == 0
        books = Books(house, tmp_path / "end")

    witness = evening.witness
    _log.info(
        "%d kills; %d matches told; %d sessions begun anew; %d places kept; back after %s s",
        *(KILLS, len(told_matches(witness)), witness.sessions_lost, evening.places_kept()),
        [round(seconds, 2) for seconds in blackouts.back_after_s],
    )
    evening.check(books)
    assert sum(len(account.outcomes) for account in witness.accounts.values()) > 50
    assert sum(len(account.votes) for account in witness.accounts.values()) > 50
