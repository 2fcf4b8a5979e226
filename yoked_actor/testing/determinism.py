"""Reproducible scheduling. The only module that uses private names of trio.

trio runs tasks in a random order, with its own generator. Hypothesis and pytest-trio make it
reproducible by the same two names.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from random import Random
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


@contextmanager
def secrets_by_seed(seed: int) -> Iterator[None]:
    """Make what `secrets` returns depend on `seed` alone: tombstones of erased users, for one."""
    random = Random(f"secrets {seed}")
    plain = secrets.token_bytes, secrets.token_hex

    def token_bytes(size: int | None = None) -> bytes:
        return random.randbytes(32 if size is None else size)

    def token_hex(size: int | None = None) -> str:
        return token_bytes(size).hex()

    for name, replaced in (("token_bytes", token_bytes), ("token_hex", token_hex)):
        setattr(secrets, name, replaced)
    try:
        yield
    finally:
        secrets.token_bytes, secrets.token_hex = plain
