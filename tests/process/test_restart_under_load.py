"""Three restarts under load: nothing that clients were told is lost, and all reconnect.

As with `systemctl restart`: the server drains, exits with 0, and the next one uses the same
directory and port. Clients reconnect after the time that the server told them.
"""

from __future__ import annotations

import logging
import signal
from pathlib import Path

import msgspec
import pytest
import trio

from tests.process.evening import LIVENESS_S, WALLFLOWERS, Evening
from tests.process.server import PATIENCE_S, running_server
from tests.process.witnesses import Books, told_matches

pytestmark = pytest.mark.process

_log = logging.getLogger(__name__)

USERS = 40
RESTARTS = 3
SEED = 20260102
VOTES_S = 2.0
RECONNECT_AFTER_S = 0.5


class Restart(msgspec.Struct):
    """Durations of one restart, in seconds."""

    drained_s: float
    """From the signal to the exit of the process."""
    down_s: float
    """From the exit until the next process was ready."""
    back_s: float
    """From then until most clients had reconnected."""


class Upgrades:
    """Restarts the server again and again."""

    def __init__(self, evening: Evening, copies: Path) -> None:
        self.evening = evening
        self.restarts: list[Restart] = []
        self._copies = copies

    async def restart_again_and_again(self) -> None:
        """Restart the server this many times."""
        for number in range(RESTARTS):
            await self._restart(self._copies / f"stop{number}")
        await self.evening.matches_more(5)

    async def _restart(self, copy: Path) -> None:
        evening, server = self.evening, self.evening.server
        await evening.most_are_here()
        await evening.matches_more(5)
        evening.wallflowers.returned.clear()
        began = trio.current_time()
        server.signal(signal.SIGTERM)
        assert await trio.to_thread.run_sync(server.wait) == 0
        ended = evening.wallflowers.gone_at = trio.current_time()
        log = server.data_dir / "yoked.db-wal"
        assert not log.exists() or log.stat().st_size == 0, "the WAL is checkpointed"
        assert Books(server, copy).problems(evening.witness.accounts) == []
        await trio.to_thread.run_sync(server.start)
        ready = trio.current_time()
        await evening.most_are_here()
        await evening.wallflowers_are_back()
        self.restarts.append(Restart(ended - began, ready - ended, trio.current_time() - ready))


async def test_nothing_is_lost_and_all_clients_reconnect_after_restarts_under_load(tmp_path):
    with running_server(
        tmp_path / "data",
        matching__liveness_s=LIVENESS_S,
        server__drain_votes_s=VOTES_S,
        server__reconnect_after_s=RECONNECT_AFTER_S,
    ) as server:
        evening = Evening(server, users=USERS, seed=SEED)
        upgrades = Upgrades(evening, tmp_path)
        with trio.fail_after(PATIENCE_S):
            await evening.run(upgrades.restart_again_and_again)
        assert await trio.to_thread.run_sync(server.stop) == 0
        books = Books(server, tmp_path / "end")

    witness, wallflowers = evening.witness, evening.wallflowers
    _log.info(
        "%d restarts; %d matches told; %d sessions begun anew; %d places kept; %s;"
        " without a server for %s s",
        *(RESTARTS, len(told_matches(witness)), witness.sessions_lost, evening.places_kept()),
        upgrades.restarts,
        [round(gap_s, 2) for gap_s in wallflowers.gaps_s],
    )
    evening.check(books)
    assert wallflowers.warnings == RESTARTS * WALLFLOWERS, "each got a warning at each restart"
    assert len(wallflowers.gaps_s) == RESTARTS * WALLFLOWERS
