"""The stores under the conformance tests, and somebody to store.

Another engine is put under the tests by adding its factory to `open_again`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import date
from pathlib import Path

import pytest

from yoked_actor.domain.people import Person
from yoked_actor.store import InlineRunner, Store, ThreadRunner, open_store

Opener = Callable[[], AbstractAsyncContextManager[Store]]


@pytest.fixture
def raw() -> list[sqlite3.Connection]:
    """The writing connection of the open store, to do to it what no program should."""
    return []


@pytest.fixture(params=["memory, inline", "file, inline", "file, thread"])
def open_again(
    request: pytest.FixtureRequest, tmp_path: Path, raw: list[sqlite3.Connection]
) -> Opener:
    """Opens the store under test; what it remembers, it remembers when opened again."""
    where, how = request.param.split(", ")
    path = tmp_path / "yoked.db" if where == "file" else None
    runner = ThreadRunner() if how == "thread" else InlineRunner()

    @asynccontextmanager
    async def open_it() -> AsyncIterator[Store]:
        async with open_store(path, runner=runner) as store:
            raw.append(store._database._connection)
            yield store

    return open_it


@pytest.fixture
def reopens(request: pytest.FixtureRequest) -> None:
    if "memory" in request.node.callspec.id:
        pytest.skip("a memory is gone when it is closed")


@pytest.fixture
def ana() -> Person:
    return Person(
        user_id="ana",
        display_name="Ana",
        birth_date=date(1998, 4, 2),
        gender="woman",
        lat=52.52,
        lon=13.4,
        time_zone="Europe/Berlin",
        interests=("jazz",),
        seeking=frozenset({"man"}),
        min_age=24,
        max_age=36,
        max_distance_km=50.0,
    )
