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

from yoked_actor.simulation.judges.heard.accounts import Account, Ledger, Meeting
from yoked_actor.simulation.judges.stored.rules import RULES
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
            for rule, query in RULES.items():
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
