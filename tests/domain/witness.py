"""One who sees only what goes into the lobby and what comes out, and holds it to the rulings.

From events, replies and notices alone the witness knows who has met, who is blocked or barred, what
each client must believe and which tiers it has been told of. It shares no code with the lobby's own
memory.
"""

from __future__ import annotations

import pytest

from tests.domain.evening import ModelStore
from tests.domain.scan import age, bounds, lies_inside, pair_points, within_strict_limits
from yoked_actor.domain.lobby import (
    CallEnd,
    Notice,
    NowIdle,
    Quality,
    Refusal,
    Reply,
    State,
    pair_of,
)
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.notices import (
    CallEnded,
    DateStarted,
    MatchCancelled,
    Matched,
    MatchLeft,
    NowWaiting,
    OutcomeReached,
    Ringing,
    TierReached,
    VotingOpened,
)
from yoked_actor.domain.lobby.records import Pair
from yoked_actor.domain.lobby.replies import CallPlaced, Done, VoteReply
from yoked_actor.domain.people import Person, distance_km
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, after

DAY_S = 86_400.0
Told = list[tuple[str, Notice]]


class Witness:
    """The state as derived from the events and the notices alone."""

    def __init__(self, rules: Rules, people: dict[str, Person], user_ids: tuple[str, ...]) -> None:
        self.rules = rules
        self.people = dict(people)
        self.pairs: dict[str, Pair] = {}
        self.opened: set[str] = set()
        self.over: set[str] = set()
        self.met: dict[Pair, Instant] = {}
        self.bars: dict[Pair, Instant] = {}
        self.blocks: set[tuple[str, str]] = set()
        self.awaited: dict[str, set[str]] = {}
        self.believed: dict[str, State] = dict.fromkeys(user_ids, State.IDLE)
        self.waits: dict[str, tuple[Instant, int]] = {}
        """The waiting users, since when, and the tier that their client knows."""
        self.calls: dict[str, tuple[str, str]] = {}
        """Every call of which a user was told, with caller and callee."""
        self.ringing: dict[str, tuple[str, str, Instant]] = {}
        """Caller, callee, and until when."""
        self.ends: dict[str, dict[str, CallEnd]] = {}
        """How each user of a call was told that it ended."""

    def see(self, event: ev.Event, reply: Reply, notices: Told, now: Instant) -> None:
        """An event was handled."""
        match event:
            case ev.Attached() | ev.Called():
                for awaited in self.awaited.values():
                    awaited.discard(event.user_id)
            case ev.ProfileChanged():
                self.people[event.user_id] = event.person
            case ev.Block() if reply == Done():
                self.blocks.add((event.user_id, event.other))
            case ev.Unblock() if reply == Done():
                self.blocks.remove((event.user_id, event.other))
            case _:
                pass
        if isinstance(reply, Refusal):
            assert notices == [], "refused, and yet something happened"
        if reply == VoteReply():
            assert notices == [], "a vote that decides nothing stays sealed"
        if isinstance(event, ev.StartDate) and isinstance(reply, CallPlaced):
            self._called(event.user_id, event.partner, reply, notices, now)
        self.hear_of(notices, now)
        if isinstance(event, ev.Expel | ev.Erase):
            assert event.user_id not in dict(notices), "who is put out is told nothing"
            self.believed[event.user_id] = State.IDLE
            self.waits.pop(event.user_id, None)
        if isinstance(event, ev.Erase):
            self._erased(event.user_id)

    def _called(
        self, caller: str, callee: str, placed: CallPlaced, notices: Told, now: Instant
    ) -> None:
        """A new call rings on the other side, or is busy at once; a known one is repeated."""
        assert not {(caller, callee), (callee, caller)} & self.blocks
        call_id = placed.call_id
        if call_id in self.calls:
            assert {caller, callee} == set(self.calls[call_id])
            assert call_id in self.ringing
            return
        self.calls[call_id] = (caller, callee)
        in_calls = {user for a, b, _ in self.ringing.values() for user in (a, b)}
        assert caller not in in_calls
        assert self.believed[caller] is State.IDLE
        rings = [one for user, one in notices if isinstance(one, Ringing) and user == callee]
        if rings:
            assert callee not in in_calls
            assert self.believed[callee] in (State.IDLE, State.WAITING)
            assert [(one.call_id, one.ring_until) for one in rings] == [
                (call_id, after(now, self.rules.ring_s))
            ]
            assert placed.ring_until == rings[0].ring_until
            self.ringing[call_id] = (caller, callee, placed.ring_until)
        else:
            busy = CallEnded(call_id, CallEnd.BUSY)
            assert notices == [(caller, busy), (callee, busy)]

    def _call_ended(self, user_id: str, notice: CallEnded) -> None:
        """Both are told the same, once; a removed user is not told."""
        assert user_id in self.calls[notice.call_id]
        self.ringing.pop(notice.call_id, None)
        told = self.ends.setdefault(notice.call_id, {})
        assert user_id not in told
        told[user_id] = notice.reason
        assert len(set(told.values())) == 1

    def _erased(self, user_id: str) -> None:
        self.people.pop(user_id, None)
        self.met = {pair: at for pair, at in self.met.items() if user_id not in pair}
        self.bars = {pair: until for pair, until in self.bars.items() if user_id not in pair}
        self.blocks = {pair for pair in self.blocks if user_id not in pair}

    def hear_of(self, notices: Told, now: Instant) -> None:
        """These notices were delivered."""
        for user_id, notice in notices:
            match notice:
                case Matched():
                    self._matched(user_id, notice, now)
                    self.believed[user_id] = State.MATCHED
                case VotingOpened():
                    if notice.match_id not in self.opened:
                        self.met[self.pairs[notice.match_id]] = now
                    self.opened.add(notice.match_id)
                    assert self.believed[user_id] in (State.MATCHED, State.VOTING)
                    self.believed[user_id] = State.VOTING
                case MatchCancelled():
                    self._cancelled(notice.match_id, now)
                    assert self.believed[user_id] in (State.MATCHED, State.VOTING)
                    self.believed[user_id] = notice.next
                case MatchLeft():
                    self._left(user_id, notice, now)
                case OutcomeReached():
                    self.over.add(notice.match_id)
                    assert self.believed[user_id] is State.VOTING
                    self.believed[user_id] = notice.next
                case NowWaiting(since=since):
                    self.believed[user_id] = State.WAITING
                    if self.waits.get(user_id, (None, 0))[0] != since:
                        self.waits[user_id] = (since, self.tier_by(since, now))
                case TierReached():
                    self._tier_reached(user_id, notice.tier, now)
                case CallEnded():
                    self._call_ended(user_id, notice)
                case DateStarted():
                    assert self.believed[user_id] is State.IDLE
                    assert not any(user_id in call[:2] for call in self.ringing.values())
                case NowIdle():
                    self.believed[user_id] = State.IDLE
                case _:
                    pass
            if self.believed[user_id] is not State.WAITING:
                self.waits.pop(user_id, None)

    def tier_by(self, since: Instant, now: Instant) -> int:
        """The tier of a wait (R8)."""
        rules, waited = self.rules, now - since
        edges = ((rules.tier2_after_s, 2), (rules.tier3_after_s, 3), (rules.forced_after_s, 99))
        return max([tier for after_s, tier in edges if round(after_s * 1e6) <= waited], default=1)

    def _tier_reached(self, user_id: str, tier: int, now: Instant) -> None:
        """One notice per edge: the next tier after what the client knows, and not too early."""
        since, known = self.waits[user_id]
        rules = self.rules
        edges = {
            after(since, after_s)
            for after_s in (rules.tier2_after_s, rules.tier3_after_s, rules.forced_after_s)
        }
        edge = min(at for at in edges if self.tier_by(since, at) > known)
        assert edge <= now
        assert tier == self.tier_by(since, edge)
        self.waits[user_id] = (since, tier)

    def may_meet(self, a: str, b: str, spun_at: Instant, now: Instant) -> bool:
        """R3 and R20: whether no hard constraint keeps two apart; R9 is about these."""
        one, other = self.people[a], self.people[b]
        pair, days = pair_of(a, b), self.rules.rematch_after_days
        met_at = self.met.get(pair)
        return (
            one.gender in other.seeking
            and other.gender in one.seeking
            and min(age(one, now), age(other, now)) >= 18
            and not {(a, b), (b, a)} & self.blocks
            and self.bars.get(pair, now) <= now
            and (met_at is None or (days is not None and spun_at >= after(met_at, days * DAY_S)))
            and within_strict_limits(one, other, now)
        )

    def check_quality(self, row: Quality, now: Instant) -> None:
        """What is recorded of a match that was just made is true, and nobody gave way for another.

        Each side's tier is the least in which they accept the other, and their own wait reached it.
        """
        pair = self.pairs[row.match_id]
        a, b = (self.people[user_id] for user_id in pair)
        km = distance_km(a, b)
        assert row.paired_at == now
        assert row.policy == self.rules.policy
        assert row.distance_km == round(km, 3)
        assert row.preference_match * 100 + row.distance_score * 10 == pytest.approx(
            float(pair_points(a, b, now))
        )
        sides = (
            (a, b, row.a_tier, row.a_wait_s, row.a_group),
            (b, a, row.b_tier, row.b_wait_s, row.b_group),
        )
        for mine, partner, tier, wait_s, group in sides:
            assert tier <= self.tier_by(now - round(wait_s * 1e6), now)
            assert lies_inside(bounds(mine, tier), partner, km, now)
            for narrower in (1, 2, 3):
                if narrower < tier:
                    assert not lies_inside(bounds(mine, narrower), partner, km, now)
            assert group.startswith(f"{mine.gender} seeking ")
            assert all(gender in group.partition(" seeking ")[2] for gender in mine.seeking)

    def _matched(self, user_id: str, notice: Matched, now: Instant) -> None:
        pair = pair_of(user_id, notice.partner.user_id)
        if self.pairs.setdefault(notice.match_id, pair) != pair:
            raise AssertionError(f"{notice.match_id} is between {pair} and somebody else")
        assert notice.acknowledge_by > now
        if notice.match_id in self.awaited:
            return  # Told again after a restart; it was right when it was made.
        one, other = (self.people[user_id] for user_id in pair)
        assert pair[0] != pair[1]
        assert min(age(one, now), age(other, now)) >= 18
        assert one.gender in other.seeking
        assert other.gender in one.seeking
        assert within_strict_limits(one, other, now)
        assert pair not in self.blocks
        assert pair[::-1] not in self.blocks
        assert self.bars.get(pair, now) <= now
        days = self.rules.rematch_after_days
        if pair in self.met:
            assert days is not None
            assert now >= after(self.met[pair], days * DAY_S)

    def _left(self, user_id: str, notice: MatchLeft, now: Instant) -> None:
        """A user who leaves is notified of the end of the match that they know of."""
        was_voting = self.believed[user_id] is State.VOTING
        assert was_voting or self.believed[user_id] is State.MATCHED
        assert user_id in self.pairs[notice.match_id]
        assert notice.was_voting is was_voting
        if notice.outcome is None:
            self._cancelled(notice.match_id, now)
        else:
            assert was_voting
            self.over.add(notice.match_id)
        self.believed[user_id] = notice.next

    def _cancelled(self, match_id: str, now: Instant) -> None:
        if match_id in self.over:
            return
        self.over.add(match_id)
        pair = self.pairs[match_id]
        if self.awaited.get(match_id):
            self.met.pop(pair, None)
        elif match_id not in self.opened:
            self.bars[pair] = after(now, self.rules.bar_s)

    def restarted(self, store: ModelStore, now: Instant) -> None:
        """A new process was started; every client gets a snapshot."""
        self.ringing = {}
        self.awaited = {m: set(row.users) for m, row in store.matches.items() if row.is_open}
        for user_id in store.seats:
            self.believed[user_id] = store.seat(user_id).state
        self.waits = {
            user_id: (seat.waiting_since, self.tier_by(seat.waiting_since, now))
            for user_id, seat in store.seats.items()
            if seat.state is State.WAITING and seat.waiting_since is not None
        }
