"""The guarantee (R9), as people could check it themselves.

Two people of one room who are connected, wait longer than the forced edge, seek each other, are
inside each other's strict limits and have nothing between them must not both be waiting. The
witness looks when a wait has grown old.
"""

from __future__ import annotations

import trio

from yoked_actor.simulation.judges.heard.accounts import Account, Ledger, pair_of
from yoked_actor.simulation.judges.heard.endings import BAR_S
from yoked_actor.simulation.judges.heard.limits import attracted, surely_inside
from yoked_actor.simulation.judges.heard.rooms import RoomJudge
from yoked_actor.simulation.judges.verdict import Bench, Weather
from yoked_actor.simulation.rooms import MAIN

FORCED_S = 10.0
SLACK_S = 2.0
_FRESH_S = 6.0
"""A person who said something so recently is not lost."""


class Guarantee:
    """Compares a person who waits with all others who wait."""

    def __init__(self, ledger: Ledger, bench: Bench, weather: Weather, rooms: RoomJudge) -> None:
        self._ledger = ledger
        self._bench = bench
        self._weather = weather
        self._rooms = rooms

    def check(self, user_id: str) -> None:
        """Report everybody with whom this person should have been matched."""
        if not self._weather.is_steady(SLACK_S + FORCED_S):
            return
        mine = self._ledger.of(user_id)
        if not self._waits_long(mine):
            return
        self._bench.count("guarantee")
        if mine.room not in (None, MAIN):
            self._bench.count("guarantee_in_a_room")
        for theirs in self._ledger.accounts.values():
            if theirs is not mine and self._waits_long(theirs) and self._may_meet(mine, theirs):
                text = f"{mine.user_id} and {theirs.user_id} both wait past the forced edge"
                self._bench.report("guarantee", text, mine.user_id, theirs.user_id)

    def _waits_long(self, account: Account) -> bool:
        now_s = trio.current_time()
        return (
            account.state == "waiting"
            and account.is_here
            and account.online_s is not None
            and now_s - account.online_s > SLACK_S
            and now_s - account.waiting_s > FORCED_S + SLACK_S
            and now_s - account.spoke_s < _FRESH_S
            and now_s - max(account.profile_s, account.left_s, account.freed_s) > SLACK_S
            and not account.profile_unsure
            and account.profile is not None
        )

    def _may_meet(self, a: Account, b: Account) -> bool:
        """Whether nothing that the witness knows, or suspects, is between two."""
        one, other = a.user_id, b.user_id
        now_s = trio.current_time()
        cancelled_s = self._ledger.last_cancelled_s(one, other)
        today = self._rooms.today()
        return (
            a.room is not None
            and a.room == b.room
            and not self._rooms.is_closed(a.room)
            and attracted(a, b)
            and surely_inside(a, b, today)
            and surely_inside(b, a, today)
            and other not in a.maybe_blocks
            and one not in b.maybe_blocks
            and now_s - cancelled_s > BAR_S + SLACK_S
            and not self._ledger.may_have_met(one, other)
            and not any(
                m.ended_s is None for m in self._ledger.by_pair.get(pair_of(one, other), ())
            )
        )
