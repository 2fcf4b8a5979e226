"""Awaiting a coroutine whose first step was made by hand.

`running.send(None)` runs a coroutine until it waits for the first time, and returns what the event
loop has to be given; if the coroutine ends before, it raises `StopIteration` with the result. So a
caller can do something between the first step and the rest, and a coroutine that never waits costs
no more than a call.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar

T = TypeVar("T")


@coroutine
def going_on(running: Coroutine[Any, Any, T], trap: Any) -> Generator[Any, Any, T]:
    """Await a coroutine that waits already; `trap` is what its first step returned."""
    try:
        while True:
            try:
                value = yield trap
            except BaseException as error:
                trap = running.throw(error)
            else:
                trap = running.send(value)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
