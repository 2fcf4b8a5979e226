"""A simulated evening: guests come, spin, vote, go on dates and leave, on a mock clock.

One task plays all guests. A notice puts the guest's reaction on an agenda, with a delay; when it is
due, it goes into the matchmaker's mailbox. After every round the checkers check the floor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from heapq import heappop, heappush
from random import Random
from typing import cast

import trio
from trio.testing import MockClock

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import Matchmaker, Message
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.domain.lobby import Changes, Known, Lobby, Notice, Quality, Reply, Vote, notices
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.matching import group_of
from yoked_actor.domain.nodes import RoomLease
from yoked_actor.domain.time import MICROSECONDS, Instant, after, from_datetime, seconds_between
from yoked_actor.settings import Settings
from yoked_actor.simulation.evening.checkers import check_guarantee, could_meet_somebody
from yoked_actor.simulation.evening.guests import Guest, make_guests
from yoked_actor.simulation.evening.report import Report, Wait, rows_of, tiers_of
from yoked_actor.store import InlineRunner, Store, open_store
from yoked_actor.telemetry import Metrics
from yoked_actor.testing.determinism import schedule_by_seed

HEARTBEAT_S = 4.5
"""All guests in line send their heartbeats together, as often as a client must."""
SOON_S = 5.0
_TICK = MICROSECONDS // 4
"""Guests act on quarters of a second, so that rounds have many events, as on a busy server."""

Action = Callable[[], None]


class _RecordingStore:
    """The real store; it also records the quality of matches."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.qualities: list[Quality] = []

    async def commit(self, changes: Changes, lease: RoomLease | None = None) -> None:
        """Commit: the only method that the matchmaker calls."""
        await self._store.commit(changes, lease)
        self.qualities += changes.quality


class Evening:
    """The guests, their agenda, and the counts. It receives the matchmaker's output."""

    def __init__(
        self, guests: list[Guest], seed: int, clock: Clock, start_at: Instant, length_s: float
    ) -> None:
        self._guests = {guest.person.user_id: guest for guest in guests}
        self._random = Random(f"evening {seed}")
        self._clock = clock
        self._agenda: list[tuple[Instant, int, Action]] = []
        self._count = 0
        self._ends_at = after(start_at, length_s)
        self._mail: Matchmaker | None = None
        self._lobby: Lobby | None = None
        self._in_line: dict[str, Instant] = {}
        self._date_of: dict[str, str] = {}
        self._alive: set[str] = set()
        self._wake = trio.Event()
        self.waits: list[Wait] = []
        self.outcomes = Counter[str]()
        self.cancelled = Counter[str]()
        self.soon = Counter[bool]()
        self.violations: list[str] = []
        self.rounds = 0
        for guest in guests:
            self._at(guest.comes_at, partial(self._come, guest))
            self._at(guest.goes_at, partial(self._go, guest))
        self._at(after(start_at, HEARTBEAT_S), self._send_heartbeats)

    async def play(self, lobby: Lobby, matchmaker: Matchmaker) -> None:
        """Play the evening to its end."""
        self._lobby, self._mail = lobby, matchmaker
        while self._agenda and self._agenda[0][0] <= self._ends_at:
            due_at = self._agenda[0][0]
            if due_at > self._clock.now():
                self._wake = trio.Event()
                with trio.move_on_at(self._clock.trio_time(due_at)):
                    await self._wake.wait()
                continue
            while self._agenda and self._agenda[0][0] <= self._clock.now():
                heappop(self._agenda)[2]()
            await trio.lowlevel.checkpoint()

    # Actions of guests

    def _come(self, guest: Guest) -> None:
        user_id = guest.person.user_id
        self._post(ev.Entered(user_id, Known(user_id)))
        self._post(ev.ProfileChanged(user_id, guest.person))
        self._post(ev.Attached(user_id, 1))
        self._post(ev.Spin(user_id))

    def _go(self, guest: Guest) -> None:
        user_id = guest.person.user_id
        self._stop_waiting(user_id, matched=False)
        self._alive.discard(user_id)
        self._post(ev.Leave(user_id))
        self._post(ev.Detached(user_id, 1))

    def _spin_again(self, user_id: str) -> None:
        if self._clock.now() < self._guests[user_id].goes_at:
            self._post(ev.Spin(user_id))

    def _send_heartbeats(self) -> None:
        for user_id in self._alive:
            self._post(ev.SignOfLife(user_id))
        self._at(after(self._clock.now(), HEARTBEAT_S), self._send_heartbeats)

    def _lose_socket(self, user_id: str) -> None:
        self._post(ev.Detached(user_id, 1))
        self._soon(self._random.uniform(1, 8), lambda: self._post(ev.Attached(user_id, 1)))

    def _check_soon(self, user_id: str, since: Instant) -> None:
        """Five seconds in line: is there a possible partner?"""
        assert self._lobby is not None
        still = self._in_line.get(user_id) == since
        if still and could_meet_somebody(self._lobby.floor, user_id, self._clock.now()):
            self.soon[False] += 1

    # Output of the matchmaker

    def tell(self, user_id: str, notice: Notice, now: Instant) -> None:
        """React to a notice after a delay."""
        guest = self._guests[user_id]
        behaviour, random = guest.behaviour, self._random
        match notice:
            case notices.NowWaiting(since):
                self._start_waiting(user_id, since)
                if random.random() < behaviour.loses_socket:
                    self._soon(random.uniform(0, 5), lambda: self._lose_socket(user_id))
            case notices.Matched(match_id):
                self._alive.add(user_id)
                self._stop_waiting(user_id, matched=True, at=now)
                if random.random() >= behaviour.ignores_match:
                    seen = ev.Acknowledge(user_id, match_id)
                    self._soon(random.uniform(0.1, 1.0), lambda: self._post(seen))
            case notices.VotingOpened(match_id):
                if random.random() >= behaviour.ignores_vote:
                    choice = Vote.YES if random.random() < behaviour.says_yes else Vote.PASS
                    ballot = ev.Vote(user_id, match_id, choice)
                    self._soon(behaviour.answer_s, lambda: self._post(ballot))
            case notices.OutcomeReached(_, outcome):
                self.outcomes[outcome.value] += 1
                if random.random() < behaviour.takes_break:
                    self._soon(1.0, lambda: self._post(ev.Leave(user_id)))
            case notices.MatchCancelled(_, reason):
                self.cancelled[reason.value] += 1
            case notices.NowIdle(reason):
                self._alive.discard(user_id)
                self._stop_waiting(user_id, matched=False)
                if reason is not notices.IdleReason.DATE:
                    longest_s = 240 if reason is notices.IdleReason.LEFT else 20
                    self._soon(random.uniform(1, longest_s), lambda: self._spin_again(user_id))
            case notices.DateStarted(date_id):
                self._date_of[user_id] = date_id
                over = ev.EndDate(user_id, date_id)
                self._soon(behaviour.date_s, lambda: self._end_date(over))
            case notices.DateEnded():
                self._date_of.pop(user_id, None)
                self._soon(random.uniform(1, 30), lambda: self._spin_again(user_id))

    def answer(self, message: Message, reply: Reply, now: Instant) -> None:
        """Replies are ignored: a notice follows every match."""

    def take_signs_of_life(self) -> dict[str, float]:
        """None: guests send their heartbeats as events."""
        return {}

    def catch_up(self, user_ids: Iterable[str]) -> None:
        """Does nothing: guests have no sockets."""

    def may_forget(self, user_id: str) -> bool:
        """Guests stay in memory."""
        return False

    def flush(self) -> None:
        """Check the floor after a round."""
        self.rounds += 1
        assert self._lobby is not None
        self.violations += check_guarantee(self._lobby.floor, self._clock.now())

    def _end_date(self, over: ev.EndDate) -> None:
        if self._date_of.get(over.user_id) == over.date_id:
            self._post(over)

    def _start_waiting(self, user_id: str, since: Instant) -> None:
        self._alive.add(user_id)
        if user_id not in self._in_line:
            self._in_line[user_id] = since
            mark = after(self._clock.now(), SOON_S)
            self._at(mark, lambda: self._check_soon(user_id, since))

    def _stop_waiting(self, user_id: str, *, matched: bool, at: Instant | None = None) -> None:
        since = self._in_line.pop(user_id, None)
        now = self._clock.now() if at is None else at
        if since is None and not matched:
            return
        seconds = 0.0 if since is None else seconds_between(since, now)
        self.waits.append(Wait(group_of(self._guests[user_id].person), seconds, matched))
        if matched and seconds <= SOON_S:
            self.soon[True] += 1

    # The agenda

    def _post(self, event: ev.Event) -> None:
        assert self._mail is not None
        self._mail.mailbox.put_nowait(Message(event, None))

    def _soon(self, seconds: float, action: Action) -> None:
        at = after(self._clock.now(), seconds)
        self._at(at + -at % _TICK, action)

    def _at(self, at: Instant, action: Action) -> None:
        self._count += 1
        heappush(self._agenda, (at, self._count, action))
        self._wake.set()


async def simulate(
    settings: Settings,
    *,
    people: int,
    hours: float,
    seed: int,
    start: str = "2026-01-01T19:00:00Z",
    on_progress: Callable[[int], None] | None = None,
) -> Report:
    """Play an evening on the mock clock that trio runs on, and report."""
    if not isinstance(trio.lowlevel.current_clock(), MockClock):
        raise RuntimeError("an evening needs a mock clock")
    schedule_by_seed(seed)
    start_at = from_datetime(datetime.fromisoformat(start))
    clock = Clock(start_at)
    guests = make_guests(people, seed, start_at, hours * 3600)
    evening = Evening(guests, seed, clock, start_at, hours * 3600)
    async with open_store(None, runner=InlineRunner()) as store:
        recording = _RecordingStore(store)
        lobby = Lobby(settings.rules())
        mailbox: Mailbox[Message] = Mailbox(settings.matchmaker.mailbox)
        matchmaker = Matchmaker(
            mailbox, lobby, cast(Store, recording), clock, evening, Metrics(), settings
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(matchmaker.run)
            if on_progress is not None:
                nursery.start_soon(_show_progress, on_progress, hours * 36)
            await evening.play(lobby, matchmaker)
            nursery.cancel_scope.cancel()
    return _report(evening, recording.qualities, settings, people, seed)


async def _show_progress(on_progress: Callable[[int], None], percent_s: float) -> None:
    while True:
        await trio.sleep(percent_s)
        on_progress(1)


def _report(
    evening: Evening, qualities: list[Quality], settings: Settings, people: int, seed: int
) -> Report:
    soon = evening.soon
    served = [wait.seconds for wait in evening.waits if wait.matched]
    return Report(
        seed=seed,
        people=people,
        policy=settings.matching.policy,
        matches=len(qualities),
        # Both sides get a notice of an outcome, and of most cancellations.
        outcomes={name: count // 2 for name, count in sorted(evening.outcomes.items())},
        cancelled=dict(sorted(evening.cancelled.items())),
        tiers=tiers_of(qualities),
        rows=rows_of(evening.waits),
        within_5_s=soon[True] / max(1, soon.total()),
        longest_wait_s=max(served, default=0.0),
        rounds=evening.rounds,
        violations=evening.violations[:20],
    )
