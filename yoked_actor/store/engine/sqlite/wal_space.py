"""Space for the WAL, written before it is needed.

A sync of a file that has grown waits for the journal of the file system too: on an ext4 volume that
took 0.1 ms more at the median, and once in a thousand times 30 ms. SQLite overwrites the WAL after
a checkpoint and lets it grow only until then, so the space is written when a server starts, and
again when the WAL was truncated.

SQLite reads the WAL until a frame that is not valid, and zeros are no valid frame.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

_HEADER, _FRAME_HEADER = 32, 24
_AT_ONCE = bytes(1 << 20)
_MOST_BYTES = 64 << 20
"""Of a WAL that may become longer, only the first part is written in advance."""


def reserve_wal(connection: sqlite3.Connection, path: Path, pages: int) -> None:
    """Append zeros to the WAL until it has space for so many pages, or 64 MiB. Blocks.

    Without the space on the disk, or while another process writes, the WAL stays as it is.
    """
    (page_size,) = connection.execute("PRAGMA page_size").fetchone()
    wanted = min(_HEADER + pages * (_FRAME_HEADER + page_size), _MOST_BYTES)
    try:
        # The lock on writing is held meanwhile: a frame of another process would be overwritten.
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return
    try:
        file = os.open(f"{path}-wal", os.O_RDWR | os.O_CLOEXEC)
        try:
            _append_zeros(file, wanted)
        finally:
            os.close(file)
    except OSError:
        pass  # the WAL grows with the commits, which are then the first to report a full disk
    finally:
        connection.execute("ROLLBACK")


def _append_zeros(file: int, wanted: int) -> None:
    begin = at = os.fstat(file).st_size
    try:
        while at < wanted:
            at += os.pwrite(file, memoryview(_AT_ONCE)[: wanted - at], at)
        os.fdatasync(file)
    except OSError:
        os.ftruncate(file, begin)
        raise
