"""Which file is at a path: its device and inode, and nothing else.

`os.stat` asks for the times of the file too. Linux (since 6.13) then gives the next write an exact
time instead of that of the last clock tick, so each write changes the inode: with a stat of the WAL
beside each commit, a commit on ext4 took a third longer. `statx` asks for the inode only.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

Identity = tuple[int, int]
"""Device and inode."""

_FROM_WORKING_DIRECTORY, _INODE_ONLY = -100, 0x100
_Answer = ctypes.c_uint64 * 32
_INODE, _DEVICE = 4, 17
"""Places in the answer. The second one holds the two numbers of the device."""


def _find_statx() -> Callable[..., Any] | None:
    # The interpreter lock is kept: the names of open files are in memory, and a thread that gives
    # up the lock after a commit has to wait for it.
    found = getattr(ctypes.PyDLL(None), "statx", None)
    if found is not None:
        found.restype = ctypes.c_int
        found.argtypes = [
            ctypes.c_int,
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_uint,
            ctypes.c_void_p,
        ]
    return found


_statx = _find_statx()


def identity_at(name: bytes) -> Identity | None:
    """The identity of the file at a path; None when there is none, or it cannot be reached.

    Compare it only with another result of this function.
    """
    if _statx is not None:
        answer = _Answer()
        if _statx(_FROM_WORKING_DIRECTORY, name, 0, _INODE_ONLY, answer) == 0:
            return answer[_DEVICE], answer[_INODE]
    # No such file; or a system, or a sandbox, without `statx`.
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino
