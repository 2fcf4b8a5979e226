"""Privacy: exports, preparing an erasure, deleting old rows.

An export and the search for traces read long tables. Both run on a connection of their own, one at
a time.
"""

from __future__ import annotations

from contextlib import suppress

import trio

from yoked_actor.domain.people import PersonalData
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Database, StoreUnavailable, prune_oldest
from yoked_actor.store.people.erasure import Traces, find_traces
from yoked_actor.store.people.export import export_in

_WIPE_WAIT_S = 30.0
_MB = 1_000_000
_PRUNED = {
    "reports": ("number", "at"),
    "warnings": ("number", "at"),
    "quality": ("match_number", "paired_at"),
    "audit": ("number", "at"),
    "suspended": ("user_id", "until"),
}
"""The tables that `prune` knows: their key, and when a row ended."""


class Privacy:
    """Exports, erasures and the deletion of old rows."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = trio.Lock()
        self._traces: dict[str, Traces] = {}

    async def export(self, user_id: str, now: Instant) -> PersonalData:
        """All that is stored about one person, in one snapshot."""
        async with self._turn:
            return await self._database.read_long(lambda tx: export_in(tx, user_id, now))

    async def look_up(self, user_id: str, now: Instant) -> None:
        """Prepare the erasure of a user, so that its transaction is short."""
        async with self._turn:
            self._traces[user_id] = await self._database.read_long(
                lambda tx: find_traces(tx, user_id, now)
            )

    def found(self, user_id: str) -> Traces | None:
        """What `look_up` found."""
        return self._traces.get(user_id)

    def forget(self, user_id: str) -> None:
        """Drop what `look_up` found: the user was erased."""
        self._traces.pop(user_id, None)

    async def wipe(self) -> bool:
        """Truncate the write-ahead log, which holds what was deleted; returns whether it was done.

        Waits up to 30 seconds for readers: a reader prevents the truncation.
        """
        with trio.move_on_after(_WIPE_WAIT_S):
            while True:
                with suppress(StoreUnavailable):
                    if await self._database.truncate_log():
                        return True
                await trio.sleep(0.1)
        return False

    async def clear_free_space(self, user_id: str, most_mb: int) -> bool:
        """Overwrite the copies of an erased user's rows that the engine left in free space.

        For that a small database is rewritten. Returns False if one that is larger than `most_mb`
        has such a copy; it stays. Raises `StoreUnavailable`. Call `wipe` before it.
        """
        if not await self._database.clear_free_space(user_id, most_mb * _MB):
            return False
        await self.wipe()
        return True

    async def prune(self, table: str, before: Instant, limit: int) -> int:
        """Delete up to `limit` rows of a table that ended before an instant; returns how many."""
        key, at = _PRUNED[table]
        return await self._database.write(
            lambda tx: prune_oldest(tx, table, key, at, before, limit), atomic=True
        )
