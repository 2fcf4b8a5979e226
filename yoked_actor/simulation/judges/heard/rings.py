"""Calls that ring: both sides learn the same end, and for a reason that is true."""

from __future__ import annotations

from typing import Any

import trio

from yoked_actor.simulation.judges.heard.accounts import Account
from yoked_actor.simulation.judges.verdict import Bench, Weather

_RINGS_S = 15.0
_EARLY_S = 0.2
_KEPT = 500


class _Ring:
    """A call, as its two people know of it."""

    def __init__(self) -> None:
        self.began_s = trio.current_time()
        self.said: set[str] = set()
        """Commands that its people have sent about it."""
        self.ends: dict[str, str] = {}


class RingWitness:
    """Hears of calls."""

    def __init__(self, bench: Bench, weather: Weather) -> None:
        self._bench = bench
        self._weather = weather
        self._rings: dict[str, _Ring] = {}
        self._called_s: dict[str, float] = {}
        """When each person last called somebody."""

    def _of(self, call_id: str) -> _Ring:
        ring = self._rings.get(call_id)
        if ring is None:
            ring = self._rings[call_id] = _Ring()
            if len(self._rings) > _KEPT:
                del self._rings[next(iter(self._rings))]
        return ring

    def calling(self, user_id: str) -> None:
        """A person calls a connection."""
        self._called_s[user_id] = trio.current_time()

    def began(self, call_id: str) -> None:
        """A person calls, or is called."""
        self._bench.count("ring")
        self._of(call_id)

    def said(self, kind: str, call_id: str) -> None:
        """A person answers a call, or stops it."""
        self._of(call_id).said.add(kind)

    def ended(self, account: Account, event: dict[str, Any]) -> None:
        """A person was told that a call is over."""
        me, call_id, reason = account.user_id, event["call_id"], event["reason"]
        is_known = call_id in self._rings
        ring = self._of(call_id)
        self._bench.count(f"ring_{reason}")
        others = {one for who, one in ring.ends.items() if who != me}
        ring.ends[me] = reason
        if others - {reason}:
            text = f"{me} is told {reason} of {call_id}, the other {others}"
            self._bench.report("sides_disagree", text, *ring.ends)
        if reason == "accepted" and "accept_call" not in ring.said and not self._crossed(account):
            self._bench.report("ring", f"{call_id} was accepted by nobody", *ring.ends)
        if reason == "missed" and is_known and self._weather.is_steady(_RINGS_S):
            rang_s = trio.current_time() - ring.began_s
            if rang_s < _RINGS_S - _EARLY_S:
                self._bench.report("ring", f"{call_id} was missed after {rang_s:.1f} s", me)

    def _crossed(self, account: Account) -> bool:
        """Whether two may have called each other at the same time, which connects them."""
        since_s = trio.current_time() - _RINGS_S - 5.0
        callers = {who for who, called_s in self._called_s.items() if called_s > since_s}
        return account.user_id in callers and not callers.isdisjoint(account.connections.values())
