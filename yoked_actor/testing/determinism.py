"""Reproducible scheduling. The only module that uses private names of trio.

trio runs tasks in a random order, with its own generator. Hypothesis and pytest-trio make it
reproducible by the same two names.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import trio
from trio.testing import MockClock

T = TypeVar("T")


def schedule_by_seed(seed: int) -> None:
    """Make the order in which trio runs tasks depend on `seed` alone."""
    internals: Any = trio._core._run
    internals._ALLOW_DETERMINISTIC_SCHEDULING = True
    internals._r.seed(seed)


def run(main: Callable[[], Awaitable[T]], *, seed: int = 0) -> T:
    """Run `main` on a mock clock that jumps ahead whenever all tasks wait."""
    schedule_by_seed(seed)
    return trio.run(main, clock=MockClock(autojump_threshold=0))
