"""Daily offers: sets, deliveries, answers, connections.

A set that cannot be decoded is logged and left out: the other sets are read all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, timedelta
from threading import Event
from typing import Any

import msgspec

from yoked_actor.domain.lobby import TOMBSTONE
from yoked_actor.domain.offers import (
    Answer,
    Answered,
    Connection,
    Faces,
    KeptSet,
    OfferRules,
    OfferSet,
    UnreadableSet,
)
from yoked_actor.domain.time import MICROSECONDS, Instant
from yoked_actor.store.engine import Turn, Tx, joined, read_rows, statement
from yoked_actor.store.lobby import person_of
from yoked_actor.store.offers.answers import answer_in, connection_of
from yoked_actor.store.offers.errors import NoSuchOffer
from yoked_actor.store.offers.rows import kept_set, unreadable_set
from yoked_actor.store.offers.runs import Runs
from yoked_actor.store.offers.sets import store_sets_in

MOST_SEARCHED = 40
"""An offer is searched in so many of a user's newest sets."""

_LOAD_SETS = statement("offers/load_sets")
_COUNT_DOUBLED = statement("offers/count_doubled")
_UNDELIVERED = joined(_LOAD_SETS, statement("offers/undelivered"))
_OF_ZONE = joined(_LOAD_SETS, "WHERE s.day = ? AND s.zone = ? ORDER BY s.user_id")
_OF_DAY = joined(_LOAD_SETS, "WHERE s.day = ? AND s.user_id = ?")
_NEWEST = joined(_LOAD_SETS, "WHERE s.user_id = ? ORDER BY s.offered_at DESC LIMIT ?")
_RECORD = statement("offers/record_deliveries")
_FACES = statement("offers/faces")
_BLOCKED = statement("offers/blocked")
_LONGEST = 72 * 3600 * MICROSECONDS
"""The longest life of a set: two runs of a zone are never further apart."""


class Offers(Runs):
    """Daily offers. What a write did is durable on return."""

    @property
    def no_transaction(self) -> Event:
        """Not set during a transaction that needs the interpreter lock. For every thread."""
        return self._database.no_transaction

    async def store_sets(
        self, zone: str, sets: Sequence[OfferSet], now: Instant, inputs: str | None = None
    ) -> list[str]:
        """Store sets; returns whose were stored. The first of a user and day stands (R41)."""
        return await self._database.write(lambda tx: store_sets_in(tx, zone, sets, now, inputs))

    async def load_set(self, user_id: str, day: date) -> KeptSet | None:
        """One user's set of one date."""
        found = await self._sets(_OF_DAY, day.isoformat(), user_id)
        return found[0] if found else None

    async def load_sets(self, user_id: str, most: int) -> list[KeptSet]:
        """One user's sets, newest first."""
        return await self._sets(_NEWEST, user_id, most)

    async def load_zone(self, zone: str, day: date) -> list[KeptSet]:
        """All sets of a zone's run that can be decoded, by user id."""
        return await self._database.read_long(
            lambda tx: read_rows(
                tx.execute(_OF_ZONE, (day.isoformat(), zone)), kept_set, "offer_sets"
            )
        )

    async def unreadable_sets(self, zone: str, day: date) -> list[UnreadableSet]:
        """The sets of a zone's run that cannot be decoded, by user id."""

        def find(tx: Tx) -> list[UnreadableSet]:
            sets = tx.execute(_OF_ZONE, (day.isoformat(), zone))
            return [one for row in sets if (one := unreadable_set(row)) is not None]

        return await self._database.read_long(find)

    async def record_delivery(self, user_id: str, day: date, now: Instant) -> None:
        """Record a delivery; the first instant stays, all are counted."""
        await self.record_deliveries([(user_id, day)], now)

    async def undelivered(self, user_ids: Sequence[str], now: Instant) -> list[KeptSet]:
        """The sets of some users that have not expired and were never delivered."""
        wanted = {"users": _json(list(user_ids)), "now": now, "oldest": now - _LONGEST}
        found = await self._database.read(lambda tx: tx.execute(_UNDELIVERED, wanted).fetchall())
        return read_rows(found, kept_set, "offer_sets")

    async def record_deliveries(self, sets: Sequence[tuple[str, date]], now: Instant) -> None:
        """Record deliveries of sets, given as (user, day): all or none."""
        given = {"sets": _json([(day, user_id) for user_id, day in sets]), "now": now}
        await self._database.write(
            lambda tx: tx.execute(_RECORD, given).rowcount, atomic=True, turn=Turn.SHARED
        )

    async def faces(self, pairs: Collection[tuple[str, str]], now: Instant) -> Faces:
        """What is needed to show the second of each pair to the first, without suspended users."""
        users = _json(sorted({user_id for pair in pairs for user_id in pair}))
        wanted = {"users": users, "now": now}
        asked = _json(list(pairs))

        def load(tx: Tx) -> Faces:
            people = read_rows(tx.execute(_FACES, wanted), person_of, "people")
            blocked = frozenset(tx.execute(_BLOCKED, (asked,)))
            return Faces({person.user_id: person for person in people}, blocked)

        return await self._database.read(load)

    async def answer(self, user_id: str, offer_id: str, answer: Answer, now: Instant) -> Answered:
        """Store an answer; the same answer again changes nothing and has the same result.

        Raises `NoSuchOffer`, `OfferExpired` or `AnswerGiven`, and changes nothing then.
        """
        for kept in await self.load_sets(user_id, MOST_SEARCHED):
            ids = kept.offers.ids()
            if offer_id in ids:
                candidate = kept.offers.offers[ids.index(offer_id)].candidate
                break
        else:
            raise NoSuchOffer(f"there is no offer {offer_id} for this user")
        day, expires_at = kept.offers.day, kept.offers.expires_at
        return await self._database.write(
            lambda tx: answer_in(tx, user_id, candidate, day, expires_at, answer, now)
        )

    async def connections(self, user_id: str) -> list[Connection]:
        """A user's connections, oldest first."""
        found = await self._database.read(
            lambda tx: tx.execute(
                "SELECT number, a, b, opened_at, source FROM connections WHERE (a = ?1 OR b = ?1)"
                " AND substr(b, 1, length(?2)) <> ?2 ORDER BY number",
                (user_id, TOMBSTONE),
            ).fetchall()
        )
        return [connection_of(row, user_id) for row in found]

    async def newest_connection(self) -> int:
        """The greatest number of a connection; zero if there is none."""
        rows = await self._database.read(
            lambda tx: tx.execute("SELECT coalesce(max(number), 0) FROM connections").fetchall()
        )
        return int(rows[0][0])

    async def connections_after(self, number: int, *, at_most: int) -> list[tuple[str, Connection]]:
        """Connections with a greater number, in order: one of the two users, and what they see."""
        rows = await self._database.read(
            lambda tx: tx.execute(
                "SELECT number, a, b, opened_at, source FROM connections WHERE number > ?"
                " ORDER BY number LIMIT ?",
                (number, at_most),
            ).fetchall()
        )
        return [(row[1], connection_of(row, row[1])) for row in rows]

    async def count_doubled(self, zone: str, day: date) -> int:
        """How many offers of a run repeat one too soon, by the run's own rules."""

        def count(tx: Tx) -> int:
            row = tx.execute(
                "SELECT rules FROM offer_runs WHERE day = ? AND zone = ?", (day.isoformat(), zone)
            ).fetchone()
            if row is None:
                return 0
            back = msgspec.json.decode(row[0], type=OfferRules).not_again_days
            days = [(day - timedelta(days=n)).isoformat() for n in range(back + 1)]
            asked = {"days": _json(days), "day": day.isoformat(), "zone": zone}
            (found,) = tx.execute(_COUNT_DOUBLED, asked).fetchone()
            return int(found)

        return await self._database.read_long(count)

    async def _sets(self, query: str, *parameters: str | int) -> list[KeptSet]:
        found = await self._database.read(lambda tx: tx.execute(query, parameters).fetchall())
        return read_rows(found, kept_set, "offer_sets")


def _json(values: list[Any]) -> str:
    return msgspec.json.encode(values).decode()
