"""The matchmaker: the only writer of the lobby.

It takes whatever its mailbox holds, lets the lobby decide about all of it, stores the decisions in
ONE transaction, and only then tells anybody (R17). While the commit is under way the mailbox fills
again, so the busier the server, the more spins share one write to disk. If the commit fails, the
lobby returns to what it was and the same messages are decided anew, together with what has come
since; nobody has been told anything.

It sleeps until a message comes or until the lobby's next deadline, whichever is first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.domain.lobby import (
    Changes,
    DateEnd,
    DateEnded,
    Effects,
    Erase,
    Event,
    Forget,
    Forgotten,
    IdleReason,
    Lobby,
    Notice,
    NowIdle,
    Reply,
    Spin,
    SpinReply,
    State,
    audit_users,
    explain,
)
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.ops import Objective
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import Instant
from yoked_actor.settings import Settings
from yoked_actor.store import Store, StoreUnavailable
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()


class MatchmakerCrashed(Exception):
    """The matchmaker met a bug, or a store that broke its word; the server cannot go on."""


class AuditFailed(Exception):
    """The lobby is in a state that it must never be in."""


Then = Callable[[Reply, Instant], None]
"""What to do with the reply to a message."""


class Message(msgspec.Struct, gc=False):
    """An event for the lobby, who sent it, and what they do with the reply."""

    event: Event
    sender: object
    then: Then | None = None
    posted_s: float = -1.0
    """When it was put, on trio's clock; of spins and votes alone."""


class Probe(Event, frozen=True):
    """Nothing at all: whoever sends it wants to see that rounds are played."""


class _Question:
    """Somebody wants to know why a user waits, and a commit is under way."""

    __slots__ = ("answered", "reply", "user_id")

    def __init__(self, user_id: str) -> None:
        self.user_id = user_id
        self.answered = trio.Event()
        self.reply: Reply | None = None


class Audience(Protocol):
    """Those who are told. No method may block, and none may raise because of one listener."""

    def tell(self, user_id: str, notice: Notice, now: Instant) -> None:
        """Say something to a user."""

    def answer(self, message: Message, reply: Reply, now: Instant) -> None:
        """Bring the reply to who sent the message."""

    def may_forget(self, user_id: str) -> bool:
        """Whether nothing is under way for this user."""

    def flush(self) -> None:
        """The round is over: send what was said."""


class Matchmaker:
    """Drains, decides, commits, tells."""

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
    ) -> None:
        """`stored_people` is told of profiles once they are stored, and when that was decided;
        `alert` is called when a commit failed or the auditor found a violation."""
        self.mailbox = mailbox
        self._lobby = lobby
        self._store = store
        self._clock = clock
        self._audience = audience
        self._metrics = metrics
        self._settings = settings
        self._put_off: list[Message] = []
        """What came after an erasure, and waits for the next round."""
        self._waiters: list[trio.Event] = []
        self._stored_people = stored_people
        self._on_alert = alert
        self._stepped_by = clock.stepped_by
        """Up to which step of the clock the lobby has followed."""
        self._is_moved = False
        """Whether a step of the clock has moved what is not stored yet."""
        self._is_committing = False
        self._questions: list[_Question] = []
        self.stalled = False
        """Whether the last commit failed and is being tried again."""

    async def run(self) -> None:
        """Work until cancelled. A bug here is fatal to the server: nothing could be trusted."""
        try:
            while True:
                await self._wait()
                await self._round()
        except Exception as error:
            _log.critical("matchmaker_crashed", exc_info=True)
            raise MatchmakerCrashed("the matchmaker has crashed") from error

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
        """Why a user waits, counted among people whose places are stored.

        At once, or else when the commit that is under way has ended, well or not. It changes
        nothing. A caller who is cancelled has only stopped waiting.
        """
        if self._is_committing:
            question = _Question(user_id)
            self._questions.append(question)
            await question.answered.wait()
            assert question.reply is not None
            return question.reply
        return explain(self._lobby.floor, user_id, self._clock.now(), remember=False)

    def _be_settled(self) -> None:
        """The floor is settled again: answer those who asked meanwhile, before the next round."""
        self._is_committing = False
        questions, self._questions = self._questions, []
        for one in questions:
            now = self._clock.now()
            one.reply = explain(self._lobby.floor, one.user_id, now, remember=False)
            one.answered.set()

    def wake(self) -> None:
        """Play a round soon, even if there is nothing to decide."""
        self.mailbox.put_always(Message(Probe(""), None))

    async def _wait(self) -> None:
        self._follow_clock()
        if self._put_off or self._is_moved:
            return
        with self._clock.until(self._lobby.next_deadline()):
            await self.mailbox.wait()

    def _follow_clock(self) -> None:
        """Move the lobby's instants if the clock was stepped. Everything must be settled."""
        by = self._clock.stepped_by - self._stepped_by
        if by:
            self._stepped_by += by
            self._lobby.step_clock(by, self._clock.now())
            self._metrics.lobby.recent.shift(by)
            self._is_moved = True

    async def _round(self) -> None:
        """Decide about everything that is there, and see it stored and told."""
        messages: list[Message] = []
        delay_s = self._settings.store.retry_first_s
        while True:
            messages += self._put_off
            messages += self.mailbox.take_all()
            messages, self._put_off = _up_to_an_erasure(messages)
            self._follow_clock()
            now = self._clock.now()
            decided = [self._lobby.handle(m.event, now) for m in messages if _is_for_lobby(m)]
            notices = self._lobby.wake(now)
            if self._is_moved:
                self._lobby.restate()
            changes = self._lobby.changes()
            self._audit()
            try:
                if changes:
                    self._is_committing = True
                    await self._store.commit(changes)
            except StoreUnavailable as error:
                self._lobby.undo()
                self._be_settled()
                self.stalled = True
                self._release_waiters()
                self._metrics.store.commit_failures.inc()
                self._alert()
                _log.error("commit_failed", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.store.retry_cap_s)
                continue
            self.stalled = self._is_moved = False
            self._lobby.settle()
            self._be_settled()
            waiting = len(self._lobby.floor.pool)
            now_s = trio.current_time()
            self._metrics.lobby.count_round(len(messages), changes, waiting, now, now_s)
            self._count(messages, decided, notices)
            self._log_matches(changes)
            if changes.people and self._stored_people is not None:
                self._stored_people(changes.people, now)
            self._tell(messages, decided, notices, now)
            self._judge(messages)
            self._release_waiters()
            return

    def _tell(
        self,
        messages: Sequence[Message],
        decided: Sequence[Effects],
        notices: Sequence[tuple[str, Notice]],
        now: Instant,
    ) -> None:
        audience = self._audience
        remaining = iter(decided)
        for message in messages:
            if type(message.event) is Probe:
                continue
            if not _is_for_lobby(message):
                self._forget(message, now)
                continue
            effects = next(remaining)
            audience.answer(message, effects.reply, now)
            for user_id, notice in effects.notices:
                audience.tell(user_id, notice, now)
        for user_id, notice in notices:
            audience.tell(user_id, notice, now)
        audience.flush()

    def _count(
        self,
        messages: Sequence[Message],
        decided: Sequence[Effects],
        notices: Sequence[tuple[str, Notice]],
    ) -> None:
        spun: dict[str, int] = {}
        remaining = iter(decided)
        for message in messages:
            if not _is_for_lobby(message):
                continue
            reply = next(remaining).reply
            if type(message.event) is Spin:
                result = "refused"
                if isinstance(reply, SpinReply):
                    result = "waiting" if reply.state is State.WAITING else "matched"
                spun[result] = spun.get(result, 0) + 1
        self._metrics.lobby.count_spins(spun)
        lost = sum(1 for _, notice in notices if _tells_of_a_loss(notice))
        if lost:
            self._metrics.lobby.liveness_losses.inc(lost)

    def _judge(self, messages: Sequence[Message]) -> None:
        """Count how long spins and votes took, from the mailbox until they were told."""
        now_s = trio.current_time()
        for kind, objective in _JUDGED.items():
            taken = [
                now_s - m.posted_s for m in messages if type(m.event) is kind and m.posted_s >= 0
            ]
            if taken:
                self._metrics.objectives.judge(objective, taken, now_s)

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

    def _audit(self) -> None:
        if self._settings.matchmaker.audit == "off":
            return
        found = audit_users(self._lobby.floor, self._lobby.floor.touched_users())
        if not found:
            return
        self._metrics.lobby.audit_violations.inc(len(found))
        self._alert()
        if self._settings.matchmaker.audit == "raise":
            raise AuditFailed("; ".join(found))
        _log.error("audit_violation", found=found)

    def _log_matches(self, changes: Changes) -> None:
        for quality in changes.quality:
            _log.info(
                "match_made",
                match_id=quality.match_id,
                policy=quality.policy,
                tiers=[quality.a_tier.value, quality.b_tier.value],
                waits_s=[quality.a_wait_s, quality.b_wait_s],
                distance_km=quality.distance_km,
                priority=quality.priority,
                preference_match=quality.preference_match,
            )
        for match in changes.matches:
            if match.ended_at is not None:
                _log.info(
                    "match_ended",
                    match_id=match.match_id,
                    status=match.status.value,
                    outcome=match.outcome and match.outcome.value,
                    reason=match.cancelled_for and match.cancelled_for.value,
                )


_JUDGED: dict[type[Event], Objective] = {
    Spin: Objective.SPINS,
    ev.Vote: Objective.VOTES,
}


def _up_to_an_erasure(messages: list[Message]) -> tuple[list[Message], list[Message]]:
    """What may be decided in one round, and the rest: nothing may follow an erasure in its round,
    because what is stored of its user then is erased with them."""
    for index, message in enumerate(messages):
        if type(message.event) is Erase:
            return messages[: index + 1], messages[index + 1 :]
    return messages, []


def _is_for_lobby(message: Message) -> bool:
    return type(message.event) not in (Forget, Probe)


def _tells_of_a_loss(notice: Notice) -> bool:
    """Whether it is what follows from somebody's silence; each loss is told of so once."""
    if type(notice) is NowIdle:
        return notice.reason is IdleReason.LOST
    return type(notice) is DateEnded and notice.reason is DateEnd.PARTNER_LOST
