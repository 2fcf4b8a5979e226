"""Reproducible scheduling. The one place that reaches into trio's privates.

trio shuffles runnable tasks on purpose, with a random generator of its own; Hypothesis and
pytest-trio make that reproducible through the same two names that are used here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import trio
from trio.testing import MockClock

T = TypeVar("T")


def schedule_by_seed(seed: int) -> None:
    """From now on, let the order in which trio runs tasks follow from `seed` alone."""
    internals: Any = trio._core._run
    internals._ALLOW_DETERMINISTIC_SCHEDULING = True
    internals._r.seed(seed)


def run(main: Callable[[], Awaitable[T]], *, seed: int = 0) -> T:
    """Run `main` on a mock clock that jumps ahead whenever everybody waits."""
    schedule_by_seed(seed)
    return trio.run(main, clock=MockClock(autojump_threshold=0))
