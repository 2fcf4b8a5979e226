"""Which writes of several processes on one database may happen at the same time.

A transaction of SQLite is alone: what it reads stays so until its end. On PostgreSQL transactions
of several processes run beside each other, and one that decides by what it has read could decide
wrongly. So a write is alone there too, unless it says otherwise. See ADR 0026.
"""

from __future__ import annotations

from enum import IntEnum


class Turn(IntEnum):
    """What a write excludes in other processes. A batch of writes takes the strictest."""

    FREE = 0
    """Nothing. It changes only what this process owns, or decides in one statement."""
    SHARED = 1
    """Writes that are alone. Its statements lock the rows that they decide by."""
    ALONE = 2
    """All writes but free ones."""
