"""Answers to offers, and the connections that they open, inside a transaction."""

from __future__ import annotations

from datetime import date
from typing import Any

from yoked_actor.domain.lobby import ConnectionSource, pair_of
from yoked_actor.domain.offers import Answer, Answered, Connection
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx
from yoked_actor.store.offers.errors import AnswerGiven, NoSuchOffer, OfferExpired


def answer_in(
    tx: Tx,
    user_id: str,
    candidate: str,
    day: date,
    expires_at: Instant,
    answer: Answer,
    now: Instant,
) -> Answered:
    """Store an answer; raises `AnswerGiven`, `NoSuchOffer` or `OfferExpired`.

    While either user is suspended there is no such offer.
    """
    if is_suspended(tx, user_id, now) or is_suspended(tx, candidate, now):
        raise NoSuchOffer("the offer is of a suspended user, or for one")
    key = (user_id, candidate, day.isoformat())
    given = tx.execute(
        "SELECT answer FROM offer_answers WHERE user_id = ? AND candidate = ? AND day = ?", key
    ).fetchone()
    if given is not None:
        if given[0] != answer:
            raise AnswerGiven(f"the offer was answered with {given[0]} already")
        connection = connection_between(tx, user_id, candidate) if answer is Answer.ACCEPT else None
        return Answered(candidate, connection, opened=False)
    if expires_at <= now:
        raise OfferExpired("the offer has expired")
    tx.execute(
        "INSERT INTO offer_answers (user_id, candidate, day, answer, answered_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (*key, answer, now),
    )
    if answer is Answer.DECLINE or not _accepts(tx, candidate, user_id):
        return Answered(candidate, None, opened=False)
    opened = tx.execute(
        "INSERT INTO connections (a, b, opened_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (*pair_of(user_id, candidate), now),
    ).rowcount
    return Answered(candidate, connection_between(tx, user_id, candidate), opened=bool(opened))


def is_suspended(tx: Tx, user_id: str, now: Instant) -> bool:
    """Whether a user is suspended now."""
    found = tx.execute(
        "SELECT 1 FROM suspended WHERE user_id = ? AND (until IS NULL OR until > ?)",
        (user_id, now),
    ).fetchone()
    return found is not None


def _accepts(tx: Tx, user_id: str, candidate: str) -> bool:
    """Whether a user's last answer to a candidate is an accept, and neither blocks the other."""
    (accepts,) = tx.execute(
        "SELECT coalesce((SELECT answer FROM offer_answers WHERE user_id = ?1 AND candidate = ?2"
        " ORDER BY day DESC LIMIT 1), '') = 'accept'"
        # Two queries: for one with OR, SQLite would scan all blocks.
        " AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocker = ?1 AND blocked = ?2)"
        " AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocker = ?2 AND blocked = ?1)",
        (user_id, candidate),
    ).fetchone()
    return bool(accepts)


def connection_between(tx: Tx, user_id: str, partner: str) -> Connection | None:
    """The connection of two users, as one of them sees it."""
    row = tx.execute(
        "SELECT number, a, b, opened_at, source FROM connections WHERE a = ? AND b = ?",
        pair_of(user_id, partner),
    ).fetchone()
    return None if row is None else connection_of(row, user_id)


def connection_of(row: tuple[Any, ...], user_id: str) -> Connection:
    """A connection from its row, as one of the two users sees it."""
    number, a, b, opened_at, source = row
    return Connection(f"c{number}", b if user_id == a else a, opened_at, ConnectionSource(source))
