"""Warnings to users, and the cards of the people in reports."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

import msgspec

from yoked_actor.domain.people import MatchFacts, NamedCard, UserWarning
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Database, Row, StoreError, Tx, read_rows, record_in, statement
from yoked_actor.store.ops.reviews import close_report_in

_UNSEEN = statement("ops/warnings_unseen")
_CARDS = statement("ops/cards")


class TooManyWarnings(StoreError):
    """The user has not seen earlier warnings yet; nothing was stored."""


class NoSuchWarning(StoreError):
    """The user has no warning with this number."""


class Moderation:
    """Warnings. Every change is recorded in the audit, in the same transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def warn(
        self,
        user_id: str,
        by: str,
        text: str,
        now: Instant,
        *,
        most_unseen: int,
        report: int | None = None,
    ) -> UserWarning:
        """Store a warning; with `report`, close that report too.

        Raises `TooManyWarnings`, or `NothingToDo` when the report is not open.
        """

        def apply(tx: Tx) -> UserWarning:
            (unseen,) = tx.execute(
                "SELECT count(*) FROM warnings WHERE user_id = ? AND seen_at IS NULL", (user_id,)
            ).fetchone()
            if unseen >= most_unseen:
                raise TooManyWarnings(f"{user_id} has {unseen} warnings that were not seen yet")
            (number,) = tx.execute(
                "INSERT INTO warnings (user_id, at, by, text) VALUES (?, ?, ?, ?) RETURNING number",
                (user_id, now, by, text),
            ).fetchone()
            record_in(tx, by, "warn", user_id, text, now)
            if report is not None:
                close_report_in(tx, report, by, f"warned: {text}", now)
            return UserWarning(number, user_id, now, by, text)

        return await self._database.write(apply)

    async def unseen(self, user_ids: Iterable[str]) -> list[UserWarning]:
        """The warnings that these users have not seen, oldest first."""
        given = msgspec.json.encode(list(user_ids)).decode()
        rows = await self._database.read(lambda tx: tx.execute(_UNSEEN, (given,)).fetchall())
        return [UserWarning(*row) for row in rows]

    async def warned(self, user_id: str, limit: int) -> list[UserWarning]:
        """The warnings of a user, newest first."""
        query = (
            "SELECT number, user_id, at, by, text, seen_at FROM warnings"
            " WHERE user_id = ? ORDER BY number DESC LIMIT ?"
        )
        rows = await self._database.read(lambda tx: tx.execute(query, (user_id, limit)).fetchall())
        return [UserWarning(*row) for row in rows]

    async def users_with_unseen(self) -> set[str]:
        """The users who have warnings that they have not seen."""
        query = "SELECT DISTINCT user_id FROM warnings WHERE seen_at IS NULL"
        rows = await self._database.read(lambda tx: tx.execute(query).fetchall())
        return {user_id for (user_id,) in rows}

    async def see(self, user_id: str, number: int, now: Instant) -> None:
        """A user has seen a warning; `NoSuchWarning`. The second time changes nothing."""

        def apply(tx: Tx) -> None:
            found = tx.execute(
                "UPDATE warnings SET seen_at = coalesce(seen_at, ?)"
                " WHERE number = ? AND user_id = ?",
                (now, number, user_id),
            ).rowcount
            if not found:
                raise NoSuchWarning(f"you have no warning w{number}")

        await self._database.write(apply)

    async def cards(self, user_ids: Iterable[str]) -> dict[str, NamedCard]:
        """The cards of users who have a profile, by id."""
        given = msgspec.json.encode(sorted(set(user_ids))).decode()
        rows = await self._database.read(lambda tx: tx.execute(_CARDS, (given,)).fetchall())
        return {card.user_id: card for card in read_rows(rows, _card, "people")}

    async def match_facts(self, number: int) -> MatchFacts | None:
        """A match, open or ended, and why it was made; None when there is none."""
        query = (
            "SELECT m.number, m.a, m.b, m.status, m.paired_at, m.ended_at, m.outcome,"
            " m.cancelled_for, q.policy, q.preference_match, q.a_tier, q.b_tier, q.a_wait_s,"
            " q.b_wait_s, q.a_group, q.b_group, q.shown_km FROM matches AS m"
            " LEFT JOIN quality AS q ON q.match_number = m.number WHERE m.number = ?"
        )
        row = await self._database.read(lambda tx: tx.execute(query, (number,)).fetchone())
        return None if row is None else MatchFacts(*row)


def _card(row: Row) -> NamedCard:
    user_id, name, birth_date, gender, interests = row
    decoded: Any = msgspec.json.decode(interests, type=tuple[str, ...])
    return NamedCard(user_id, name, date.fromisoformat(birth_date), gender, decoded)
