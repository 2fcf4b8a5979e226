"""Giving way to transactions, on a thread that computes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_BREATH_S, _RARE_BREATH_S = 0.0015, 0.015
_OFTEN_S = 0.0002
_PAUSE_S = 0.0001
_LONGEST_PAUSES = 100
"""A transaction that takes this long waits for something else."""


class GiveWay:
    """Leaves the interpreter lock to transactions, on a thread that computes.

    A transaction is hundreds of calls, one for each row that is read, and each releases the lock
    and has to acquire it again. Beside a thread that computes it would wait at each of them, and
    so would the processes that wait for their turn at writing: a spin.

    Where threads switch often, as in a worker process, any other thread gets the lock soon.
    """

    def __init__(self, is_applying: Callable[[], bool]) -> None:
        """`is_applying` says whether a transaction needs the lock now."""
        self._is_applying = is_applying
        self._next = 0.0
        self._every_s = _BREATH_S if sys.getswitchinterval() > _OFTEN_S else _RARE_BREATH_S

    def __call__(self, done: int, of: int) -> None:
        """Give way, if it is time. Call it often."""
        self.breathe()

    def breathe(self) -> bool:
        """The same; returns whether it is time to report progress, too."""
        pauses = 0
        while self._is_applying() and pauses < _LONGEST_PAUSES:
            time.sleep(_PAUSE_S)
            pauses += 1
        if time.monotonic() < self._next:
            return False
        time.sleep(0)
        self._next = time.monotonic() + self._every_s
        return True
