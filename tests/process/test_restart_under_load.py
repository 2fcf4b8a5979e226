"""SIGTERM and a start, three times, while bots cycle: nothing told is lost, and all come back.

As `systemctl restart` does it: the server drains, ends with 0, and the next one takes over its
directory and port. Clients come back by themselves, after the time that they were told.
"""

from __future__ import annotations

import logging
import signal
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
import trio

from tests.process.house import PATIENCE_S, House, open_house
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

USERS = 40
WALLFLOWERS = 5
RESTARTS = 3
SEED = 20260102
VOTES_S = 2.0
RECONNECT_AFTER_S = 0.5
# Silence of a client on a busy machine must not be taken for its loss.
LIVENESS_S = 60


class Restart(msgspec.Struct):
    """How one went, in seconds."""

    drained_s: float
    """From the signal to the end of the process."""
    down_s: float
    """From there until the next one was ready."""
    back_s: float
    """From then until most clients had been welcomed again."""


class Evening:
    """A server, its guests, and an operator who upgrades it again and again."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.witness = Witness()
        self.wallflowers = Wallflowers()
        self.restarts: list[Restart] = []

    async def run(self, copies: Path) -> None:
        crowd = Crowd(
            self.house.url,
            users=USERS,
            persona="mix",
            seed=SEED,
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
                for number in range(RESTARTS):
                    await self._restart(copies / f"stop{number}")
                await self._wait_for_matches()
                sidelines.cancel_scope.cancel()
            for bot in self.witness.bots.values():
                for event in bot.client.pending_events():
                    self.witness.heard(bot, event)
            crowd.stop()

    async def _restart(self, copy: Path) -> None:
        await until(self.house, self._most_are_here, "most are here")
        await self._wait_for_matches()
        self.wallflowers.returned.clear()
        began = trio.current_time()
        self.house.signal(signal.SIGTERM)
        assert await trio.to_thread.run_sync(self.house.wait) == 0
        ended = self.wallflowers.gone_at = trio.current_time()
        log = self.house.data_dir / "yoked.db-wal"
        assert not log.exists() or log.stat().st_size == 0, "the log is folded into the database"
        assert Books(self.house, copy).problems(self.witness.accounts) == []
        await trio.to_thread.run_sync(self.house.start)
        ready = trio.current_time()
        await until(self.house, self._most_are_here, "most are back")
        await until(self.house, self._all_wallflowers_returned, "wallflowers are back")
        self.restarts.append(Restart(ended - began, ready - ended, trio.current_time() - ready))

    async def _wait_for_matches(self) -> None:
        enough = self.witness.matches + 5
        await until(self.house, lambda: self.witness.matches >= enough, "five matches more")

    def _most_are_here(self) -> bool:
        # Those who drop on purpose may be away for a while.
        return self.witness.connected >= 0.8 * USERS

    def _all_wallflowers_wait(self) -> bool:
        return len(self.wallflowers.since) == WALLFLOWERS

    def _all_wallflowers_returned(self) -> bool:
        return len(self.wallflowers.returned) == WALLFLOWERS


async def test_nothing_is_lost_and_all_come_back_when_it_is_restarted_under_load(tmp_path):
    with open_house(
        tmp_path / "data",
        matching__liveness_s=LIVENESS_S,
        server__drain_votes_s=VOTES_S,
        server__reconnect_after_s=RECONNECT_AFTER_S,
    ) as house:
        evening = Evening(house)
        with trio.fail_after(PATIENCE_S):
            await evening.run(tmp_path)
        assert await trio.to_thread.run_sync(house.stop) == 0
        books = Books(house, tmp_path / "end")

    witness, wallflowers = evening.witness, evening.wallflowers
    told = told_matches(witness)
    _log.info(
        "%d restarts; %d matches told; %d sessions begun anew; %d places kept; %s;"
        " without a server for %s s",
        *(RESTARTS, len(told), witness.sessions_lost, witness.places_kept + wallflowers.returns),
        evening.restarts,
        [round(gap_s, 2) for gap_s in wallflowers.gaps_s],
    )
    assert witness.errors == {}, witness.first_error
    assert witness.objections == []
    assert wallflowers.objections == []
    assert books.problems(witness.accounts) == []
    assert len({match_id for match_id, _ in told}) == len(told), "partners are symmetric"
    for user_id, since in wallflowers.since.items():
        assert books.seats[user_id][:2] == ["waiting", from_datetime(datetime.fromisoformat(since))]
    assert wallflowers.warnings == RESTARTS * WALLFLOWERS, "each was told, each time"
    assert len(wallflowers.gaps_s) == RESTARTS * WALLFLOWERS
    assert witness.sessions_lost >= USERS, "they have seen the restarts"
