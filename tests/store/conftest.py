"""The stores under the conformance tests, and somebody to store.

Another engine is put under the tests by adding its factory to `open_again`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import date
from pathlib import Path

import pytest

from tests.store.raw import raw_connection
from yoked_actor.domain.people import Person
from yoked_actor.store import InlineRunner, Store, ThreadRunner, Tx, open_store
from yoked_actor.store.engine.postgres import PostgresTx, connect_postgres

Opener = Callable[[], AbstractAsyncContextManager[Store]]


@pytest.fixture
def raw() -> list[Tx]:
    """A connection to the database of the open store, to do to it what no program should."""
    return []


ENGINES = ["memory, inline", "file, inline", "file, thread", "postgres, thread"]


@pytest.fixture(params=ENGINES)
def open_again(request: pytest.FixtureRequest, tmp_path: Path, raw: list[Tx]) -> Opener:
    """Opens the store under test; what it remembers, it remembers when opened again."""
    where, how = request.param.split(", ")
    path = tmp_path / "yoked.db" if where == "file" else None
    runner = ThreadRunner() if how == "thread" else InlineRunner()
    url = request.getfixturevalue("postgres_url") if where == "postgres" else ""

    @asynccontextmanager
    async def open_it() -> AsyncIterator[Store]:
        async with open_store(path, runner=runner, url=url) as store:
            if not url:
                raw.append(raw_connection(store))
                yield store
                return
            with connect_postgres(url, timeout_s=5) as connection:
                raw.append(PostgresTx(connection))
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
