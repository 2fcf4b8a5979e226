"""Whom people have met, and how two of them come to have a connection.

A connection needs two who want it: two accepted offers, or two times `yes` after a date.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from yoked_actor.simulation.judges.heard.accounts import Account, Ledger, Meeting
from yoked_actor.simulation.judges.stored.books import Books
from yoked_actor.simulation.judges.verdict import Bench

_SETTLED_S = 5.0
_SHOWN_S = 20 * 86_400.0
"""Meetings of this time are certainly in the list of people that one has met."""


class ContactWitness:
    """Hears what follows from meetings."""

    def __init__(self, ledger: Ledger, bench: Bench) -> None:
        self._ledger = ledger
        self._bench = bench

    # Answers after a date

    def touching(self, user_id: str, date_id: str, answer: str) -> None:
        """A person answers whether to stay in touch."""
        self._ledger.of(user_id).sent_touches.setdefault(date_id, set()).add(answer)

    def touched(self, user_id: str, date_id: str, answer: str, connection_id: str | None) -> None:
        """The answer was confirmed."""
        account = self._ledger.of(user_id)
        self._bench.count("touched")
        given = account.touches.setdefault(date_id, answer)
        if given != answer:
            text = f"{user_id} said {given} after {date_id}, and {answer} was accepted too"
            self._bench.report("first_answer_is_final", text, user_id)
        if connection_id is None:
            return
        if answer == "no":
            text = f"{user_id} said no after {date_id} and is told of {connection_id}"
            self._bench.report("touch", text, user_id)
        partner = account.dates.get(date_id)
        if partner is not None:
            account.connections[connection_id] = partner

    def touch_refused(self, user_id: str, date_id: str, answer: str, code: str) -> None:
        """It was not."""
        sent = self._ledger.of(user_id).sent_touches.get(date_id, set())
        self._bench.count(f"touch_{code}")
        if code == "already_answered" and sent <= {answer}:
            text = f"{user_id}: {answer} after {date_id} is refused, and it is the first answer"
            self._bench.report("touch", text, user_id)

    # Connections

    def opened(self, user_id: str, partner: str, source: str) -> None:
        """A person was told of a connection."""
        mine, theirs = self._ledger.of(user_id), self._ledger.of(partner)
        self._bench.count(f"connection_{source}")
        if source == "date":
            wanted = any(
                "yes" in mine.sent_touches.get(date_id, ())
                and "yes" in theirs.sent_touches.get(date_id, ())
                for date_id, other in mine.dates.items()
                if other == partner
            )
        else:
            wanted = partner in mine.sent_accepts and user_id in theirs.sent_accepts
        if not wanted:
            text = f"{user_id} and {partner} have a connection ({source}), and one wanted none"
            self._bench.report("connection_unwanted", text, user_id, partner)

    def check_books(self, books: Books) -> None:
        """Two who both said yes have a connection, unless one has ever blocked the other."""
        with books.open() as rows:
            pairs = rows.execute(
                "SELECT d.a, d.b, d.number FROM dates AS d"
                " JOIN touch_answers AS x ON x.date_number = d.number AND x.user_id = d.a"
                " JOIN touch_answers AS y ON y.date_number = d.number AND y.user_id = d.b"
                " WHERE x.answer = 'yes' AND y.answer = 'yes' AND NOT EXISTS"
                " (SELECT 1 FROM connections AS c WHERE c.a IN (d.a, d.b) AND c.b IN (d.a, d.b))"
            ).fetchall()
            stored = set(rows.execute("SELECT date_number, user_id, answer FROM touch_answers"))
        for a, b, number in pairs:
            one, other = self._ledger.of(a), self._ledger.of(b)
            if not (_ever_blocked(one, b) or _ever_blocked(other, a)):
                text = f"{a} and {b} both said yes after d{number}, and have no connection"
                self._bench.report("connection_missing", text, a, b)
        for account in self._ledger.accounts.values():
            if account.erasing:
                continue
            for date_id, answer in account.touches.items():
                if (int(date_id[1:]), account.user_id, answer) not in stored:
                    text = f"{account.user_id} said {answer} after {date_id}, which is not stored"
                    self._bench.report("told_not_stored", text, account.user_id)

    # Recently met

    def saw_met(self, user_id: str, met: list[dict[str, Any]], asked_s: float) -> None:
        """A person was shown whom they have met."""
        account = self._ledger.of(user_id)
        self._bench.count("met_shown")
        times = [datetime.fromisoformat(one["at"]) for one in met]
        if times != sorted(times, reverse=True):
            self._bench.report("met", f"{user_id} is shown {met}, not newest first", user_id)
        for one in met:
            self._check_entry(account, one)
        shown = {one["partner"]["user_id"] for one in met}
        for match_id, partner in account.partners.items():
            meeting = self._ledger.meetings[match_id]
            if partner not in shown and self._must_be_shown(account, partner, meeting, asked_s):
                text = f"{user_id} has met {partner} in {match_id}, who is not in the list"
                self._bench.report("met", text, user_id, partner)

    def _check_entry(self, account: Account, entry: dict[str, Any]) -> None:
        me, partner, match_id = account.user_id, entry["partner"]["user_id"], entry["match_id"]
        meeting = self._ledger.meetings.get(match_id)
        if meeting is None or set(meeting.pair) != {me, partner}:
            self._bench.report("met", f"{me} is shown {match_id} with {partner}", me, partner)
            return
        outcome = account.outcomes.get(match_id)
        if outcome is not None and entry["outcome"] != outcome:
            text = f"{me}: {match_id} is shown as {entry['outcome']}, told was {outcome}"
            self._bench.report("met", text, me, partner)
        date_id = entry.get("date_id")
        if date_id is not None and account.dates.get(date_id, partner) != partner:
            self._bench.report("met", f"{me} is shown {date_id} with {partner}", me, partner)
        if entry.get("touch_until") is not None and date_id in account.touches:
            text = f"{me} has answered after {date_id} and is asked again"
            self._bench.report("met", text, me, partner)

    def _must_be_shown(
        self, account: Account, partner: str, meeting: Meeting, asked_s: float
    ) -> bool:
        theirs = self._ledger.of(partner)
        ended_s, voting_s = meeting.ended_s, meeting.voting_s
        return (
            voting_s is not None
            and ended_s is not None
            and asked_s - _SHOWN_S < voting_s
            and max(voting_s, ended_s) < asked_s - _SETTLED_S
            and not meeting.restarted
            and theirs.is_here
            and not theirs.suspension_unsure
            and theirs.freed_s < asked_s - _SETTLED_S
            and not theirs.profile_unsure
            and partner not in account.maybe_blocks
            and account.user_id not in theirs.maybe_blocks
        )


def _ever_blocked(account: Account, other: str) -> bool:
    return other in account.maybe_blocks or other in account.unblocked_s
