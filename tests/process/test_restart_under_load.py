"""SIGTERM and a start, three times, while bots cycle: nothing told is lost, and all come back.

As `systemctl restart` does it: the server drains, ends with 0, and the next one takes over its
directory and port. Clients come back by themselves, after the time that they were told.
"""

from __future__ import annotations

import logging
import signal
from pathlib import Path

import msgspec
import pytest
import trio

from tests.process.evening import LIVENESS_S, WALLFLOWERS, Evening
from tests.process.house import PATIENCE_S, open_house
from tests.process.witnesses import Books, told_matches

pytestmark = pytest.mark.process

_log = logging.getLogger(__name__)

USERS = 40
RESTARTS = 3
SEED = 20260102
VOTES_S = 2.0
RECONNECT_AFTER_S = 0.5


class Restart(msgspec.Struct):
    """How one went, in seconds."""

    drained_s: float
    """From the signal to the end of the process."""
    down_s: float
    """From there until the next one was ready."""
    back_s: float
    """From then until most clients had been welcomed again."""


class Upgrades:
    """An operator who upgrades the server again and again."""

    def __init__(self, evening: Evening, copies: Path) -> None:
        self.evening = evening
        self.restarts: list[Restart] = []
        self._copies = copies

    async def restart_again_and_again(self) -> None:
        """Restart the server so many times, and see that it goes on."""
        for number in range(RESTARTS):
            await self._restart(self._copies / f"stop{number}")
        await self.evening.matches_more(5)

    async def _restart(self, copy: Path) -> None:
        evening, house = self.evening, self.evening.house
        await evening.most_are_here()
        await evening.matches_more(5)
        evening.wallflowers.returned.clear()
        began = trio.current_time()
        house.signal(signal.SIGTERM)
        assert await trio.to_thread.run_sync(house.wait) == 0
        ended = evening.wallflowers.gone_at = trio.current_time()
        log = house.data_dir / "yoked.db-wal"
        assert not log.exists() or log.stat().st_size == 0, "the log is folded into the database"
        assert Books(house, copy).problems(evening.witness.accounts) == []
        await trio.to_thread.run_sync(house.start)
        ready = trio.current_time()
        await evening.most_are_here()
        await evening.wallflowers_are_back()
        self.restarts.append(Restart(ended - began, ready - ended, trio.current_time() - ready))


async def test_nothing_is_lost_and_all_come_back_when_it_is_restarted_under_load(tmp_path):
    with open_house(
        tmp_path / "data",
        matching__liveness_s=LIVENESS_S,
        server__drain_votes_s=VOTES_S,
        server__reconnect_after_s=RECONNECT_AFTER_S,
    ) as house:
        evening = Evening(house, users=USERS, seed=SEED)
        upgrades = Upgrades(evening, tmp_path)
        with trio.fail_after(PATIENCE_S):
            await evening.run(upgrades.restart_again_and_again)
        assert await trio.to_thread.run_sync(house.stop) == 0
        books = Books(house, tmp_path / "end")

    witness, wallflowers = evening.witness, evening.wallflowers
    _log.info(
        "%d restarts; %d matches told; %d sessions begun anew; %d places kept; %s;"
        " without a server for %s s",
        *(RESTARTS, len(told_matches(witness)), witness.sessions_lost, evening.places_kept()),
        upgrades.restarts,
        [round(gap_s, 2) for gap_s in wallflowers.gaps_s],
    )
    evening.check(books)
    assert wallflowers.warnings == RESTARTS * WALLFLOWERS, "each was told, each time"
    assert len(wallflowers.gaps_s) == RESTARTS * WALLFLOWERS
