"""Erasing a user: which rows name the user, and what happens to each, in one transaction.

Rows of the user alone are deleted. Rows that belong to others too (matches, having met, video
dates, answers, connections) stay, with a tombstone in place of the user: a random text that no
token can have as its `sub`, so that nothing leads from it to the user.

Some tables are long and have no index by user, because no other query needs one. `find_traces`
searches them beforehand, on a connection of its own; the transaction then searches only what was
written since.
"""

from __future__ import annotations

import zlib

import msgspec

from yoked_actor.domain.lobby import Erasure
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, statement
from yoked_actor.store.jobs import erase_from_jobs, errors_naming, jobs_naming, keys_naming
from yoked_actor.store.offers import drop_offer, drop_parts_in

COLUMNS = frozenset(
    {
        *("people.user_id", "seats.user_id", "suspended.user_id", "suspended.by"),
        *("warnings.user_id", "warnings.by", "warnings.text", "job_pauses.by"),
        *("matches.a", "matches.b", "dates.a", "dates.b", "met.a", "met.b", "bars.a", "bars.b"),
        *("blocks.blocker", "blocks.blocked"),
        *("reports.reporter", "reports.reported", "reports.resolved_by", "reports.reason"),
        "reports.resolution",
        *("offer_sets.user_id", "offer_sets.candidates", "offer_pools.content"),
        *("offer_parts.first_user", "offer_parts.content"),
        *("offer_answers.user_id", "offer_answers.candidate", "connections.a", "connections.b"),
        *("touch_answers.user_id", "room_guests.user_id"),
        *("jobs.payload", "jobs.dedup_key", "jobs.last_error", "job_ledger.key"),
        *("jobs.progress_note", "jobs.dismissed_by", "jobs.dismissed_reason"),
        *("job_answers.receiver_id", "job_answers.body"),
        *("job_attempts.error", "audit.who", "audit.subject", "audit.detail"),
    }
)
"""Every column that can name a user or contain text about one."""

_MATCHES = statement("people/matches_of")
_DATES = statement("people/dates_of")
_RECENT = 3600 * 1_000_000
_DISTANCE = (
    "distance_km = 0, shown_km = NULL, distance_score = 0, preference_match = 0, priority = 0"
)


class Traces(msgspec.Struct, frozen=True):
    """Where a user is named in the long tables, up to a row of each."""

    searched_at: Instant = 0
    match: int = 0
    date: int = 0
    job: int = 0
    pool: int = 0
    """The last row of each table that was searched."""
    matches: tuple[int, ...] = ()
    dates: tuple[int, ...] = ()
    jobs: tuple[int, ...] = ()
    errors: tuple[int, ...] = ()
    """Jobs whose errors, notes or dismissals name the user."""
    keys: tuple[tuple[str, str], ...] = ()
    pools: tuple[tuple[int, str, str], ...] = ()
    """Number, day and zone of the runs whose pool contains the user."""
    offers: tuple[tuple[str, str], ...] = ()
    """Day and user of the sets in which the user is a candidate."""


def find_traces(tx: Tx, user_id: str, now: Instant, before: Traces | None = None) -> Traces:
    """Search the long tables; with `before`, only what was written since."""
    seen = before or Traces()
    offers = """SELECT day, user_id FROM offer_sets WHERE instr(candidates, '"' || ?1 || '"') > 0"""
    if before is not None:
        # A run that was made since then was unfinished at that time, or was frozen recently.
        offers += " AND day IN (SELECT day FROM offer_runs WHERE outputs IS NULL OR frozen_at > ?2)"
    since = 0 if before is None else seen.searched_at - _RECENT
    return Traces(
        now,
        _last(tx, "matches", "number"),
        _last(tx, "dates", "number"),
        _last(tx, "jobs", "id"),
        _last(tx, "offer_pools", "number"),
        (*seen.matches, *_numbers(tx, _MATCHES, user_id, seen.match, since)),
        (*seen.dates, *_numbers(tx, _DATES, user_id, seen.date, since)),
        (*seen.jobs, *jobs_naming(tx, user_id, seen.job, since)),
        (*seen.errors, *errors_naming(tx, user_id, seen.job, since)),
        (*seen.keys, *keys_naming(tx, user_id, None if before is None else seen.job, since)),
        (*seen.pools, *_pools_with(tx, user_id, seen.pool)),
        (
            *seen.offers,
            *tx.execute(offers, (user_id,) if before is None else (user_id, since)).fetchall(),
        ),
    )


def erase_in(tx: Tx, erasure: Erasure, before: Traces | None) -> None:
    """Erase a user, inside a transaction."""
    user, tombstone, now = erasure.user_id, erasure.tombstone, erasure.at
    traces = find_traces(tx, user, now, before)
    tx.execute("INSERT INTO erased (tombstone, at) VALUES (?, ?)", (tombstone, now))
    for table, column in (
        *(("people", "user_id"), ("seats", "user_id"), ("suspended", "user_id")),
        *(("warnings", "user_id"), ("room_guests", "user_id")),
        *(("bars", "a"), ("bars", "b"), ("blocks", "blocker"), ("blocks", "blocked")),
    ):
        tx.execute(f"DELETE FROM {table} WHERE {column} = ?", (user,))
    _replace_in_pairs(tx, user, tombstone, traces)
    _erase_reports(tx, user, tombstone)
    _erase_offers(tx, user, tombstone, traces)
    erase_from_jobs(tx, user, tombstone, now, traces.jobs, traces.keys, traces.errors)
    tx.execute("UPDATE job_pauses SET by = ?2 WHERE by = ?1", (user, tombstone))
    tx.execute("UPDATE warnings SET by = ?2 WHERE by = ?1", (user, tombstone))
    tx.execute("UPDATE suspended SET by = ?2 WHERE by = ?1", (user, tombstone))
    tx.execute("UPDATE audit SET subject = ?2, detail = '' WHERE subject = ?1", (user, tombstone))
    tx.execute("UPDATE audit SET who = ?2 WHERE who = ?1", (user, tombstone))
    # A block names two users: the one it is for, and in the detail the other.
    tx.execute("UPDATE audit SET detail = ?2 WHERE detail = ?1", (user, tombstone))


def _replace_in_pairs(tx: Tx, user: str, tombstone: str, traces: Traces) -> None:
    for number in dict.fromkeys(traces.matches):
        turned = tx.execute("SELECT a, b FROM matches WHERE number = ?", (number,)).fetchone()
        other = turned[1] if turned[0] == user else turned[0]
        if (turned[0] == user) == (tombstone < other):
            side = "a" if turned[0] == user else "b"
            tx.execute(f"UPDATE matches SET {side} = ? WHERE number = ?", (tombstone, number))
        else:
            # A pair is stored in order, so the two change sides, with all their columns.
            tx.execute(
                "UPDATE matches SET a = ?, b = ?, a_acknowledged = b_acknowledged,"
                " b_acknowledged = a_acknowledged, a_vote = b_vote, b_vote = a_vote"
                " WHERE number = ?",
                (*sorted((tombstone, other)), number),
            )
            tx.execute(
                "UPDATE quality SET a_group = b_group, b_group = a_group, a_tier = b_tier,"
                " b_tier = a_tier, a_wait_s = b_wait_s, b_wait_s = a_wait_s"
                " WHERE match_number = ?",
                (number,),
            )
        # The distances to a few partners would reveal the place of the erased user.
        tx.execute(f"UPDATE quality SET {_DISTANCE} WHERE match_number = ?", (number,))
    for number in dict.fromkeys(traces.dates):
        for side in "ab":
            tx.execute(
                f"UPDATE dates SET {side} = ?2 WHERE number = ?3 AND {side} = ?1",
                (user, tombstone, number),
            )
        tx.execute(
            "DELETE FROM touch_answers WHERE date_number = ? AND user_id = ?", (number, user)
        )
    for table in ("met", "connections"):
        for side, other in ("ab", "ba"):
            tx.execute(
                f"UPDATE {table} SET a = CASE WHEN {other} < ?2 THEN {other} ELSE ?2 END,"
                f" b = CASE WHEN {other} < ?2 THEN ?2 ELSE {other} END WHERE {side} = ?1",
                (user, tombstone),
            )


def _erase_reports(tx: Tx, user: str, tombstone: str) -> None:
    # What an operator made of a report is in the audit under the number of the report.
    tx.execute(
        "UPDATE audit SET detail = '' WHERE action = 'resolve_report' AND subject IN"
        " (SELECT CAST(number AS TEXT) FROM reports WHERE reporter = ?1 OR reported = ?1)",
        (user,),
    )
    # The text of a report is about both users, so it is deleted with either.
    for column in ("reporter", "reported"):
        tx.execute(
            f"UPDATE reports SET {column} = ?2, reason = '',"
            " resolution = CASE WHEN resolution IS NOT NULL THEN '' END"
            f" WHERE {column} = ?1",
            (user, tombstone),
        )
    tx.execute("UPDATE reports SET resolved_by = ?2 WHERE resolved_by = ?1", (user, tombstone))


def _erase_offers(tx: Tx, user: str, tombstone: str, traces: Traces) -> None:
    tx.execute("DELETE FROM offer_sets WHERE user_id = ?", (user,))
    tx.execute("DELETE FROM offer_answers WHERE user_id = ?", (user,))
    for day, receiver in dict.fromkeys(traces.offers):
        drop_offer(tx, day, receiver, user)
        tx.execute(
            "UPDATE offer_answers SET candidate = ?4"
            " WHERE user_id = ?1 AND candidate = ?2 AND day = ?3",
            (receiver, user, day, tombstone),
        )
    for number, day, zone in dict.fromkeys(traces.pools):
        tx.execute("DELETE FROM offer_pools WHERE number = ?", (number,))
        drop_parts_in(tx, day, zone)
        tx.execute(
            "UPDATE offer_runs SET erased = erased + 1 WHERE day = ? AND zone = ?", (day, zone)
        )


def _pools_with(tx: Tx, user: str, after: int) -> list[tuple[int, str, str]]:
    wanted = msgspec.msgpack.encode(user)
    return [
        (number, day, zone)
        for number, day, zone, content in tx.execute(
            "SELECT number, day, zone, content FROM offer_pools WHERE number > ?", (after,)
        )
        if _may_hold(content, wanted)
    ]


def _may_hold(content: bytes, wanted: bytes) -> bool:
    """Whether a pool contains a user; an unreadable pool may, and is dropped too."""
    try:
        return wanted in zlib.decompress(content)
    except zlib.error:
        return True


def _numbers(tx: Tx, query: str, user: str, after: int, since: Instant) -> list[int]:
    asked = {"user": user, "after": after, "since": since}
    return [number for (number,) in tx.execute(query, asked)]


def _last(tx: Tx, table: str, column: str) -> int:
    (last,) = tx.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()
    return int(last)
