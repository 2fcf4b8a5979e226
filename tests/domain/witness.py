"""One who sees only what goes into the lobby and what comes out, and holds it to the rulings.

From events, replies and notices alone the witness knows who has met, who is blocked or barred, and
what each client must believe. It shares no code with the lobby's own memory.
"""

from __future__ import annotations

from tests.domain.evening import ModelStore
from yoked_actor.domain import events as ev
from yoked_actor.domain.instants import Instant, after
from yoked_actor.domain.lifecycle import State
from yoked_actor.domain.notices import (
    Done,
    MatchCancelled,
    Matched,
    Notice,
    NowIdle,
    NowWaiting,
    OutcomeReached,
    Refusal,
    Reply,
    VoteReply,
    VotingOpened,
)
from yoked_actor.domain.people import Person
from yoked_actor.domain.records import Pair, pair_of
from yoked_actor.domain.rules import Rules

DAY_S = 86_400.0
Told = list[tuple[str, Notice]]


class Witness:
    """What follows from the events and the notices alone."""

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
        self.hear_of(notices, now)

    def hear_of(self, notices: Told, now: Instant) -> None:
        """These were told."""
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
                case OutcomeReached():
                    self.over.add(notice.match_id)
                    assert self.believed[user_id] is State.VOTING
                    self.believed[user_id] = notice.next
                case NowWaiting():
                    self.believed[user_id] = State.WAITING
                case NowIdle():
                    self.believed[user_id] = State.IDLE
                case _:
                    pass

    def _matched(self, user_id: str, notice: Matched, now: Instant) -> None:
        pair = pair_of(user_id, notice.partner.user_id)
        if self.pairs.setdefault(notice.match_id, pair) != pair:
            raise AssertionError(f"{notice.match_id} is between {pair} and somebody else")
        assert notice.acknowledge_by > now
        if notice.match_id in self.awaited:
            return  # Told again after a restart; it was right when it was made.
        one, other = (self.people[user_id] for user_id in pair)
        assert pair[0] != pair[1]
        assert one.gender in other.seeking
        assert other.gender in one.seeking
        assert pair not in self.blocks
        assert pair[::-1] not in self.blocks
        assert self.bars.get(pair, now) <= now
        days = self.rules.rematch_after_days
        if pair in self.met:
            assert days is not None
            assert now >= after(self.met[pair], days * DAY_S)

    def _cancelled(self, match_id: str, now: Instant) -> None:
        if match_id in self.over:
            return
        self.over.add(match_id)
        pair = self.pairs[match_id]
        if self.awaited.get(match_id):
            self.met.pop(pair, None)
        elif match_id not in self.opened:
            self.bars[pair] = after(now, self.rules.bar_s)

    def restarted(self, store: ModelStore) -> None:
        """A new process has taken over; every client gets a snapshot."""
        self.awaited = {m: set(row.users) for m, row in store.matches.items() if row.is_open}
        for user_id, seat in store.seats.items():
            self.believed[user_id] = seat.state
