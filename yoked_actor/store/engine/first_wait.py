"""Notices when a coroutine begins to wait, if it does."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


@coroutine
def when_it_waits(
    running: Coroutine[Any, Any, T], then: Callable[[], None]
) -> Generator[Any, Any, T]:
    """Await a coroutine. Call `then` when it first waits; never, if it ends without waiting."""
    try:
        trap = running.send(None)
        then()
        while True:
            try:
                value = yield trap
            except BaseException as error:
                trap = running.throw(error)
            else:
                trap = running.send(value)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
