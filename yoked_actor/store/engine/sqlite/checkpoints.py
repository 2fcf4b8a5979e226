"""Checkpoints of a worker: beside the writes of the server, and not inside a turn at writing.

SQLite copies the WAL into the database inside the commit that makes the WAL too long. That takes up
to a tenth of a second, and the server has to wait for it with a spin. So a worker copies the WAL
before it is too long, after its turn, while the server writes. Then it copies the little that was
written meanwhile, in a turn: the next write begins the WAL anew.

SQLite does not tell how long the WAL is, except when it is copied. So that is done after a number
of commits, which is adjusted each time.
"""

from __future__ import annotations

import sqlite3

from yoked_actor.store.engine.sqlite.write_turns import WriteTurns

_FIRST_AFTER, _MOST_COMMITS = 8, 1024


class Checkpoints:
    """Keeps the WAL shorter than the length at which a commit copies it."""

    def __init__(self, connection: sqlite3.Connection, turns: WriteTurns, pages: int) -> None:
        """`pages` is the length at which SQLite copies it inside a commit, of whatever process."""
        self._connection = connection
        self._turns = turns
        self._wanted = max(1, pages // 2)
        self._every = self._left = _FIRST_AFTER

    def after_commit(self) -> None:
        """Copy the WAL if it is time. Call it outside a turn. Blocks."""
        self._left -= 1
        if self._left > 0:
            return
        try:
            # The first one says how long it became: afterwards the server may have begun it anew.
            length = self._copy()
            with self._turns.turn():
                self._copy()
        except sqlite3.Error:
            length = self._wanted  # as in a commit, an error matters to nobody: there is a next one
        # At most twice as many commits as the last time: they may become larger.
        fitting = self._every * self._wanted // max(length, 1)
        self._every = self._left = max(1, min(fitting, 2 * self._every, _MOST_COMMITS))

    def _copy(self) -> int:
        """Copy what can be copied while others read and write; returns the length of the WAL."""
        (_, length, _) = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return int(length)
