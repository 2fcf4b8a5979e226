"""After kill -9 the database has everything that clients were told, and they continue (R17-R19).

Bots meet again and again over real sockets with the real client. The server is killed at random
times (by a seed), some of them while clients reconnect, and restarted on the same directory and
port. Everything that clients were told is recorded, and compared with the SQLite file at the end.
"""

from __future__ import annotations

import logging
from pathlib import Path
from random import Random

import pytest
import trio

from tests.process.evening import LIVENESS_S, Evening
from tests.process.server import running_server
from tests.process.witnesses import Books, told_matches

pytestmark = pytest.mark.process

_log = logging.getLogger(__name__)

USERS = 60
KILLS = 9
SEED = 20260101


class Blackouts:
    """Kills the server again and again."""

    def __init__(self, evening: Evening, copies: Path) -> None:
        self.evening = evening
        self.back_after_s: list[float] = []
        self._copies = copies
        self._random = Random(SEED)

    async def kill_again_and_again(self) -> None:
        """Kill and restart the server this many times."""
        for kill in range(KILLS):
            await self._kill(self._copies / f"kill{kill}", is_early=kill % 3 == 1)
        await self.evening.matches_more(10)
        await self._wait_for_returns()

    async def _kill(self, copy: Path, *, is_early: bool) -> None:
        """Kill at a random time; an early kill hits a server while clients reconnect."""
        evening = self.evening
        if not is_early:
            await self._wait_for_returns()
            await evening.matches_more(10)
        await trio.sleep(self._random.uniform(0.0, 0.3 if is_early else 1.5))
        evening.server.kill()
        assert Books(evening.server, copy).problems(evening.witness.accounts) == []
        evening.wallflowers.returned.clear()
        await trio.to_thread.run_sync(evening.server.start)

    async def _wait_for_returns(self) -> None:
        took_s = await self.evening.most_are_here()
        if self.evening.server.starts > 1:
            self.back_after_s.append(took_s)
            await self.evening.wallflowers_are_back()


async def test_nothing_that_clients_were_told_is_lost_when_the_server_is_killed(tmp_path):
    with running_server(tmp_path / "data", matching__liveness_s=LIVENESS_S) as server:
        evening = Evening(server, users=USERS, seed=SEED)
        blackouts = Blackouts(evening, tmp_path)
        await evening.run(blackouts.kill_again_and_again)
        assert await trio.to_thread.run_sync(server.stop) == 0
        books = Books(server, tmp_path / "end")

    witness = evening.witness
    _log.info(
        "%d kills; %d matches told; %d sessions begun anew; %d places kept; back after %s s",
        *(KILLS, len(told_matches(witness)), witness.sessions_lost, evening.places_kept()),
        [round(seconds, 2) for seconds in blackouts.back_after_s],
    )
    evening.check(books)
    assert sum(len(account.outcomes) for account in witness.accounts.values()) > 50
    assert sum(len(account.votes) for account in witness.accounts.values()) > 50
