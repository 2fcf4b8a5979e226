"""The sets of a run in parts: made by one worker, read by all (ADR 0025).

A part has the sets of some hundred users with adjacent ids, which is what a worker claims together.
It names users, so it goes with the pool of its run: when a user of it is erased, when the run is
frozen again, and after the morning.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import msgspec

from yoked_actor.store.engine import Database, Turn, Tx, statement
from yoked_actor.store.offers.sets import PreparedSet

SETS_IN_A_PART = 500
_COMPRESSION_LEVEL = 1
_ADD = statement("offers/add_part")
_LOAD = statement("offers/load_part")

_decode = msgspec.msgpack.Decoder(list[PreparedSet]).decode


class RunPart(msgspec.Struct, frozen=True):
    """Sets of users with adjacent ids, encoded."""

    first_user: str
    content: bytes


def parts_of(sets: Sequence[PreparedSet]) -> Iterator[RunPart]:
    """The sets of a run, in the order of user ids, as parts."""
    for first in range(0, len(sets), SETS_IN_A_PART):
        some = sets[first : first + SETS_IN_A_PART]
        content = zlib.compress(msgspec.msgpack.encode(some), _COMPRESSION_LEVEL)
        yield RunPart(some[0].user_id, content)


def drop_parts_in(tx: Tx, day: str, zone: str) -> None:
    """Delete the parts of a run."""
    tx.execute("DELETE FROM offer_parts WHERE day = ? AND zone = ?", (day, zone))


class Parts:
    """The parts of runs: a part of `Offers`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep_part(self, zone: str, day: date, inputs: str, part: RunPart) -> bool:
        """Store a part; False when the run is not made from these inputs any more."""
        row = (day.isoformat(), zone, inputs, part.first_user, part.content)
        kept = await self._database.write(
            lambda tx: tx.execute(_ADD, row).rowcount,
            atomic=True,
            can_wait=True,
            turn=Turn.SHARED,
        )
        return bool(kept)

    async def load_part(
        self, zone: str, day: date, user_id: str
    ) -> Mapping[str, PreparedSet] | None:
        """The part in which a user's set would be, by user id; None when there is none.

        A part that cannot be decoded counts as none: the run can be made again.
        """

        def load(tx: Tx) -> Mapping[str, PreparedSet] | None:
            row = tx.execute(_LOAD, (day.isoformat(), zone, user_id)).fetchone()
            if row is None:
                return None
            try:
                found = _decode(zlib.decompress(row[0]))
            except (zlib.error, msgspec.MsgspecError):
                return None
            return {one.user_id: one for one in found}

        return await self._database.read(load)

    async def drop_parts(self, zone: str, day: date) -> None:
        """Delete the parts of a run: its morning is over."""
        await self._database.write(lambda tx: drop_parts_in(tx, day.isoformat(), zone), atomic=True)
