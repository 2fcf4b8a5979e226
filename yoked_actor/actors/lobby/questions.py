"""Questions about a floor that wait while its last decisions may still be undone."""

from __future__ import annotations

import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.lobby import Floor, Reply, explain


class _Question:
    """A call of `ask` that waits for the commit in progress."""

    __slots__ = ("answered", "reply", "user_id")

    def __init__(self, user_id: str) -> None:
        self.user_id = user_id
        self.answered = trio.Event()
        self.reply: Reply | None = None


class Questions:
    """Answers why a user waits. The answer counts only what is stored."""

    def __init__(self, floor: Floor, clock: Clock) -> None:
        self._floor = floor
        self._clock = clock
        self._is_held = False
        self._waiting: list[_Question] = []

    def hold(self) -> None:
        """A commit begins: the answers wait for its end."""
        self._is_held = True

    def release(self) -> None:
        """The floor is settled: answer the questions that came during the commit."""
        self._is_held = False
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            one.reply = self._explain(one.user_id)
            one.answered.set()

    async def ask(self, user_id: str) -> Reply:
        """Why a user waits. Checkpoints only while it has to wait; cancellation changes nothing."""
        if not self._is_held:
            return self._explain(user_id)
        question = _Question(user_id)
        self._waiting.append(question)
        await question.answered.wait()
        assert question.reply is not None
        return question.reply

    def _explain(self, user_id: str) -> Reply:
        return explain(self._floor, user_id, self._clock.now(), remember=False)
