"""Pauses in long computations, for the threads that need the interpreter lock meanwhile.

A call of NumPy or of a builtin with many values keeps the lock until its end, however often threads
may switch otherwise. Values that come from a generator are handled one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
Breathe = Callable[[], None]
_EVERY = 128


def never() -> None:
    """Do not pause."""


def breathing(values: Iterable[T], breathe: Breathe) -> Iterator[T]:
    """The same values; `breathe` is called at times between them."""
    for number, value in enumerate(values):
        if number % _EVERY == 0:
            breathe()
        yield value
