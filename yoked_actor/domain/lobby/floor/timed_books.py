"""The deadlines that follow from the books (R6).

A deadline is added when a window, a wait, a bar, a call or a date begins, and is never removed:
when it comes due, it is compared with the books and dropped if it no longer applies. Liveness is
the exception: each user has one liveness deadline, which is moved when it comes due too early.
"""

from __future__ import annotations

from typing import Final

from yoked_actor.domain.lobby.constants import IDLE
from yoked_actor.domain.lobby.floor.books import Books
from yoked_actor.domain.lobby.floor.deadlines import Deadlines, Due
from yoked_actor.domain.lobby.records import (
    MAIN,
    Call,
    Match,
    MatchStatus,
    Pair,
    Presence,
    VideoDate,
)
from yoked_actor.domain.matching import Tier, Tiers
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, microseconds

_WINDOW: Final = {MatchStatus.MATCHED: Due.ACKNOWLEDGE, MatchStatus.VOTING: Due.VOTE}


# A constant is read faster than a member of an enumeration.
_LIVENESS: Final = Due.LIVENESS
_TIER: Final = Due.TIER


class TimedBooks(Books):
    """The books, and every deadline of what they hold."""

    def __init__(self, rules: Rules, room: str = MAIN) -> None:
        super().__init__(rules, room)
        self.tiers = Tiers.by(rules)
        self.deadlines = Deadlines()
        self._liveness = microseconds(rules.liveness_s)
        self._resume_grace = microseconds(rules.resume_grace_s)
        self.acknowledge_window = microseconds(rules.acknowledge_window_s)
        self.vote_window = microseconds(rules.vote_window_s)
        self.heard_at: dict[str, Instant] = {}
        self._timed: dict[str, Instant] = {}

    def is_online(self, user_id: str, now: Instant) -> bool:
        """Whether a user can be called for a date."""
        return self.is_reachable(user_id, self.presence(user_id), now)

    def is_reachable(self, user_id: str, presence: Presence, now: Instant) -> bool:
        """Whether a user with this presence has a socket, or called over HTTP just now.

        An idle user sends no heartbeats, so without a socket only a recent call is a sign of life.
        """
        if presence.device:
            return True
        heard_at = self.heard_at.get(user_id, 0)
        return presence.called and heard_at + self._liveness > now

    def is_timed(self, user_id: str) -> bool:
        """Whether a liveness deadline is kept for a user."""
        return user_id in self._timed

    def record_life(self, user_id: str, now: Instant) -> None:
        """Record a sign of life."""
        awaited = self.heard_at.get(user_id, 0) > now
        self.heard_at[user_id] = now
        if awaited and user_id in self._timed:
            # The user is back after a restart: from now on heartbeats count again.
            self._time_liveness(user_id)

    def liveness_at(self, user_id: str) -> Instant:
        """When a user who stays silent is lost.

        A user on a date is idle and sends no heartbeats: only a missing socket counts, for longer.
        """
        idle = self.seats.rows[user_id].state is IDLE
        on_a_date = idle and self.calls.of(user_id) is None
        patience = self._resume_grace if on_a_date else self._liveness
        return self.heard_at.get(user_id, 0) + patience

    def liveness_fired(self, user_id: str, at: Instant) -> bool:
        """Whether the user was lost at `at`; if not, the deadline is set again if one is needed.

        `at` is the instant of the deadline, even if it runs late: deadlines run in their order.
        """
        if self._timed.get(user_id) != at:
            return False
        del self._timed[user_id]
        if self._is_lost(user_id, at):
            return True
        seat = self.seats.rows.get(user_id)
        if seat is not None and (seat.state is not IDLE or self.must_return(user_id)):
            self._time_liveness(user_id)
        return False

    def silent_by(self, now: Instant) -> list[str]:
        """The users whom the deadlines that are due by now declare lost, unless they are heard."""
        return [
            user_id
            for at, due, user_id, _ in self.deadlines.due_by(now)
            if due is _LIVENESS and self._timed.get(user_id) == at and self._is_lost(user_id, at)
        ]

    def move_liveness(self) -> None:
        """Move the next deadline, as long as it is the liveness of a user who is not lost then.

        A user who waits is heard every few seconds. Without this, each would need a round whenever
        the deadline of an earlier sign of life comes due.
        """
        deadlines = self.deadlines
        while (first := deadlines.first()) is not None and first[1] is _LIVENESS:
            at, _, user_id, _ = first
            if self._timed.get(user_id) == at and self._is_lost(user_id, at):
                return
            deadlines.pop_due(at)
            self.liveness_fired(user_id, at)

    def _is_lost(self, user_id: str, at: Instant) -> bool:
        seat = self.seats.rows.get(user_id)
        if seat is None or (seat.state is IDLE and not self.must_return(user_id)):
            return False
        return self.liveness_at(user_id) <= at

    def must_return(self, user_id: str) -> bool:
        """Whether an idle user is absent from a date, or has no socket while a call rings."""
        presence = self.presence(user_id)
        if self.seats.rows[user_id].date_id is not None:
            return not presence.here
        return not presence.device and self.calls.of(user_id) is not None

    def _time_liveness(self, user_id: str) -> None:
        # One deadline per user. It may be too early, and then moves when it comes due, but never
        # too late: the time allowed is longer on a date and after a restart than in line.
        at = self.liveness_at(user_id)
        timed_at = self._timed.get(user_id)
        if timed_at is None or at < timed_at:
            self._timed[user_id] = at
            self.deadlines.add(at, _LIVENESS, user_id)

    def _time_match(self, match: Match) -> None:
        closes_at = match.closes_at
        if closes_at is not None and match.ended_at is None:
            self.deadlines.add(closes_at, _WINDOW[match.status], match.a, match.match_id)

    def _time_date(self, date: VideoDate) -> None:
        self.deadlines.add(date.ends_at, Due.DATE, date.a, date.date_id)

    def _time_call(self, call: Call) -> None:
        self.deadlines.add(call.ring_until, Due.RING, call.caller, call.call_id)

    def _time_count(self, caller: str, callee: str, placed_at: Instant) -> None:
        until = placed_at + microseconds(self.rules.calls_within_s)
        self.deadlines.add(until, Due.CALL_COUNT, caller, callee)

    def _time_tier(self, user_id: str, since: Instant, tier: Tier) -> None:
        edge_at = self.tiers.next_edge(since, tier)
        if edge_at is not None:
            self.deadlines.add(edge_at, _TIER, user_id)

    def _retime_tier(self, user_id: str) -> None:
        seat, line = self.seats.rows.get(user_id), self.lines.rows.get(user_id)
        if seat is not None and line is not None and seat.waiting_since is not None:
            self._time_tier(user_id, seat.waiting_since, line.tier)

    def _time_bar(self, pair: Pair, until: Instant) -> None:
        self.deadlines.add(until, Due.BAR, pair[0], pair[1])
