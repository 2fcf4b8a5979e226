"""Giving way to transactions, on a thread that computes or runs jobs."""

from __future__ import annotations

import sys
import time
from threading import Event

_BREATH_S, _RARE_BREATH_S = 0.0015, 0.015
_OFTEN_S = 0.00015
_LONGEST_S = 0.02
"""A transaction that takes this long waits for something else."""


class GiveWay:
    """Leaves the interpreter lock to transactions, on a thread that computes.

    A transaction is hundreds of calls, one for each row that is read, and each releases the lock
    and has to acquire it again. Beside a thread that computes it would wait at each of them, and
    so would the processes that wait for their turn at writing: a spin.

    Where threads switch often, as in a worker process, any other thread gets the lock soon.
    """

    def __init__(self, no_transaction: Event) -> None:
        """`no_transaction` is not set during a transaction that needs the lock."""
        self._no_transaction = no_transaction
        self._next = 0.0
        self._every_s = _BREATH_S if sys.getswitchinterval() > _OFTEN_S else _RARE_BREATH_S

    def __call__(self, done: int, of: int) -> None:
        """Give way, if it is time. Call it often."""
        self.breathe()

    def breathe(self) -> bool:
        """The same; returns whether it is time to report progress, too."""
        self.wait()
        if time.monotonic() < self._next:
            return False
        time.sleep(0)
        self._next = time.monotonic() + self._every_s
        return True

    def wait(self) -> bool:
        """Wait until no transaction needs the lock, for a short time at most. Blocks.

        Returns whether one did.
        """
        if self._no_transaction.is_set():
            return False
        self._no_transaction.wait(_LONGEST_S)
        return True
