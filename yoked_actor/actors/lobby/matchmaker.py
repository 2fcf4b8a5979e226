"""The matchmaker: the only writer of the lobby.

A round takes all messages from the mailbox, lets the lobby decide about them, stores the decisions
in ONE transaction, and only then sends replies and notices (R17). The mailbox fills again while the
commit runs, so on a busy server many spins share one write to disk. If the commit fails, the lobby
is undone and a new round decides the same messages and those that have come since; nothing has been
sent.

The matchmaker sleeps until a message comes or until the lobby's next deadline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby.crash import crash
from yoked_actor.actors.lobby.lease_guard import LeaseGuard
from yoked_actor.actors.lobby.messages import (
    NOT_FOR_LOBBY,
    Audience,
    Message,
    up_to_an_erasure,
)
from yoked_actor.actors.lobby.questions import Questions
from yoked_actor.actors.lobby.round_report import (
    NOTHING,
    count_losses,
    count_spins,
    judge_latency,
    log_matches,
    report_violations,
)
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.domain.lobby import (
    MAIN,
    Changes,
    Code,
    Depart,
    Effects,
    Forgotten,
    Lobby,
    Notice,
    Probe,
    Refusal,
    Reply,
    audit_users,
)
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import Instant, microseconds
from yoked_actor.settings import Settings
from yoked_actor.store import RoomLeaseLost, Store, StoreUnavailable
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()


class Matchmaker:
    """Takes messages, decides, commits, and sends what was decided."""

    def __init__(
        self,
        mailbox: Mailbox[Message],
        lobby: Lobby,
        store: Store,
        clock: Clock,
        audience: Audience,
        metrics: Metrics,
        settings: Settings,
        *,
        stored_people: Callable[[Sequence[Person], Instant], None] | None = None,
        alert: Callable[[], None] | None = None,
        waiting: Callable[[], int] | None = None,
        guard: LeaseGuard | None = None,
    ) -> None:
        """`stored_people` is called with stored profiles and the instant of their decision;
        `alert` is called when a commit failed or the auditor found a violation; `waiting` counts
        the users who wait in all rooms. `guard` holds the lease of the room if there are other
        nodes."""
        self.mailbox = mailbox
        self._lobby = lobby
        self._store = store
        self._clock = clock
        self._audience = audience
        self._metrics = metrics
        self._counts = metrics.lobby.of_room(lobby.floor.room)
        self._settings = settings
        self._deferred: list[Message] = []
        """Messages after an erasure: they wait for the next round."""
        self._waiters: list[trio.Event] = []
        self._stored_people = stored_people
        self._on_alert = alert
        self._guard = guard
        self._waiting = lobby.floor.pool.__len__ if waiting is None else waiting
        self._stepped_by = clock.stepped_by
        """The steps of the clock that the lobby has followed."""
        self._is_moved = False
        """Whether a step of the clock has moved instants that are not stored yet."""
        # A crowd has an edge every few milliseconds, and each wake-up costs more than the edge.
        # A client on a mock clock may rely on the exact instant.
        edges_every_s = settings.matchmaker.edges_every_s if clock.is_real else 0.0
        self._edges_every = microseconds(edges_every_s)
        self._edges_from: Instant = 0
        """Tier edges before this instant wait for it, or for a round with another reason."""
        self._questions = Questions(lobby.floor, clock)
        self.stalled = False
        """Whether the last commit failed and is being retried."""

    async def run(self) -> None:
        """Play rounds until cancelled. A bug here ends the server.

        Raises `RoomLeaseLost` when another node has the room: then nobody was told anything.
        """
        try:
            while True:
                await self._wait()
                await self._round()
        except RoomLeaseLost:
            raise
        except Exception as error:
            _log.critical("matchmaker_crashed", room=self._lobby.floor.room, exc_info=True)
            crash(error)

    async def ping(self) -> None:
        """Return after the next round, or as soon as the matchmaker waits for the store.

        A full disk does not mean that the matchmaker hangs. Cancellation changes nothing.
        """
        if self.stalled:
            return
        played = trio.Event()
        self._waiters.append(played)
        self.wake()
        await played.wait()

    async def explain(self, user_id: str) -> Reply:
        """Why a user waits, as of what is stored. It changes nothing.

        Checkpoints only while a commit is in progress; the answer comes when the commit has
        succeeded or failed. If cancelled, only the caller stops waiting.
        """
        return await self._questions.ask(user_id)

    def wake(self) -> None:
        """Play a round soon, even if there is nothing to decide."""
        self.mailbox.put_always(Message(Probe(""), None))

    async def _wait(self) -> None:
        """Wait until there is something to decide. A sign of life alone needs no round."""
        while True:
            self._follow_clock()
            if self._deferred or self._is_moved or self.mailbox:
                return
            self._note_signs_of_life(self._clock.now())
            next_at = self._lobby.next_deadline(self._edges_from)
            now = self._clock.now()
            if next_at is not None and next_at <= now:
                self._edges_from = now + self._edges_every
                return
            with self._clock.until(next_at):
                await self.mailbox.wait()

    async def _hear(self) -> Instant:
        """Note all signs of life, and return the present of the round.

        After a stall of the process, deadlines of liveness are due while the signs of life are
        still in the sockets. So the sockets of users who would be lost are read first. Checkpoints
        if there are such users. If cancelled, nothing is lost.
        """
        self._follow_clock()
        now = self._clock.now()
        self._note_signs_of_life(now)
        if self._lobby.silent_by(now):
            # One pass of the event loop, for connections that a task of their own reads.
            await trio.lowlevel.checkpoint()
            self._follow_clock()
            # Before the sockets are read: a stall that begins meanwhile makes nobody late.
            now = self._clock.now()
            self._note_signs_of_life(now)
            self._audience.catch_up(self._lobby.silent_by(now))
            self._note_signs_of_life(now)
        return now

    def _note_signs_of_life(self, now: Instant) -> None:
        signs = self._audience.take_signs_of_life()
        if signs:
            clock = self._clock
            heard = {user_id: min(clock.at(heard_s), now) for user_id, heard_s in signs.items()}
            self._lobby.record_life(heard, now)

    def _follow_clock(self) -> None:
        """Move the lobby's instants if the clock was stepped. The floor must be settled."""
        by = self._clock.stepped_by - self._stepped_by
        if by:
            self._stepped_by += by
            self._edges_from = 0
            self._lobby.step_clock(by, self._clock.now())
            if self._lobby.floor.room == MAIN:
                self._metrics.lobby.recent.shift(by)
            self._is_moved = True

    async def _round(self) -> None:
        """Decide about all messages, and retry until the decisions are stored and sent."""
        messages: list[Message] = []
        delay_s = self._settings.store.retry_first_s
        while True:
            now, lobby = await self._hear(), self._lobby
            messages += self._deferred
            messages += self.mailbox.take_all()
            messages, self._deferred = up_to_an_erasure(messages)
            decided = [
                NOTHING if type(m.event) in NOT_FOR_LOBBY else lobby.handle(m.event, now)
                for m in messages
            ]
            notices = self._lobby.wake(now)
            if self._is_moved:
                self._lobby.restate()
            changes = self._lobby.changes()
            self._audit()
            try:
                if changes:
                    self._questions.hold()
                    await self._commit(changes)
                elif self._guard is not None:
                    await self._guard.confirm()
            except RoomLeaseLost:
                self._lobby.undo()
                self._questions.release()
                self._release_waiters()
                self.refuse(messages)
                raise
            except StoreUnavailable as error:
                self._lobby.undo()
                self._questions.release()
                self.stalled = True
                self._release_waiters()
                self._counts.count_commit_failure()
                self._alert()
                room = self._lobby.floor.room
                _log.error("commit_failed", room=room, error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.store.retry_cap_s)
                continue
            self.stalled = self._is_moved = False
            self._counts.count_calls(self._lobby.floor.calls.ended)
            self._lobby.settle()
            self._questions.release()
            waiting = self._waiting()
            now_s = trio.current_time()
            self._counts.count_round(len(messages), changes, waiting, now, now_s)
            count_spins(self._counts, messages, decided)
            count_losses(self._counts, notices)
            log_matches(changes)
            if changes.people and self._stored_people is not None:
                self._stored_people(changes.people, now)
            self._tell(messages, decided, notices, now)
            judge_latency(self._metrics, messages)
            self._release_waiters()
            return

    async def _commit(self, changes: Changes) -> None:
        lease = None if self._guard is None else self._guard.lease
        await self._store.commit(changes, lease)

    def refuse(self, messages: Sequence[Message] = ()) -> None:
        """Another node has the room: callers must not wait. Commands are not answered, because
        their clients send them again to that node."""
        reply = Refusal(Code.MOVED, "another node serves the room")
        for message in (*messages, *self._deferred, *self.mailbox.take_all()):
            if message.then is not None:
                self._audience.answer(message, reply, self._clock.now())

    def _tell(
        self,
        messages: Sequence[Message],
        decided: Sequence[Effects],
        notices: Sequence[tuple[str, Notice]],
        now: Instant,
    ) -> None:
        audience = self._audience
        answer, tell = audience.answer, audience.tell
        for message, effects in zip(messages, decided, strict=True):
            if effects is NOTHING:
                if type(message.event) is Depart:
                    self._depart(message, now)
                elif type(message.event) is not Probe:
                    self._forget(message, now)
                continue
            answer(message, effects.reply, now)
            for user_id, notice in effects.notices:
                tell(user_id, notice, now)
        for user_id, notice in notices:
            tell(user_id, notice, now)
        audience.flush()

    def _release_waiters(self) -> None:
        for played in self._waiters:
            played.set()
        self._waiters.clear()

    def _alert(self) -> None:
        if self._on_alert is not None:
            self._on_alert()

    def _forget(self, message: Message, now: Instant) -> None:
        user_id = message.event.user_id
        gone = self._audience.may_forget(user_id) and self._lobby.forget(user_id)
        self._audience.answer(message, Forgotten(gone), now)

    def _depart(self, message: Message, now: Instant) -> None:
        reply: Reply | None = self._lobby.depart(message.event.user_id)
        if reply is None:
            reply = Refusal(Code.WRONG_STATE, "you can change the room only while you are idle")
        self._audience.answer(message, reply, now)

    def close(self) -> None:
        """Close the room: nobody waits any more, matches and dates run out."""
        self._lobby.close()
        self.wake()

    def reopen(self) -> None:
        """Open the room again."""
        self._lobby.reopen()

    def _audit(self) -> None:
        mode = self._settings.matchmaker.audit
        if mode != "off":
            found = audit_users(self._lobby.floor, self._lobby.floor.touched_users())
            if found:
                self._alert()
                room, is_fatal = self._lobby.floor.room, mode == "raise"
                report_violations(self._counts, room, found, is_fatal=is_fatal)
