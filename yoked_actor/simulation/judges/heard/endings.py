"""How matches end, as their two people are told: the table of outcomes, credit, and reasons."""

from __future__ import annotations

from typing import Any

from yoked_actor.simulation.judges.heard.accounts import Account, Ledger, Meeting
from yoked_actor.simulation.judges.verdict import Bench, Weather

LIVENESS_S = 10.0
BAR_S = 60.0
GRACE_S = 60.0
_CREDIT_STEP, _CREDIT_CAP = 10, 50
_NEXT = {
    "both_yes": ("idle", "idle"),
    "yes_pass": ("waiting", "waiting"),
    "pass_pass": ("waiting", "waiting"),
    "yes_idle": ("waiting", "idle"),
    "pass_idle": ("waiting", "idle"),
    "idle_idle": ("idle", "idle"),
}
"""By outcome: where a person who voted goes, and one who did not."""


class Endings:
    """Judges outcomes and cancellations."""

    def __init__(self, ledger: Ledger, bench: Bench, weather: Weather) -> None:
        self.ledger = ledger
        self._bench = bench
        self._weather = weather

    def knows_when(self, account: Account, now_s: float) -> bool:
        """Whether the instant of a message says when it was made.

        A person who has just connected may be told late, of a time before a step of the clock.
        """
        online_s = now_s if account.online_s is None else account.online_s
        weather = self._weather
        return weather.has_stepped_since(online_s) or not weather.has_stepped_since(now_s - GRACE_S)

    def check_next(self, account: Account, event: dict[str, Any]) -> None:
        """Where a person goes after an outcome (R11)."""
        has_voted = event["match_id"] in account.votes
        if event["match_id"] in account.sent_votes and not has_voted:
            return  # the reply was lost
        voter, other = _NEXT.get(event["outcome"], ("", ""))
        expected = voter if has_voted else other
        if event["outcome"] in ("both_yes", "yes_pass", "pass_pass") and not has_voted:
            text = f"{account.user_id} has not voted, and the outcome is {event['outcome']}"
            self._bench.report("outcome_table", text, account.user_id)
        elif event["next"] != expected:
            text = f"{account.user_id}: {event['outcome']} leads to {event['next']}, not {expected}"
            self._bench.report("outcome_table", text, account.user_id)

    def check_credit(self, account: Account, event: dict[str, Any]) -> None:
        """What an outcome does to the credit (R11)."""
        before, vote = account.credit, account.votes.get(event["match_id"])
        if before is None or (vote is None and event["match_id"] in account.sent_votes):
            return
        expected = before
        if event["outcome"] == "both_yes":
            expected = 0
        elif event["outcome"] in ("yes_pass", "yes_idle") and vote == "yes":
            expected = min(before + _CREDIT_STEP, _CREDIT_CAP)
        self._bench.count("credit")
        if event["credit"] != expected:
            text = f"{account.user_id}: credit {event['credit']}, not {expected} (was {before})"
            self._bench.report("credit", text, account.user_id)

    def check_window(self, meeting: Meeting, outcome: str, now_s: float) -> None:
        """A missing vote counts as idle when the window is over, and not before (R11)."""
        both = [self.ledger.of(user_id) for user_id in meeting.pair]
        if meeting.voting_s is None or not meeting.window_s or not outcome.endswith("idle"):
            return
        is_watched = all(
            one.left_s < meeting.told_s and now_s - one.spoke_s < LIVENESS_S / 2 for one in both
        )
        if not is_watched or meeting.left or not self._weather.is_steady(GRACE_S):
            return
        self._bench.count("vote_window")
        took_s = now_s - meeting.voting_s
        if took_s < meeting.window_s - 0.1:
            text = f"{meeting.match_id} is over after {took_s:.1f} of {meeting.window_s:g} s"
            self._bench.report("stale_timer", text, *meeting.pair)

    def check_agreement(self, meeting: Meeting) -> None:
        """Both sides are told the same."""
        real = {one for one in meeting.outcomes.values() if one != "cancelled"}
        if len(real) > 1 or (real and meeting.cancelled):
            text = f"{meeting.match_id}: {meeting.outcomes} and {meeting.cancelled}"
            self._bench.report("sides_disagree", text, *meeting.pair)

    def check_reason(self, account: Account, meeting: Meeting, reason: str, now_s: float) -> None:
        """What is given as the reason of a cancelled match is true."""
        me = account.user_id
        other = self.ledger.of(meeting.pair[1] if meeting.pair[0] == me else meeting.pair[0])
        fair = self._weather.is_steady(GRACE_S)
        if reason == "not_acknowledged":
            if len(meeting.acknowledged) == 2:
                text = f"{meeting.match_id} was acknowledged by both"
                self._bench.report("stale_timer", text, *meeting.pair)
            elif fair and now_s - meeting.told_s < 4.9:
                text = f"{meeting.match_id} was called off after {now_s - meeting.told_s:.1f} s"
                self._bench.report("stale_timer", text, *meeting.pair)
        elif reason == "partner_left" and fair and other.left_s < meeting.told_s:
            text = f"{meeting.match_id}: {other.user_id} has not left"
            self._bench.report("left_though_there", text, *meeting.pair)
        elif reason == "partner_lost" and fair and self.knows_when(account, now_s):
            silent_s = other.silent_before(now_s if meeting.ended_s is None else meeting.ended_s)
            if silent_s < LIVENESS_S - 0.1:
                text = f"{meeting.match_id}: {other.user_id} was silent for {silent_s:.1f} s"
                self._bench.report("lost_though_alive", text, *meeting.pair)
        elif reason == "server_restart" and not self._weather.was_down_since(now_s - 2 * GRACE_S):
            text = f"{meeting.match_id} was called off, and nothing was restarted"
            self._bench.report("restart_without_one", text, *meeting.pair)
