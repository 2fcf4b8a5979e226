"""Answers to "stay in touch?" after a date, inside a transaction.

An answer is stored whatever the partner does or is: blocked, suspended or erased. So it discloses
nothing. Two yeses open a connection, unless one of the two has blocked the other. A connection with
a suspended user opens too, and is shown when the suspension has ended.
"""

from __future__ import annotations

import re

from yoked_actor.domain.contacts import Touch, Touched, TouchWindow
from yoked_actor.domain.lobby import pair_of
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import StoreError, Tx
from yoked_actor.store.offers import connection_between, is_suspended

_DATE_ID = re.compile(r"d([0-9]{1,18})", re.ASCII)


class NoSuchDate(StoreError):
    """The user was on no date with this id."""


class TouchClosed(StoreError):
    """The question cannot be answered: not yet, not any more, or not after this date."""


class TouchGiven(StoreError):
    """The user has answered otherwise, and the first answer is final."""


def answer_in(
    tx: Tx, user_id: str, date_id: str, answer: Touch, window: TouchWindow, now: Instant
) -> Touched:
    """Store an answer. Raises `NoSuchDate`, `TouchClosed` or `TouchGiven`."""
    number, partner, started_at, ended_at = _date(tx, user_id, date_id, now)
    if ended_at is None:
        raise TouchClosed("the date is not over yet")
    if not window.is_long_enough(started_at, ended_at):
        raise TouchClosed(f"the date was shorter than {window.after_s:g} s")
    given = _answer(tx, number, user_id)
    if given is not None:
        if given != answer:
            raise TouchGiven(f"your answer was {given}, and the first answer is final")
        return _touched(tx, user_id, partner, answer, opened=False)
    if window.until(ended_at) <= now:
        raise TouchClosed("the time to answer is over")
    tx.execute(
        "INSERT INTO touch_answers (date_number, user_id, answer, answered_at) VALUES (?, ?, ?, ?)",
        (number, user_id, answer, now),
    )
    opened = (
        answer is Touch.YES
        and _answer(tx, number, partner) == Touch.YES
        and not _is_blocked(tx, user_id, partner)
        and _connect(tx, user_id, partner, now)
    )
    return _touched(tx, user_id, partner, answer, opened=opened)


def _date(
    tx: Tx, user_id: str, date_id: str, now: Instant
) -> tuple[int, str, Instant, Instant | None]:
    """The number of a user's date, the partner, and when it began and ended."""
    found = _DATE_ID.fullmatch(date_id)
    row = None
    if found is not None and not is_suspended(tx, user_id, now):
        row = tx.execute(
            "SELECT number, CASE WHEN a = ?2 THEN b ELSE a END, started_at, ended_at FROM dates"
            " WHERE number = ?1 AND (a = ?2 OR b = ?2)",
            (int(found[1]), user_id),
        ).fetchone()
    if row is None:
        raise NoSuchDate(f"you were on no date {date_id!r}")
    number, partner, started_at, ended_at = row
    return number, partner, started_at, ended_at


def _answer(tx: Tx, number: int, user_id: str) -> str | None:
    row = tx.execute(
        "SELECT answer FROM touch_answers WHERE date_number = ? AND user_id = ?", (number, user_id)
    ).fetchone()
    return None if row is None else str(row[0])


def _is_blocked(tx: Tx, a: str, b: str) -> bool:
    (found,) = tx.execute(
        # Two queries: for one with OR, SQLite would scan all blocks.
        "SELECT EXISTS (SELECT 1 FROM blocks WHERE blocker = ?1 AND blocked = ?2)"
        " OR EXISTS (SELECT 1 FROM blocks WHERE blocker = ?2 AND blocked = ?1)",
        (a, b),
    ).fetchone()
    return bool(found)


def _connect(tx: Tx, a: str, b: str, now: Instant) -> bool:
    """Open a connection; False when there is one already."""
    cursor = tx.execute(
        "INSERT INTO connections (a, b, opened_at, source) VALUES (?, ?, ?, 'date')"
        " ON CONFLICT DO NOTHING",
        (*pair_of(a, b), now),
    )
    return bool(cursor.rowcount)


def _touched(tx: Tx, user_id: str, partner: str, answer: Touch, *, opened: bool) -> Touched:
    connection = connection_between(tx, user_id, partner) if answer is Touch.YES else None
    return Touched(partner, connection, opened)
