"""Recently met users, and the answers to "stay in touch?" (R25, R26)."""

from __future__ import annotations

from yoked_actor.domain.contacts import Meeting, Touch, Touched, TouchWindow
from yoked_actor.domain.lobby import TOMBSTONE, Outcome
from yoked_actor.domain.time import Instant
from yoked_actor.store.contacts.touch import answer_in
from yoked_actor.store.engine import Database, Row, read_rows, statement

_MET = statement("contacts/met")


class Contacts:
    """Meetings and what follows from them. What a write did is durable on return."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def met(self, user_id: str, since: Instant, most: int) -> list[Meeting]:
        """Whom a user has met since an instant, newest first, without blocked and erased users."""
        asked = {"user": user_id, "since": since, "most": most, "erased": TOMBSTONE}
        rows = await self._database.read(lambda tx: tx.execute(_MET, asked).fetchall())
        return read_rows(rows, _meeting_of, "matches")

    async def stay_in_touch(
        self, user_id: str, date_id: str, answer: Touch, window: TouchWindow, now: Instant
    ) -> Touched:
        """Store an answer; the same answer again changes nothing and has the same result.

        Raises `NoSuchDate`, `TouchClosed` or `TouchGiven`, and changes nothing then.
        """
        return await self._database.write(
            lambda tx: answer_in(tx, user_id, date_id, answer, window, now)
        )


def _meeting_of(row: Row) -> Meeting:
    number, partner, at, outcome, date_number, started_at, ended_at, answer, connection = row
    return Meeting(
        match_id=f"m{number}",
        partner=partner,
        at=at,
        outcome=None if outcome is None else Outcome(outcome),
        date_id=None if date_number is None else f"d{date_number}",
        date_started_at=started_at,
        date_ended_at=ended_at,
        answer=None if answer is None else Touch(answer),
        connection_id=None if connection is None else f"c{connection}",
    )
