"""Who may be matched with whom: hard limits, strict limits, history, blocks and bars.

All of these hold in every room, and between rooms.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from yoked_actor.simulation.judges.heard.accounts import Account, Ledger, Meeting
from yoked_actor.simulation.judges.heard.endings import BAR_S
from yoked_actor.simulation.judges.heard.limits import are_known, attracted, outside
from yoked_actor.simulation.judges.verdict import Bench, Weather


class Pairings:
    """Judges a match that somebody is told of for the first time."""

    def __init__(self, ledger: Ledger, bench: Bench, weather: Weather) -> None:
        self._ledger = ledger
        self._bench = bench
        self._weather = weather

    def check(
        self,
        mine: Account,
        theirs: Account,
        new: Meeting,
        event: dict[str, Any],
        now_s: float,
    ) -> None:
        """Object to a match of two who may not meet."""
        a, b = mine.user_id, theirs.user_id
        self._check_history(mine, theirs, new, now_s)
        if theirs.suspended_s is not None and not theirs.suspension_unsure:
            if theirs.suspended_s < now_s - 1.0 and theirs.freed_s < theirs.suspended_s:
                self._bench.report("suspended_matched", f"{a} is matched with {b}", a, b)
        if theirs.erased_s is not None and theirs.erased_s < now_s - 0.5:
            self._bench.report("erased_matched", f"{a} is matched with {b}, who is erased", a, b)
        made_s = self._weather.when_s(event["at"])
        if are_known(mine, theirs, min(now_s, made_s) - 1.0):
            self._check_limits(mine, theirs, event)

    def _check_history(self, mine: Account, theirs: Account, new: Meeting, now_s: float) -> None:
        a, b = mine.user_id, theirs.user_id
        earlier = [one for one in self._ledger.by_pair[new.pair] if one is not new]
        if any(one.voting_s is not None and not one.restarted for one in earlier):
            self._bench.report("rematch", f"{a} and {b} have met and are matched again", a, b)
        barred_s = now_s - max(
            (one.ended_s for one in earlier if one.ended_s is not None and one.cancelled),
            default=-1e9,
        )
        if barred_s < BAR_S - 1.0 and not self._weather.has_stepped_since(now_s - 2 * BAR_S):
            text = f"{a} and {b} are matched {barred_s:.1f} s after their match was cancelled"
            self._bench.report("barred", text, a, b)
        for one, other in ((mine, theirs), (theirs, mine)):
            blocked_s = one.blocks.get(other.user_id)
            if blocked_s is not None and blocked_s < now_s - 0.5:
                text = f"{one.user_id} has blocked {other.user_id}, and they are matched"
                self._bench.report("blocked_matched", text, a, b)

    def _check_limits(self, mine: Account, theirs: Account, event: dict[str, Any]) -> None:
        a, b = mine.user_id, theirs.user_id
        if not attracted(mine, theirs):
            self._bench.report("hard_limits", f"{a} and {b} do not seek each other", a, b)
        today = datetime.fromisoformat(event["at"]).astimezone(UTC).date()
        self._bench.count("strict_limits")
        for one, other in ((mine, theirs), (theirs, mine)):
            problem = outside(one, other, [today])
            if problem is not None:
                self._bench.report("strict_limits", f"{problem}, and they are matched", a, b)
