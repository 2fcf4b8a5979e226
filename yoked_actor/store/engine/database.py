"""An open database, of whatever engine: what the rooms of the store run their statements on."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Protocol, TypeVar

from yoked_actor.store.engine.transaction import Tx
from yoked_actor.store.engine.turns import Turn

T = TypeVar("T")


class Bell(Protocol):
    """Wake-ups between the processes that share a database."""

    name: str
    """The name of this node; empty if this process is none."""

    def on_news(self, what: str, wake: Callable[[], None]) -> None:
        """Have `listen` call `wake` when another node has changed `what`, and now and then."""
        ...

    def tell_soon(self, what: str) -> None:
        """Tell the other nodes what has changed, if `listen` runs. Does not block or raise."""
        ...

    def ring_soon(self) -> None:
        """Wake the other processes, if `listen` runs. Does not block or raise."""
        ...

    async def ring(self) -> None:
        """Wake the other processes. Checkpoints; does nothing while the database is unavailable."""
        ...

    async def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` when another process rings, and now and then, until cancelled."""
        ...


class Database(Protocol):
    """Runs reads and writes. All rooms of the store share one."""

    @property
    def pending_writes(self) -> int:
        """How many writes are queued; those of the commit in progress are not counted."""
        ...

    @property
    def no_transaction(self) -> Event:
        """Not set during a transaction that needs the interpreter lock.

        For every thread: one that computes waits until it is set, because other processes wait for
        the end of the transaction.
        """
        ...

    def lost_files(self) -> str | None:
        """What happened to the files of the database; None when all are in place, or elsewhere."""
        ...

    async def write(
        self,
        apply: Callable[[Tx], T],
        *,
        atomic: bool = False,
        can_wait: bool = False,
        large: bool = False,
        turn: Turn = Turn.ALONE,
    ) -> T:
        """Run `apply` in a transaction; durable on return. See `Writer.write`."""
        ...

    async def read(self, query: Callable[[Tx], T]) -> T:
        """Run a short query. It waits for the reads before it, and for no write.

        Checkpoints. Can be cancelled until the query begins; then its result is returned.
        """
        ...

    async def read_long(self, query: Callable[[Tx], T]) -> T:
        """Run a long query on a connection of its own, so that `read` does not wait for it.

        Checkpoints. Can be cancelled until the query begins; then its result is returned.
        """
        ...

    async def truncate_log(self) -> bool:
        """Make the engine drop deleted content from its log; False while that is not possible."""
        ...

    async def clear_free_space(self, text: str, most_bytes: int) -> bool:
        """Rewrite the database if a deleted text is in its free space.

        False if the database is larger than `most_bytes`, and has the text. Truncate the log before
        and after it.
        """
        ...

    async def ping(self) -> None:
        """Read one row, or raise `StoreUnavailable`."""
        ...

    async def aclose(self) -> None:
        """Finish the writes that were queued, then close the connections. Is never cancelled."""
        ...
