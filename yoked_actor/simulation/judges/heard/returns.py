"""What a person finds on coming back: the place in line and the credit are kept (R14, R18)."""

from __future__ import annotations

from typing import Any

from yoked_actor.simulation.judges.heard.accounts import Account
from yoked_actor.simulation.judges.heard.endings import GRACE_S, LIVENESS_S
from yoked_actor.simulation.judges.heard.rooms import RoomJudge
from yoked_actor.simulation.judges.verdict import Bench, Weather


class Returns:
    """Compares a snapshot with what the person knew."""

    def __init__(self, bench: Bench, weather: Weather, rooms: RoomJudge) -> None:
        self._bench = bench
        self._weather = weather
        self._rooms = rooms

    def compare(self, account: Account, snapshot: dict[str, Any], now_s: float) -> None:
        """Places and credit survive a lost connection and a restart (R14, R18)."""
        if account.state is None or account.spoke_s < 0:
            return
        away_s = now_s - account.spoke_s
        was_down = self._weather.was_down_since(account.spoke_s)
        could_vote = account.state == "voting" or (
            account.state == "matched" and account.acknowledged
        )
        if account.credit is not None and not could_vote:
            self._bench.count("credit_kept")
            if snapshot["credit"] != account.credit:
                text = f"{account.user_id}: credit was {account.credit}, is {snapshot['credit']}"
                self._bench.report("credit_lost", text, account.user_id)
        if account.state != "waiting" or account.left_s > account.waiting_s:
            return
        if self._weather.has_stepped_since(account.since_s):
            return
        if self._rooms.may_have_closed(account.room, account.spoke_s):
            return  # then nobody has a place in it any more
        if was_down:
            back_s = now_s - self._weather.up_at
            was_in_time = self._weather.down_at - account.spoke_s < LIVENESS_S - 1.0
            is_kept = was_in_time and 0 <= back_s < GRACE_S - 1.0
        else:
            is_kept = away_s < LIVENESS_S - 1.0 and self._weather.is_fair(away_s)
        if not is_kept:
            return
        self._bench.count("place_kept")
        if snapshot["state"] == "idle":
            text = f"{account.user_id} waited since {account.since} and is idle"
            self._bench.report("place_lost", text, account.user_id)
        elif snapshot["state"] == "waiting" and snapshot["waiting_since"] != account.since:
            text = f"{account.user_id} waited since {account.since}, now {snapshot}"
            self._bench.report("place_lost", text, account.user_id)
