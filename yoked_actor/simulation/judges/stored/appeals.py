"""Appeals: one that was accepted is in the queue of reports, and only one is accepted in a day."""

from __future__ import annotations

from typing import Any

import trio

from yoked_actor.simulation.judges.heard.accounts import Ledger
from yoked_actor.simulation.judges.stored.books import Books
from yoked_actor.simulation.judges.verdict import Bench, Weather

_EVERY_S = 86_400.0
_SLACK_S = 5.0
_NEVER_S = -1e9


class AppealJudge:
    """Hears the answers to appeals, and reads the queue with the operator."""

    def __init__(self, ledger: Ledger, bench: Bench, weather: Weather) -> None:
        self._ledger = ledger
        self._bench = bench
        self._weather = weather
        self._accepted: dict[str, tuple[str, float]] = {}
        """By text: whose appeal was accepted, and when."""
        self._last_s: dict[str, float] = {}
        """When the last appeal of a person was accepted."""
        self._unanswered: set[str] = set()
        """People who sent an appeal that was not answered: it may be stored."""
        self._resolved: set[str] = set()
        """Texts of appeals that the operator has closed, or tried to."""

    def appealing(self, user_id: str) -> bool:
        """A person sends an appeal; returns whether an earlier one may be stored unanswered."""
        was_unsure = user_id in self._unanswered
        self._unanswered.add(user_id)
        return was_unsure

    def answered(
        self, user_id: str, text: str, status: int, code: str, *, was_unsure: bool
    ) -> None:
        """It was answered; an answer that names an error of the server does not count."""
        if status >= 500:
            return
        if not was_unsure:
            self._unanswered.discard(user_id)
        now_s, last_s = trio.current_time(), self._last_s.get(user_id, _NEVER_S)
        # A clock that was set, and a suspended machine, change how long ago the last one was.
        is_sure = not was_unsure and not self._weather.has_stepped_since(now_s - _EVERY_S)
        self._bench.count(f"appeal_{code or status}")
        if status == 202:
            self._accepted[text] = (user_id, now_s)
            self._last_s[user_id] = now_s
            if now_s - last_s < _EVERY_S - _SLACK_S and is_sure:
                words = f"{user_id} has appealed {now_s - last_s:.0f} s ago, and does again"
                self._bench.report("appealed_twice", words, user_id)
        elif code == "rate_limited":
            if now_s - last_s > _EVERY_S + _SLACK_S and is_sure:
                self._bench.report("appeal_refused", f"{user_id} may not appeal", user_id)
        elif code != "wrong_state" or self._is_suspended(user_id):
            self._bench.report("appeal_refused", f"{user_id} is answered {code}", user_id)

    def _is_suspended(self, user_id: str) -> bool:
        account = self._ledger.of(user_id)
        since_s = account.suspended_s
        return (
            since_s is not None
            and not account.suspension_unsure
            and since_s < trio.current_time() - 2.0
        )

    def resolving(self, text: str) -> None:
        """The operator closes an appeal."""
        self._resolved.add(text)

    def saw_queue(self, reports: list[dict[str, Any]], asked_s: float) -> None:
        """The operator was shown all open reports."""
        shown = {one["reason"]: one for one in reports if one["kind"] == "appeal"}
        self._bench.count("appeals_listed")
        for text, (user_id, at_s) in self._accepted.items():
            if at_s < asked_s and not self._is_over(user_id, text) and text not in shown:
                words = f"the appeal of {user_id} was accepted and is not in the queue"
                self._bench.report("appeal_lost", words, user_id)
        for text, one in shown.items():
            found = self._accepted.get(text)
            if found is not None and not one["reporter"] == one["reported"] == found[0]:
                self._bench.report("appeal_lost", f"the appeal of {found[0]} is {one}", found[0])

    def check_books(self, books: Books) -> None:
        """Every appeal that was accepted is stored, under the name of the person."""
        with books.open() as rows:
            stored = dict(
                rows.execute("SELECT reason, reporter FROM reports WHERE kind = 'appeal'")
            )
        for text, (user_id, _) in self._accepted.items():
            if not self._ledger.of(user_id).erasing and stored.get(text) != user_id:
                words = f"the appeal of {user_id} was accepted and is not stored"
                self._bench.report("appeal_lost", words, user_id)

    def of(self, user_id: str) -> list[str]:
        """The texts of a person's appeals that were accepted."""
        return [text for text, (who, _) in self._accepted.items() if who == user_id]

    def _is_over(self, user_id: str, text: str) -> bool:
        return text in self._resolved or self._ledger.of(user_id).erasing
