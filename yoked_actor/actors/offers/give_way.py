"""Giving way to commits, on a thread that computes."""

from __future__ import annotations

import sys
import time

_BREATH_S, _RARE_BREATH_S = 0.0015, 0.015
_OFTEN_S = 0.0002


class GiveWay:
    """Releases the interpreter lock regularly, on a thread that computes.

    A commit is many calls that have to acquire the lock; it would wait at each of them. Where
    threads switch often, as in a worker process, another thread gets the lock soon in any case.
    """

    def __init__(self) -> None:
        self._next = 0.0
        self._every_s = _BREATH_S if sys.getswitchinterval() > _OFTEN_S else _RARE_BREATH_S

    def __call__(self, done: int, of: int) -> None:
        """Release the lock, if it was not released just now. Call it often."""
        self.breathe()

    def breathe(self) -> bool:
        """The same; returns whether the lock was released."""
        if time.monotonic() < self._next:
            return False
        time.sleep(0)
        self._next = time.monotonic() + self._every_s
        return True
