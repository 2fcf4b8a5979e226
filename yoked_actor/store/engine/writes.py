"""Queued writes, and what commits a batch of them as one transaction."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any, Generic, Protocol, TypeVar

import msgspec
import trio

from yoked_actor.store.engine.errors import DatabaseCorrupt, StoreUnavailable, explain
from yoked_actor.store.engine.transaction import Tx
from yoked_actor.store.engine.turns import Turn

T = TypeVar("T")


class Batch(msgspec.Struct, frozen=True):
    """One transaction, for the observer."""

    writes: int
    seconds: float
    """From the call of the runner until its return; waiting for a thread is included."""
    error: Exception | None
    """Why the whole transaction was rolled back."""


class Write(Generic[T]):
    """A queued write."""

    __slots__ = ("apply", "atomic", "can_wait", "done", "error", "large", "result", "task", "turn")

    def __init__(
        self,
        apply: Callable[[Tx], T],
        atomic: bool,
        can_wait: bool,
        turn: Turn = Turn.ALONE,
        large: bool = False,
    ) -> None:
        self.apply = apply
        self.atomic = atomic
        self.can_wait = can_wait
        self.large = large
        self.turn = turn
        self.done = False
        self.error: Exception | None = None
        self.result: T | None = None
        self.task: trio.lowlevel.Task | None = None

    def run(self, tx: Tx) -> None:
        """Apply it. Its own error is stored in it; an error of the whole database is raised."""
        try:
            self.result = self.apply(tx)
        except Exception as error:
            explained = explain(error)
            if isinstance(explained, StoreUnavailable | DatabaseCorrupt):
                raise
            self.error = explained

    def finish(self) -> None:
        """Let its caller go on."""
        self.done = True
        if self.task is not None:
            trio.lowlevel.reschedule(self.task)


class Transactions(Protocol):
    """Commits batches on the engine's writing connection."""

    no_transaction: Event
    """Not set during a transaction that needs the interpreter lock, until its turn is over."""

    def commit(self, batch: list[Write[Any]], /) -> Exception | None:
        """Commit a batch; returns the error when all of it was rolled back, or is lost. Blocks.

        `CommitInDoubt`: whether it was committed is not known, and `resolve` has to be called.
        """
        ...

    def resolve(self) -> Exception | None:
        """What became of the batch in doubt, as from `commit`. Blocks."""
        ...
