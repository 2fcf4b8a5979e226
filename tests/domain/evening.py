"""A lobby on an evening of its own: a clock, a store in memory, and everything that was told.

`ModelStore` applies `changes()` as a database would and gives back what a new process would read,
so that what the lobby forgets to save is seen to be missing. `Evening` drives the lobby as the
matchmaker does: due deadlines first, then the event, then save, settle, tell; and it has the floor
audited after every step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

from msgspec.structs import replace

from tests.domain.crowds import START
from yoked_actor.domain.lobby import (
    Changes,
    Counter,
    Known,
    Lobby,
    Match,
    Notice,
    Quality,
    Refusal,
    Reply,
    Seat,
    State,
    VideoDate,
    Vote,
    audit_floor,
)
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.notices import Matched
from yoked_actor.domain.lobby.records import Pair
from yoked_actor.domain.lobby.replies import Snapshot
from yoked_actor.domain.people import Person
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, after

N = TypeVar("N", bound=Notice)
BEAT_S = 3.0


class ModelStore:
    """The stored state."""

    def __init__(self) -> None:
        self.people: dict[str, Person] = {}
        self.seats: dict[str, Seat] = {}
        self.matches: dict[str, Match] = {}
        self.dates: dict[str, VideoDate] = {}
        self.quality: dict[str, Quality] = {}
        self.met: dict[Pair, Instant] = {}
        self.blocks: dict[tuple[str, str], Instant] = {}
        self.bars: dict[Pair, Instant] = {}
        self.boots = 1

    def save(self, changes: Changes) -> None:
        """Write one round."""
        self.people.update((who.user_id, who) for who in changes.people)
        self.seats.update((seat.user_id, seat) for seat in changes.seats)
        self.matches.update((match.match_id, match) for match in changes.matches)
        self.dates.update((date.date_id, date) for date in changes.dates)
        self.quality.update((row.match_id, row) for row in changes.quality)
        _write(self.met, changes.met)
        _write(self.blocks, changes.blocks)
        _write(self.bars, changes.bars)
        for erasure in changes.erased:
            self._erase(erasure.user_id)

    def _erase(self, user_id: str) -> None:
        self.people.pop(user_id, None)
        self.seats.pop(user_id, None)
        for table in (self.met, self.blocks, self.bars):
            for pair in [pair for pair in table if user_id in pair]:
                del table[pair]

    def seat(self, user_id: str) -> Seat:
        """A seat as it counts: the stored match says whether its users are voting."""
        seat = self.seats.get(user_id, Seat(user_id))
        if seat.match_id is None:
            return seat
        return replace(seat, state=State(self.matches[seat.match_id].status))

    def known(self, user_id: str) -> Known:
        """What is stored of one user."""
        seat = self.seats.get(user_id)
        last = None if seat is None or seat.last_match_id is None else seat.last_match_id
        return Known(
            user_id,
            person=self.people.get(user_id),
            seat=seat,
            blocks={b: at for (a, b), at in self.blocks.items() if a == user_id},
            met=_others(self.met, user_id),
            bars=_others(self.bars, user_id),
            last_match=None if last is None else self.matches[last],
        )

    def open_lobby(self, rules: Rules, now: Instant) -> Lobby:
        """The lobby of a new process, restored from the stored state."""
        numbers = [int(row[1:]) for row in (*self.matches, *self.dates)]
        self.boots += 1
        lobby = Lobby(rules, Counter(max(numbers, default=0) + 1), boot=self.boots)
        lobby.restore(
            [
                self.known(seat.user_id)
                for seat in self.seats.values()
                if seat.state is not State.IDLE or seat.date_id is not None
            ],
            [match for match in self.matches.values() if match.is_open],
            [date for date in self.dates.values() if date.ended_at is None],
            now,
        )
        return lobby


def _write(
    rows: dict[tuple[str, str], Instant], changes: Iterable[tuple[Pair, int | None]]
) -> None:
    for key, at in changes:
        if at is None:
            rows.pop(key, None)
        else:
            rows[key] = at


def _others(rows: dict[Pair, Instant], user_id: str) -> dict[str, Instant]:
    return {b if a == user_id else a: at for (a, b), at in rows.items() if user_id in (a, b)}


class Evening:
    """A lobby that is driven as the matchmaker drives it."""

    def __init__(self, rules: Rules | None = None, now: Instant = START) -> None:
        self.rules = rules or Rules()
        self.now = now
        self.store = ModelStore()
        self.lobby = Lobby(self.rules)
        self.silent: set[str] = set()
        """The users who send no heartbeats."""
        self._devices: dict[str, int] = {}
        self._told: dict[str, list[Notice]] = defaultdict(list)

    @property
    def floor(self):
        """The lobby's memory."""
        return self.lobby.floor

    # People come, act and go

    def enter(self, *people: Person) -> None:
        """Connect users with profiles, each by a socket."""
        for who in people:
            self.store.people[who.user_id] = who
            self.attach(who.user_id)

    def attach(self, user_id: str) -> Reply:
        """A new socket of a user."""
        device = self._devices[user_id] = self._devices.get(user_id, 0) + 1
        return self.do(ev.Attached(user_id, device))

    def detach(self, user_id: str) -> Reply:
        """The newest socket of a user closes."""
        return self.do(ev.Detached(user_id, self._devices[user_id]))

    def do(self, event: ev.Event) -> Reply:
        """Handle one event, store it, and deliver its output."""
        self._run_due()
        if event.user_id not in self.floor.seats.rows:
            self.lobby.handle(ev.Entered(event.user_id, self.store.known(event.user_id)), self.now)
            self._run_due()
        effects = self.lobby.handle(event, self.now)
        self._close_round(effects.notices)
        return effects.reply

    def spin(self, *user_ids: str) -> Reply:
        """Spins, one after the other; the reply to the last."""
        return [self.do(ev.Spin(user_id)) for user_id in user_ids][-1]

    def leave(self, user_id: str) -> Reply:
        """A user leaves."""
        return self.do(ev.Leave(user_id))

    def acknowledge(self, *user_ids: str) -> Reply:
        """Users acknowledge the match that they are in."""
        return [self.do(ev.Acknowledge(user_id, self.match_id(user_id))) for user_id in user_ids][
            -1
        ]

    def vote(self, user_id: str, vote: Vote, match_id: str | None = None) -> Reply:
        """A user votes, on the current match by default."""
        return self.do(ev.Vote(user_id, match_id or self.match_id(user_id), vote))

    def pair(self, one: Person, other: Person) -> str:
        """Two people come, spin and are matched; the id of the match."""
        self.enter(one, other)
        self.spin(one.user_id, other.user_id)
        return self.match_id(one.user_id)

    def open_voting(self, one: Person, other: Person) -> str:
        """Two people come as far as voting; the id of the match."""
        match_id = self.pair(one, other)
        self.acknowledge(one.user_id, other.user_id)
        return match_id

    # Time

    def advance(self, seconds: float) -> None:
        """Advance the clock, run deadlines at their instants, and send heartbeats."""
        end = after(self.now, seconds)
        next_beat = after(self.now, BEAT_S)
        while True:
            due = self.lobby.next_deadline()
            self.now = min(end, next_beat, end if due is None else max(due, self.now))
            self._run_due()
            if self.now >= next_beat:
                next_beat = after(self.now, BEAT_S)
                for user_id in sorted(self._devices):
                    if user_id not in self.silent and self.floor.presence(user_id).device:
                        self.do(ev.SignOfLife(user_id))
            if self.now >= end:
                return

    def restart(self) -> None:
        """The process crashes, and a new one restores what was stored."""
        self.lobby = self.store.open_lobby(self.rules, self.now)
        self._told.clear()

    # Looking

    def state(self, user_id: str) -> State:
        """The state of a user."""
        return self.seat(user_id).state

    def seat(self, user_id: str) -> Seat:
        """The seat of a user."""
        seat: Seat = self.floor.seat(user_id)
        return seat

    def match_id(self, user_id: str) -> str:
        """The match that a user is in."""
        match_id = self.seat(user_id).match_id
        assert match_id is not None, f"{user_id} is {self.state(user_id)}"
        return match_id

    def snapshot(self, user_id: str) -> Snapshot:
        """The snapshot of a user."""
        reply = self.do(ev.AskSnapshot(user_id))
        assert isinstance(reply, Snapshot)
        return reply

    def told(self, user_id: str) -> list[Notice]:
        """The notices of a user since the last call."""
        return self._told.pop(user_id, [])

    def partner_of(self, user_id: str) -> str | None:
        """The partner of a user."""
        match = self.floor.open_match(user_id)
        return None if match is None else match.partner_of(user_id)

    # Inside

    def _run_due(self) -> None:
        due = self.lobby.next_deadline()
        if due is not None and due <= self.now:
            self._close_round(self.lobby.wake(self.now))
            due = self.lobby.next_deadline()
            assert due is None or due > self.now

    def _close_round(self, notices: list[tuple[str, Notice]]) -> None:
        assert audit_floor(self.floor, self.now) == []
        self.store.save(self.lobby.changes())
        self.lobby.settle()
        assert audit_floor(self.floor, self.now) == []
        for user_id, notice in notices:
            if isinstance(notice, Matched):
                assert notice.match_id in self.store.matches
                assert notice.match_id in self.store.quality
            self._told[user_id].append(notice)


def only(notices: list[Notice], kind: type[N]) -> N:
    """The only notice of a kind among others."""
    found = [notice for notice in notices if type(notice) is kind]
    assert len(found) == 1, notices
    return found[0]


def refused_with(reply: Reply) -> str:
    """The code of a refusal."""
    assert isinstance(reply, Refusal), reply
    return reply.code
