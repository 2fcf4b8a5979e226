"""The reader of the database: what was told is stored, and what is stored makes sense.

It reads the file with SQL of its own. Nothing of the store is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection, connect
from typing import Any

import trio

from yoked_actor.simulation.judges.accounts import Account, Ledger, Meeting
from yoked_actor.simulation.judges.verdict import Bench

_RECENT_S = 26 * 3600.0
_OUTCOME: dict[tuple[str | None, ...], str] = {
    ("yes", "yes"): "both_yes",
    ("pass", "yes"): "yes_pass",
    ("pass", "pass"): "pass_pass",
    (None, "yes"): "yes_idle",
    (None, "pass"): "pass_idle",
    (None, None): "idle_idle",
}
_RULES = {
    "two open matches of one person": (
        "SELECT who, count(*) FROM (SELECT a AS who FROM matches WHERE ended_at IS NULL"
        " UNION ALL SELECT b FROM matches WHERE ended_at IS NULL) GROUP BY who HAVING count(*) > 1"
    ),
    "a seat without its match": (
        "SELECT user_id, match_number FROM seats WHERE match_number IS NOT NULL AND match_number"
        " NOT IN (SELECT number FROM matches WHERE ended_at IS NULL AND user_id IN (a, b))"
    ),
    "an open match without its seats": (
        "SELECT number, a, b FROM matches WHERE ended_at IS NULL AND (SELECT count(*) FROM seats"
        " WHERE match_number = number AND user_id IN (a, b)) <> 2"
    ),
    "a voted match of two who have not met": (
        "SELECT number, a, b FROM matches AS m WHERE outcome IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM met WHERE met.a = min(m.a, m.b) AND met.b = max(m.a, m.b))"
    ),
    "an outcome without voting": (
        "SELECT number FROM matches WHERE outcome IS NOT NULL AND voting_at IS NULL"
    ),
    "voting before both have acknowledged": (
        "SELECT number FROM matches WHERE voting_at IS NOT NULL"
        " AND NOT (a_acknowledged AND b_acknowledged)"
    ),
    "two met twice": (
        "SELECT a, b, count(*) FROM matches WHERE outcome IS NOT NULL GROUP BY a, b"
        " HAVING count(*) > 1"
    ),
    "both said yes, and no video date": (
        "SELECT number FROM matches AS m WHERE outcome = 'both_yes' AND NOT EXISTS (SELECT 1"
        " FROM dates AS d WHERE d.match_number = m.number AND m.a IN (d.a, d.b)"
        " AND m.b IN (d.a, d.b))"
    ),
    "credit out of range": "SELECT user_id, credit FROM seats WHERE credit NOT BETWEEN 0 AND 50",
    "a video date with an end and no reason": (
        "SELECT number FROM dates WHERE (ended_at IS NULL) <> (ended_for IS NULL)"
    ),
    "a video date longer than allowed": (
        "SELECT number FROM dates WHERE ended_at > ends_at + 60 * 1000000"
    ),
    "a match without its quality": (
        "SELECT number FROM matches WHERE number NOT IN (SELECT match_number FROM quality)"
    ),
    "offers without a set": (
        "SELECT day, user_id FROM offers EXCEPT SELECT day, user_id FROM offer_sets"
    ),
    "an offer of oneself": "SELECT user_id FROM offers WHERE user_id = candidate",
    "the same person offered twice within 30 days": (
        "SELECT o.user_id, o.candidate, o.day, p.day FROM offers AS o JOIN offers AS p"
        " ON p.user_id = o.user_id AND p.candidate = o.candidate AND p.day > o.day"
        " AND julianday(p.day) - julianday(o.day) < 30 WHERE o.candidate NOT GLOB '~*'"
    ),
    "two sets within 12 hours": (
        "SELECT a.user_id, a.day, b.day FROM offer_sets AS a JOIN offer_sets AS b"
        " ON b.user_id = a.user_id AND b.day > a.day"
        " AND abs(b.offered_at - a.offered_at) < 12 * 3600 * 1000000"
    ),
    "somebody in more than 10 sets of a run": (
        "SELECT o.candidate, s.zone, o.day, count(*) FROM offers AS o JOIN offer_sets AS s"
        " ON s.day = o.day AND s.user_id = o.user_id WHERE o.candidate NOT GLOB '~*'"
        " GROUP BY 1, 2, 3 HAVING count(*) > 10"
    ),
    "an offer of somebody whom the receiver had met": (
        "SELECT o.user_id, o.candidate, o.day FROM offers AS o JOIN offer_sets AS s"
        " ON s.day = o.day AND s.user_id = o.user_id JOIN met AS m"
        " ON m.a = min(o.user_id, o.candidate) AND m.b = max(o.user_id, o.candidate)"
        " WHERE m.met_at < s.offered_at - 3600 * 1000000"
    ),
    "an offer against a block": (
        "SELECT o.user_id, o.candidate, o.day FROM offers AS o JOIN offer_sets AS s"
        " ON s.day = o.day AND s.user_id = o.user_id JOIN blocks AS k"
        " ON (k.blocker, k.blocked) IN ((o.user_id, o.candidate), (o.candidate, o.user_id))"
        " WHERE k.at < s.offered_at - 3600 * 1000000"
    ),
    "two connections of one pair": (
        "SELECT a, b FROM connections GROUP BY a, b HAVING count(*) > 1"
    ),
    "a person in two open video dates": (
        "SELECT who, count(*) FROM (SELECT a AS who FROM dates WHERE ended_at IS NULL"
        " UNION ALL SELECT b FROM dates WHERE ended_at IS NULL) GROUP BY who HAVING count(*) > 1"
    ),
}
"""Rules that hold in every committed state, as queries for the rows that break them."""


class Books:
    """Compares the file with the ledger of the witness."""

    def __init__(self, path: Path, ledger: Ledger, bench: Bench) -> None:
        self._path = path
        self._ledger = ledger
        self._bench = bench

    def open(self) -> closing[Connection]:
        """A connection that only reads."""
        return closing(connect(f"file:{self._path}?mode=ro", uri=True, isolation_level=None))

    def check(self) -> None:
        """Check all rules, and all that was told in the last day."""
        self._bench.count("books")
        with self.open() as books:
            for rule, query in _RULES.items():
                rows = books.execute(query).fetchmany(3)
                if rows:
                    named = [str(value) for row in rows for value in row if "." in str(value)]
                    self._bench.report("rows", f"{rule}: {rows}", *named[:4])
            stored = {
                f"m{row[0]}": row[1:]
                for row in books.execute(
                    "SELECT number, a, b, a_vote, b_vote, outcome, cancelled_for, ended_at,"
                    " voting_at FROM matches"
                )
            }
            for problem, who in self._told_matches(stored):
                self._bench.report("told_not_stored", problem, *who)
            for problem, who in self._told_rest(books):
                self._bench.report("told_not_stored", problem, *who)

    def _told_matches(self, stored: dict[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
        since_s = trio.current_time() - _RECENT_S
        for meeting in self._ledger.meetings.values():
            if meeting.told_s < since_s:
                continue
            self._bench.count("told_match")
            row = stored.get(meeting.match_id)
            if row is None:
                yield f"{meeting.match_id} was told and is not there", meeting.pair
                continue
            yield from self._compare(meeting, *row)
        for match_id, (a, b, a_vote, b_vote, outcome, *_) in stored.items():
            meeting_ = self._ledger.meetings.get(match_id)
            has_left = meeting_ is None or meeting_.left or meeting_.cancelled
            # No vote at all is stored as nothing, that of somebody who left or was lost as idle.
            given = (None if vote == "idle" else vote for vote in (a_vote, b_vote))
            votes = tuple(sorted(given, key=lambda vote: vote or ""))
            if outcome is not None and not has_left and _OUTCOME.get(votes) != outcome:
                yield f"{match_id} has votes {votes} and outcome {outcome}", (a, b)

    def _compare(
        self,
        meeting: Meeting,
        a: str,
        b: str,
        a_vote: str | None,
        b_vote: str | None,
        outcome: str | None,
        cancelled_for: str | None,
        ended_at: int | None,
        voting_at: int | None,
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        match_id, pair = meeting.match_id, meeting.pair
        living = {one for one in (a, b) if not one.startswith("~")}
        if not living <= set(pair):
            yield f"{match_id} is between {a} and {b}, told was {pair}", pair
        told = {one for one in meeting.outcomes.values() if one != "cancelled"}
        if told and {outcome} != told:
            yield f"{match_id} was told {told}, stored is {outcome}", pair
        if meeting.cancelled and (outcome is not None or ended_at is None):
            yield f"{match_id} was told cancelled, stored is {outcome}, {ended_at}", pair
        if meeting.voting_s is not None and voting_at is None and not meeting.restarted:
            yield f"{match_id} was told to be open for votes, which is not stored", pair
        for user_id, vote in ((a, a_vote), (b, b_vote)):
            account = self._ledger.accounts.get(user_id)
            given = None if account is None else account.votes.get(match_id)
            is_void = meeting.left or meeting.cancelled or (account and account.erasing)
            if given is not None and vote != given and not is_void and outcome is not None:
                if not outcome.endswith("idle"):
                    yield f"{user_id} voted {given} in {match_id}, stored is {vote}", pair

    def _told_rest(self, books: Connection) -> Iterator[tuple[str, tuple[str, ...]]]:
        blocks = set(books.execute("SELECT blocker, blocked FROM blocks"))
        people = {
            row[0]: row[1:]
            for row in books.execute("SELECT user_id, time_zone, gender, seeking FROM people")
        }
        seats = dict(books.execute("SELECT user_id, credit FROM seats"))
        suspended = {row[0] for row in books.execute("SELECT user_id FROM suspended")}
        dates = {f"d{row[0]}" for row in books.execute("SELECT number FROM dates")}
        connections = {f"c{row[0]}" for row in books.execute("SELECT number FROM connections")}
        answers = set(books.execute("SELECT user_id, candidate, answer FROM offer_answers"))
        for account in self._ledger.accounts.values():
            me = account.user_id
            if account.erasing:
                continue
            if account.profile is not None and not account.profile_unsure:
                zone = people.get(me, (None,))[0]
                if zone != account.profile["time_zone"]:
                    yield f"{me} lives in {account.profile['time_zone']}, stored is {zone}", (me,)
            for other in account.blocks:
                if (me, other) not in blocks and not self._ledger.of(other).erasing:
                    yield f"the block of {other} by {me} is not stored", (me, other)
            if account.suspended_s is not None and not account.suspension_unsure:
                if me not in suspended:
                    yield f"the suspension of {me} is not stored", (me,)
            if account.state == "idle" and account.credit is not None and me in seats:
                if account.online_s is not None and seats[me] != account.credit:
                    yield f"{me} was told credit {account.credit}, stored is {seats[me]}", (me,)
            yield from self._told_ids(account, dates, connections)
            yield from self._told_answers(account, answers)

    def _told_ids(
        self, account: Account, dates: set[str], connections: set[str]
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        me = account.user_id
        for date_id, partner in account.dates.items():
            if date_id not in dates:
                yield f"{me} was told of {date_id}, which is not stored", (me, partner)
        for connection_id, partner in account.connections.items():
            if connection_id not in connections:
                yield f"{me} was told of {connection_id}, which is not stored", (me, partner)

    def _told_answers(
        self, account: Account, answers: set[Any]
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        me = account.user_id
        for known in account.offers.values():
            for offer_id, candidate in known.items():
                answer = account.answers.get(offer_id)
                if answer is None or self._ledger.of(candidate).erasing:
                    continue
                if (me, candidate, answer) not in answers:
                    yield f"{me} said {answer} to {candidate}, which is not stored", (me, candidate)
