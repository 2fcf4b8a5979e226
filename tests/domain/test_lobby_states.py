"""The lobby under arbitrary histories: any event, any time, any failure to save, any restart.

A `Witness` sees only what goes in and comes out. From that it knows for itself who has met, who is
blocked or barred, who ought to be lost, what each client must believe and which tier it is in; the
lobby is held against it, against the auditor, against a store that has nothing but the saved
changes, and, in every choice of a partner, against a scan of everybody.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from tests.domain.crowds import EVERYONE, START, crowd_ids, guests, man, person, rivals
from tests.domain.evening import ModelStore
from tests.domain.scan import Bounds, scan
from tests.domain.witness import DAY_S, Witness
from yoked_actor.domain.lobby import (
    DateEnded,
    Effects,
    Floor,
    IdleReason,
    Lobby,
    Match,
    Notice,
    NowIdle,
    State,
    Vote,
    audit_floor,
)
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.floor.deadlines import Deadline, Deadlines
from yoked_actor.domain.lobby.notices import (
    DateStarted,
    MatchCancelled,
    Matched,
    MatchLeft,
    OutcomeReached,
    VotingOpened,
)
from yoked_actor.domain.lobby.replies import Done
from yoked_actor.domain.matching import Apart, Choice, Limits, Pool, Ticket, policy_by
from yoked_actor.domain.people import Person
from yoked_actor.domain.rules import PolicyName, Rules
from yoked_actor.domain.time import Instant, after, from_datetime

USERS = crowd_ids(8)
PROFILES = {
    "u0": person("u0", "woman", "man"),
    "u1": person("u1", "man", "woman"),
    "u2": person("u2", "woman", EVERYONE),
    "u3": person("u3", "man", EVERYONE),
    "u4": person("u4", "nonbinary", EVERYONE),
    "u5": person("u5", "woman", frozenset({"woman", "nonbinary"})),
    "u6": person("u6", "man", frozenset({"woman", "man"})),
}
"""All but u7, who has no profile."""
BEFORE_MIDNIGHT = from_datetime(datetime(2026, 1, 1, 23, 59, 50, tzinfo=UTC))
"""Some have a birthday soon."""
TIER_EDGES_S = ((2.0, 10.0, 10.0), (1.0, 4.0, 25.0), (3.0, 3.0, 3.0), (0.0, 0.0, 8.0))
MOST_DEADLINES_IN_A_WAKE = 500
ANSWERS: dict[str, Callable[[str, str], ev.Event]] = {
    "accept": ev.AcceptCall,
    "decline": ev.DeclineCall,
    "cancel": ev.CancelCall,
}
Photo = dict[str, dict[Any, Any]]
Call = tuple[ev.Event | None, Instant, Effects]
"""An event, or None for a wake; its instant; its output."""


class CountedDeadlines(Deadlines):
    """The deadlines of a lobby, which fail if one wake does not end."""

    def __init__(self, deadlines: Deadlines) -> None:
        super().__init__()
        self._instants, self._by_instant = deadlines._instants, deadlines._by_instant
        self.run = 0

    def pop_due(self, now: Instant) -> Deadline | None:
        self.run += 1
        assert self.run <= MOST_DEADLINES_IN_A_WAKE, "a wake that does not end"
        return super().pop_due(now)


class WatchedPool(Pool):
    """A pool that compares every choice with a scan, and counts skips on its own."""

    def __init__(self, rules: Rules, floor: Floor) -> None:
        super().__init__(policy_by(rules), floor.tiers, numbers=floor.numbers)
        self._policy_name = rules.policy
        self.skips: Counter[str] = Counter()
        self.choices = 0

    def best_partner(
        self,
        seeker: Ticket,
        limits: Limits,
        now: Instant,
        apart: Apart,
        beyond: Limits | None = None,
    ) -> Choice | None:
        choice = super().best_partner(seeker, limits, now, apart, beyond)
        inside: Bounds = (limits.min_age, limits.max_age, limits.max_km)
        # Whoever is said to be known already must not be missed: the scan looks at them, too.
        best, passed = scan(
            self._policy_name,
            self.tickets(),
            seeker.person,
            inside,
            now,
            lambda user_id: user_id != seeker.user_id and user_id not in apart,
        )
        assert (None if choice is None else choice.ticket) == best
        assert ([] if choice is None else choice.passed_over) == passed
        if best is not None:
            self.choices += 1
            self.skips.update(passed)
            del self.skips[seeker.user_id], self.skips[best.user_id]
        return choice


class LobbyMachine(RuleBasedStateMachine):
    """Drives a lobby with random events, failed commits and restarts."""

    calls: list[Call]
    """The events since the last settled round."""
    before: Photo
    witness_before: Witness
    skips_before: Counter[str]

    @initialize(
        rematch_after_days=st.sampled_from((None, None, 120 / DAY_S)),
        wakes_first=st.booleans(),
        policy=st.sampled_from(("fair_queue", "weighted")),
        edges_s=st.sampled_from(TIER_EDGES_S),
        start=st.sampled_from((START, BEFORE_MIDNIGHT)),
        strangers=st.one_of(
            st.just(PROFILES),
            st.fixed_dictionaries({user_id: guests(user_id) for user_id in PROFILES}),
            st.fixed_dictionaries({user_id: rivals(user_id) for user_id in USERS[:5]}).map(
                lambda women: {**women, "u5": man("u5"), "u6": man("u6", min_age=25, max_age=35)}
            ),
        ),
    )
    def open_the_doors(
        self,
        rematch_after_days: float | None,
        wakes_first: bool,
        policy: PolicyName,
        edges_s: tuple[float, float, float],
        start: Instant,
        strangers: dict[str, Person],
    ) -> None:
        self.wakes_first = wakes_first
        """Whether due deadlines run before a late event, or after it."""
        tier2_s, tier3_s, forced_s = edges_s
        self.limits = Rules(
            policy=policy,
            tier2_after_s=tier2_s,
            tier3_after_s=tier3_s,
            forced_after_s=forced_s,
            rematch_after_days=rematch_after_days,
            max_blocks=4,
            calls_per_pair=3,
            calls_within_s=100.0,
        )
        self.start = self.now = start
        self.store = ModelStore()
        self.store.people.update(strangers)
        self.witness = Witness(self.limits, strangers, USERS)
        self.heard: dict[str, Instant] = {}
        self.restarted_at = start
        self.devices = dict.fromkeys(USERS, 0)
        self._take(self.store.open_lobby(self.limits, start))

    # What people do. Few rules with much in each: a rule that is left out of a run costs it little.

    @rule(
        users=st.lists(st.sampled_from(USERS), min_size=1, max_size=7, unique=True),
        pause_s=st.sampled_from((0.0, 0.3)),
    )
    def come_and_spin(self, users: list[str], pause_s: float) -> None:
        for user in users:
            self._move_to(after(self.now, pause_s))
            if not self._is_here(user):
                self._attach(user)
            self._handle(ev.Spin(user))
        self._settle()

    @rule(
        two=st.sampled_from((("u0", "u1"), ("u2", "u3"), ("u1", "u2"), ("u3", "u4"), ("u4", "u5"))),
        votes=st.tuples(*[st.sampled_from((Vote.YES, *Vote))] * 2),
        pause_s=st.sampled_from((0.0, 0.0, 1.0, 5.0)),
    )
    def two_go_all_the_way(
        self, two: tuple[str, str], votes: tuple[Vote, Vote], pause_s: float
    ) -> None:
        self.come_and_spin(list(two), 0.0)
        match = self._stored_match(two[0])
        if match is None:
            return
        for user in match.users:
            self._handle(ev.Acknowledge(user, match.match_id))
        self._settle()
        self._move_to(after(self.now, pause_s))
        for user, vote in zip(match.users, votes, strict=True):
            if vote is not Vote.IDLE:
                self._handle(ev.Vote(user, match.match_id, vote))

    @rule(data=st.data(), vote=st.sampled_from((Vote.YES, Vote.PASS)), acknowledges=st.booleans())
    def one_answers(self, data: st.DataObject, vote: Vote, acknowledges: bool) -> None:
        user = self._someone(data, State.MATCHED if acknowledges else State.VOTING)
        match = self._stored_match(user)
        # Their own match as they were told of it; or an old one, a foreign one, or nonsense.
        if match is not None and data.draw(st.integers(0, 3)):
            match_id = match.match_id
        else:
            match_id = data.draw(st.sampled_from(["m0", *self.store.matches]))
        if acknowledges:
            self._handle(ev.Acknowledge(user, match_id))
        else:
            self._handle(ev.Vote(user, match_id, vote))

    @rule(data=st.data(), kind=st.sampled_from((ev.Spin, ev.Spin, ev.Leave, ev.Expel)))
    def one_turns_away(self, data: st.DataObject, kind: Callable[[str], ev.Event]) -> None:
        self._handle(kind(self._someone(data, State.WAITING, State.MATCHED, State.VOTING)))

    @rule(data=st.data(), is_stored_at_once=st.booleans())
    def one_is_erased(self, data: st.DataObject, is_stored_at_once: bool) -> None:
        user = self._someone(data, State.WAITING, State.MATCHED, State.VOTING)
        self._handle(ev.Erase(user, "~erased-1"))
        if not is_stored_at_once:
            self.fail_to_save("at the same instants")
        # Nothing may follow in the round of an erasure.
        self._settle()

    @rule(data=st.data(), user=st.sampled_from(USERS), other=st.sampled_from(USERS))
    def one_judges(self, data: st.DataObject, user: str, other: str) -> None:
        match = self._stored_match(user)
        if match is not None and data.draw(st.booleans()):
            other = match.partner_of(user)
        event: ev.Event = ev.Block(user, data.draw(st.sampled_from((other, other, "no such id!"))))
        if (user, other) in self.witness.blocks or data.draw(st.integers(0, 5)) == 0:
            event = ev.Unblock(user, other)
        self._handle(event)

    @rule(data=st.data(), user=st.sampled_from(USERS))
    def one_does_something_else(self, data: st.DataObject, user: str) -> None:
        self._handle(
            data.draw(
                st.one_of(
                    st.builds(ev.ProfileChanged, st.just(user), guests(user)),
                    st.builds(
                        ev.EndDate, st.just(user), st.sampled_from(["d0", *self.store.dates][-2:])
                    ),
                    st.builds(
                        ev.Signal,
                        st.just(user),
                        st.sampled_from(["d0", *self.store.dates][-2:]),
                        st.just(b"null"),
                    ),
                    st.sampled_from(
                        (
                            ev.SignOfLife(user),
                            ev.AskSnapshot(user),
                            ev.ListBlocks(user),
                            ev.Called(user),
                        )
                    ),
                )
            )
        )

    @rule(data=st.data(), user=st.sampled_from(USERS), other=st.sampled_from(USERS))
    def one_calls_another(self, data: st.DataObject, user: str, other: str) -> None:
        if data.draw(st.booleans()):
            other = self._someone(data, State.WAITING, State.MATCHED, State.VOTING)
        for one in (user, other):
            if not self._is_here(one) and data.draw(st.integers(0, 3)):
                self._attach(one)
        self._handle(ev.StartDate(user, other, "c1"))

    @rule(data=st.data(), answer=st.sampled_from(("accept", "accept", "decline", "cancel")))
    def one_answers_a_call(self, data: st.DataObject, answer: str) -> None:
        ringing = list(self.lobby.floor.calls.ringing.rows.values())
        if not ringing or data.draw(st.integers(0, 7)) == 0:
            # A call of another, one that is over, or nonsense.
            user = data.draw(st.sampled_from(USERS))
            call_id = data.draw(st.sampled_from(["r0-1", *self.witness.calls]))
        else:
            call = data.draw(st.sampled_from(ringing))
            user, call_id = data.draw(st.sampled_from((call.callee, call.caller))), call.call_id
        self._handle(ANSWERS[answer](user, call_id))

    @rule(data=st.data(), pause_s=st.sampled_from((0.0, 1.0, 9.0)), accepts=st.booleans())
    def two_call_while_others_meet(
        self, data: st.DataObject, pause_s: float, accepts: bool
    ) -> None:
        caller, callee = data.draw(st.permutations(USERS[:7]))[:2]
        for one in (caller, callee):
            if not self._is_here(one):
                self._attach(one)
        if data.draw(st.booleans()):
            self._handle(ev.Spin(callee))
        self._handle(ev.StartDate(caller, callee, "c1"))
        self._move_to(after(self.now, pause_s))
        call = self.lobby.floor.calls.of(callee)
        if accepts and call is not None:
            self._handle(ev.AcceptCall(callee, call.call_id))

    @rule(data=st.data(), comes=st.booleans(), stale=st.booleans())
    def one_comes_or_goes(self, data: st.DataObject, comes: bool, stale: bool) -> None:
        user = self._someone(data, State.WAITING, State.MATCHED, State.VOTING)
        device = self.devices[user]
        if comes:
            self._attach(user)
        elif device:
            self._handle(ev.Detached(user, max(1, device - 1) if stale else device))

    @rule(calling=st.booleans())
    def all_come_back(self, calling: bool) -> None:
        for user in USERS:
            if calling:
                self._handle(ev.Called(user))
            elif not self._is_here(user):
                self._attach(user)

    @rule(users=st.sets(st.sampled_from(USERS), min_size=1))
    def some_go_home(self, users: set[str]) -> None:
        for user in sorted(users):
            if self.devices[user]:
                self._handle(ev.Detached(user, self.devices[user]))
        self._settle()
        for user in sorted(users):
            self._forget(user)

    # What time does

    @rule(seconds=st.sampled_from((0.000001, 0.1, 1.0, 3.0, 4.9, 5.0, 20.0, 300.0)))
    def later(self, seconds: float) -> None:
        self._move_to(after(self.now, seconds))

    @rule(times=st.integers(1, 22), silent=st.sets(st.sampled_from(USERS)))
    def beats(self, times: int, silent: set[str]) -> None:
        for _ in range(times):
            self._move_to(after(self.now, 3.0))
            for user in USERS:
                if user not in silent and user in self.lobby.floor.seats.rows:
                    self._handle(ev.SignOfLife(user))

    @rule(times=st.integers(1, 3))
    def on_the_deadline(self, times: int) -> None:
        for _ in range(times):
            due = self.lobby.next_deadline()
            if due is not None:
                self._move_to(max(due, self.now))

    # What the disk does

    @precondition(lambda self: self.calls)
    @rule()
    def save(self) -> None:
        self._settle()

    @precondition(lambda self: self.calls)
    @rule(again=st.sampled_from(("never", "at the same instants", "later")))
    def fail_to_save(self, again: str) -> None:
        calls, first_new, was = self.calls, self.first_new_id, self.before
        self.lobby.undo()
        assert photo(self.lobby.floor) == was
        self.witness = self.witness_before
        self.pool.skips = self.skips_before
        self.calls = []
        if again == "at the same instants" and _can_be_repeated(calls):
            self._repeat(calls, first_new)
        elif again == "later":
            self.now = after(self.now, 2.0)
            for event, _, _ in calls:
                if event is not None:
                    self._handle(event)

    @rule(idle_s=st.sampled_from((0.0, 1.0, 30.0)))
    def restart(self, idle_s: float) -> None:
        if self.calls:
            self.witness = self.witness_before
        self.now = after(self.now, idle_s)
        self.restarted_at = self.now
        self.heard.clear()
        self.witness.restarted(self.store, self.now)
        self._take(self.store.open_lobby(self.limits, self.now))

    # What must be true after each step

    @invariant()
    def the_auditor_finds_nothing(self) -> None:
        assert self._audit() == []

    @invariant()
    def no_two_who_could_meet_both_wait_past_their_forced_edge(self) -> None:
        """THE GUARANTEE of R9."""
        if self._something_is_due():
            return
        floor = self.lobby.floor
        forced = {
            user_id: since
            for user_id, (since, _) in self.witness.waits.items()
            if after(since, self.limits.forced_after_s) <= self.now and floor.is_here(user_id)
        }
        for a, b in combinations(sorted(forced), 2):
            spun_at = max(forced[a], forced[b])
            assert not self.witness.may_meet(a, b, spun_at, self.now), (a, b)

    @invariant()
    def exactly_those_are_kept_apart_who_have_something_between_them(self) -> None:
        between = self.lobby.floor.acquaintance
        pairs = {*between.met.rows, *between.bars.rows, *between.blocks.rows}
        pairs |= {(b, a) for a, b in pairs}
        for user in USERS:
            apart = {
                b for a, b in pairs if a == user and {a, b} <= set(self.lobby.floor.seats.rows)
            }
            assert set(between.apart_from(user)) == apart

    @invariant()
    def every_client_knows_its_tier(self) -> None:
        """Each edge was notified once: the tier that a client knows follows from its wait."""
        if self._something_is_due():
            return
        floor = self.lobby.floor
        for user_id, (since, tier) in self.witness.waits.items():
            assert floor.seat(user_id).waiting_since == since
            assert floor.lines.rows[user_id].tier == tier == self.witness.tier_by(since, self.now)

    @invariant()
    def skips_are_counted(self) -> None:
        for ticket in self.pool.tickets():
            assert ticket.skips == self.pool.skips[ticket.user_id], ticket.user_id

    @invariant()
    def every_client_knows_its_state(self) -> None:
        for user_id, seat in self.lobby.floor.seats.rows.items():
            assert self.witness.believed[user_id] is seat.state, user_id

    @invariant()
    def both_clients_of_a_call_know_of_it(self) -> None:
        floor = self.lobby.floor
        assert self.witness.ringing == {
            call.call_id: (call.caller, call.callee, call.ring_until)
            for call in floor.calls.ringing.rows.values()
        }
        if not self._something_is_due():
            assert all(until > self.now for *_, until in self.witness.ringing.values())

    @invariant()
    def the_silent_are_lost_in_time(self) -> None:
        due = self.lobby.next_deadline()
        for user_id, seat in self.lobby.floor.seats.rows.items():
            if seat.state is not State.IDLE:
                assert due is not None
                assert due <= self._lost_at(user_id)

    @invariant()
    def memory_agrees_with_the_witness(self) -> None:
        between = self.lobby.floor.acquaintance
        here = self.lobby.floor.seats.rows
        assert dict(between.met.rows) == {
            pair: at for pair, at in self.witness.met.items() if here.keys() & pair
        }
        assert between.blocks.rows.keys() == {row for row in self.witness.blocks if row[0] in here}
        assert {pair: until for pair, until in between.bars.rows.items() if until > self.now} == {
            pair: until
            for pair, until in self.witness.bars.items()
            if until > self.now and here.keys() & pair
        }

    @invariant()
    def what_is_settled_is_stored(self) -> None:
        if self.calls:
            return
        floor, store = self.lobby.floor, self.store
        here = floor.seats.rows.keys()
        for user_id, seat in floor.seats.rows.items():
            assert seat == store.seat(user_id)
            assert floor.people.get(user_id) == store.people.get(user_id)
        assert store.quality.keys() == store.matches.keys()
        assert floor.quality.rows == {}
        for match_id, match in floor.matches.rows.items():
            assert _timeless(match) == _timeless(store.matches[match_id])
            remembered = any(floor.seat(u).last_match_id == match_id for u in here & match.users)
            assert match.is_open or remembered, "an old match that nobody remembers"
        assert floor.dates.rows == {
            date_id: date for date_id, date in store.dates.items() if date.ended_at is None
        }
        between = floor.acquaintance
        assert between.met.rows == {p: at for p, at in store.met.items() if here & set(p)}
        assert between.bars.rows == {p: at for p, at in store.bars.items() if here & set(p)}
        assert between.blocks.rows == {p: at for p, at in store.blocks.items() if p[0] in here}

    def teardown(self) -> None:
        """When all users are silent, all are soon idle."""
        if not hasattr(self, "lobby"):
            return
        self._settle()
        silent_at = self.now
        limits = self.limits
        idle_by = after(silent_at, limits.resume_grace_s + limits.liveness_s)
        self._move_on_until(idle_by)
        floor = self.lobby.floor
        assert {seat.state for seat in floor.seats.rows.values()} <= {State.IDLE}
        assert not any(match.is_open for match in self.store.matches.values())
        assert len(floor.pool) == 0
        assert floor.calls.ringing.rows == {}
        self._move_on_until(after(silent_at, limits.date_length_s))
        assert floor.dates.rows == {}
        # The last deadline is the midnight after the last user has stopped waiting.
        self._move_on_until(after(idle_by, DAY_S))
        assert self.lobby.next_deadline() is None

    # How it is done

    def _take(self, lobby: Lobby) -> None:
        self.lobby = lobby
        self.deadlines = CountedDeadlines(lobby.floor.deadlines)
        lobby.floor.deadlines = lobby.floor.birthdays._deadlines = self.deadlines
        # Nobody is here yet, so the pool is empty and can be exchanged.
        self.pool = lobby.floor.pool = WatchedPool(self.limits, lobby.floor)
        self.calls = []
        self.before = {}
        self.witness_before = self.witness
        self.skips_before = Counter()
        self.first_new_id = 0

    def _attach(self, user: str) -> None:
        self.devices[user] += 1
        self._handle(ev.Attached(user, self.devices[user]))

    def _handle(self, event: ev.Event) -> None:
        if self.wakes_first:
            self._wake()
        if event.user_id not in self.lobby.floor.seats.rows:
            self._enter(event.user_id)
        self._begin()
        if not isinstance(event, ev.Detached | ev.Expel | ev.Erase):
            self.heard[event.user_id] = self.now
        effects = self.lobby.handle(event, self.now)
        self._see(event, effects, self.now)
        self._wake()

    def _see(self, event: ev.Event | None, effects: Effects, now: Instant) -> None:
        if event is None:
            self.witness.hear_of(effects.notices, now)
        else:
            self.witness.see(event, effects.reply, effects.notices, now)
        for _, notice in effects.notices:
            if isinstance(notice, Matched) and notice.match_id not in self.store.matches:
                self.witness.check_quality(self.lobby.floor.quality.rows[notice.match_id], now)
        for user_id, seat in self.lobby.floor.seats.rows.items():
            if seat.state is State.IDLE:
                del self.pool.skips[user_id]  # A new spin starts from nought.
        self.calls.append((event, now, effects))

    def _enter(self, user: str) -> None:
        before = photo(self.lobby.floor)
        known = self.store.known(user)
        assert self.lobby.handle(ev.Entered(user, known), self.now) == Effects(Done(), [])
        for table, rows in photo(self.lobby.floor).items():
            if self.calls:  # To be known is no decision: it outlasts an undo.
                for key in rows.keys() - before[table].keys():
                    self.before[table].setdefault(key, rows[key])

    def _wake(self) -> None:
        due = self.lobby.next_deadline()
        if due is None or due > self.now:
            return
        self._begin()
        self.deadlines.run = 0
        may_be_lost = {user for user in USERS if self._lost_at(user) <= self.now}
        notices = self.lobby.wake(self.now)
        for user_id, notice in notices:
            if notice == NowIdle(IdleReason.LOST):
                assert user_id in may_be_lost
        self._see(None, Effects(Done(), notices), self.now)
        due = self.lobby.next_deadline()
        assert due is None or due > self.now, "a wake that leaves something due"

    def _begin(self) -> None:
        if not self.calls:
            self.before = photo(self.lobby.floor)
            self.witness_before = deepcopy(self.witness)
            self.skips_before = self.pool.skips.copy()
            self.first_new_id = self.lobby.floor.counter.next_number

    def _settle(self) -> None:
        self.store.save(self.lobby.changes())
        self.lobby.settle()
        assert not self.lobby.changes()
        for _, _, effects in self.calls:
            for _, notice in effects.notices:
                self._is_stored(notice)
        self.calls = []

    def _is_stored(self, notice: Notice) -> None:
        match notice:
            case Matched(match_id=match_id) | MatchCancelled(match_id=match_id):
                assert match_id in self.store.matches
            case VotingOpened():
                assert self.store.matches[notice.match_id].voting_at is not None
            case OutcomeReached() | MatchLeft():
                assert self.store.matches[notice.match_id].outcome is notice.outcome
            case DateStarted(date_id=date_id) | DateEnded(date_id=date_id):
                assert date_id in self.store.dates
            case _:
                pass

    def _repeat(self, calls: list[Call], first_new: int) -> None:
        self._begin()
        for event, at, effects in calls:
            self.deadlines.run = 0
            if event is None:
                again = Effects(Done(), self.lobby.wake(at))
            else:
                again = self.lobby.handle(event, at)
            self._see(event, again, at)
            assert _renumbered(again, self.first_new_id) == _renumbered(effects, first_new)

    def _move_to(self, now: Instant) -> None:
        self.now = now
        self._wake()

    def _move_on_until(self, end: Instant) -> None:
        while (due := self.lobby.next_deadline()) is not None and due <= end:
            self._move_to(max(due, self.now))
            self._settle()
            assert self._audit() == []

    def _audit(self) -> list[str]:
        found = audit_floor(self.lobby.floor, self.now)
        if not self._something_is_due():
            return found
        # At midnight two may suit each other before the deadline of their birthdays has run.
        return [problem for problem in found if "could meet" not in problem]

    def _something_is_due(self) -> bool:
        due = self.lobby.next_deadline()
        return due is not None and due <= self.now

    def _lost_at(self, user: str) -> Instant:
        if user in self.heard:
            return after(self.heard[user], self.limits.liveness_s)
        return after(self.restarted_at, self.limits.resume_grace_s)

    def _stored_match(self, user: str) -> Match | None:
        seat = self.store.seats.get(user)
        return None if seat is None or seat.match_id is None else self.store.matches[seat.match_id]

    def _someone(self, data: st.DataObject, *states: State) -> str:
        """Mostly a user in one of these states, sometimes any user."""
        rows = self.lobby.floor.seats.rows
        fitting = [user for user in USERS if user in rows and rows[user].state in states]
        if not fitting or data.draw(st.integers(0, 7)) == 0:
            return data.draw(st.sampled_from(USERS))
        return data.draw(st.sampled_from(fitting))

    def _is_here(self, user: str) -> bool:
        return self.lobby.floor.is_here(user)

    def _forget(self, user: str) -> None:
        floor = self.lobby.floor
        seat = floor.seats.get(user)
        held = seat is not None and (
            seat.state is not State.IDLE
            or seat.date_id is not None
            or floor.presence(user).device != 0
            or floor.calls.of(user) is not None
        )
        assert self.lobby.forget(user) is not held
        assert (user in floor.seats.rows) == held
        if not held:
            for gone in (floor.people.rows, floor.presences.rows, floor.heard_at):
                assert user not in gone


def photo(floor: Floor) -> Photo:
    """All that an undo must restore; values are frozen, so references are enough."""
    between = floor.acquaintance
    return {
        "people": dict(floor.people.rows),
        "seats": dict(floor.seats.rows),
        "presences": dict(floor.presences.rows),
        "lines": dict(floor.lines.rows),
        "matches": dict(floor.matches.rows),
        "dates": dict(floor.dates.rows),
        "blocks": dict(between.blocks.rows),
        "met": dict(between.met.rows),
        "bars": dict(between.bars.rows),
        "calls": dict(floor.calls.ringing.rows),
        "in_calls": dict(floor.calls.of_user.rows),
        "placed_calls": dict(floor.calls.placed.rows),
        "tickets": {ticket.user_id: ticket for ticket in floor.pool.tickets()},
    }


def _can_be_repeated(calls: list[Call]) -> bool:
    """Whether there was no sign of life after a wake: an undo keeps it, which changes deadlines.

    Nor was a call answered in the round that placed it: the call has another id after an undo.
    """
    woken = placed = False
    for event, _, _ in calls:
        if woken and event is not None and not isinstance(event, ev.Detached):
            return False
        if placed and isinstance(event, ev.AcceptCall | ev.DeclineCall | ev.CancelCall):
            return False
        woken = woken or event is None
        placed = placed or isinstance(event, ev.StartDate)
    return True


def _renumbered(effects: Effects, first_new: int) -> str:
    """The effects with new ids counted from the start of their round: undone ids are not reused."""

    def count(found: re.Match[str]) -> str:
        kind, number = found[1], int(found[2])
        return found[0] if number < first_new else f"{kind}+{number - first_new}"

    return re.sub(r"\b([md]|r\d+-)(\d+)\b", count, repr(effects))


def _timeless(match: Match) -> Match:
    """A match without the fields that a restart sets."""
    return replace(match, closes_at=None, awaiting=frozenset())


def test_no_history_brings_the_lobby_out_of_order() -> None:
    run_state_machine_as_test(
        LobbyMachine, settings=settings(max_examples=150, stateful_step_count=60)
    )
