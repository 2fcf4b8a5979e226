"""What a store on PostgreSQL owes as well: wake-ups, one server, and care for lost connections."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import psycopg
import pytest
import trio

from tests.postgres import PostgresServer, running_postgres
from yoked_actor.domain.lobby import Changes, Match, MatchStatus, Seat, State
from yoked_actor.store import (
    DatabaseInUse,
    InlineRunner,
    Store,
    StoreError,
    StoreUnavailable,
    ThreadRunner,
    Tx,
    WriteRefused,
    open_store,
)

NOW = 1_767_254_400_000_000


@asynccontextmanager
async def opened(url: str, *, shared: bool = False, inline: bool = False) -> AsyncIterator[Store]:
    runner = InlineRunner() if inline else ThreadRunner()
    async with open_store(None, runner=runner, url=url, shared=shared) as store:
        yield store


def end_connections(url: str, name: str = "yoked-actor") -> None:
    """End the connections of the store, as a restart of the database would."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = %s",
            (name,),
        )


class Woken:
    """Counts wake-ups. The first one comes when a bell begins to listen."""

    def __init__(self) -> None:
        self.count = 0
        self._event = trio.Event()

    def wake(self) -> None:
        self.count += 1
        self._event.set()

    async def wait(self) -> None:
        with trio.fail_after(10):
            await self._event.wait()
        self._event = trio.Event()


async def test_a_bell_wakes_other_processes_and_not_its_own(postgres_url: str) -> None:
    own, theirs = Woken(), Woken()
    async with opened(postgres_url) as store, opened(postgres_url, shared=True) as other:
        assert store.bell is not None
        assert other.bell is not None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.bell.listen, own.wake)
            nursery.start_soon(other.bell.listen, theirs.wake)
            await own.wait()
            await theirs.wait()
            store.bell.ring_soon()
            await theirs.wait()
            assert (own.count, theirs.count) == (1, 2)
            await other.bell.ring()
            await own.wait()
            assert (own.count, theirs.count) == (2, 2)
            nursery.cancel_scope.cancel()


async def test_a_bell_makes_up_for_lost_news_while_others_ring(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("yoked_actor.store.engine.postgres.bell._POLL_S", 0.2)
    jobs, news = Woken(), Woken()
    async with opened(postgres_url) as store, opened(postgres_url, shared=True) as other:
        assert store.bell is not None
        assert other.bell is not None
        store.bell.on_news("rooms", news.wake)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.bell.listen, jobs.wake)
            await news.wait()
            nursery.start_soon(_ring_without_pause, other)
            # Nobody tells of rooms: these wake-ups make up for a notification that was lost.
            await news.wait()
            await news.wait()
            nursery.cancel_scope.cancel()
    assert jobs.count > 3


async def _ring_without_pause(store: Store) -> None:
    assert store.bell is not None
    while True:
        await store.bell.ring()


async def test_a_second_server_is_refused_and_a_worker_is_not(postgres_url: str) -> None:
    async with opened(postgres_url), opened(postgres_url, shared=True) as worker:
        await worker.ping()
        with pytest.raises(DatabaseInUse, match="use another database"):
            async with opened(postgres_url):
                pass
    async with opened(postgres_url) as store:
        await store.ping()


@pytest.mark.parametrize("inline", [False, True])
async def test_after_a_lost_connection_a_write_is_tried_again_and_nothing_is_lost(
    postgres_url: str, inline: bool
) -> None:
    async with opened(postgres_url, inline=inline) as store:
        await store.commit(Changes(seats=[Seat("ana", credit=1)]))
        end_connections(postgres_url)
        with pytest.raises(StoreUnavailable):
            await store.commit(Changes(seats=[Seat("ana", credit=2)]))
        assert store.lost_files() is None  # it was found again
        await store.commit(Changes(seats=[Seat("ana", credit=3)]))
        seat = (await store.load_user("ana")).seat
    assert seat is not None
    assert seat.credit == 3


async def test_a_reader_that_lost_its_connection_makes_a_new_one(postgres_url: str) -> None:
    async with opened(postgres_url) as store:
        await store.ping()
        end_connections(postgres_url, "yoked-actor reads")
        await store.ping()


async def test_a_commit_whose_confirmation_was_lost_counts_as_committed(postgres_url: str) -> None:
    """The statement ends its own connection after it was committed: its answer never comes."""
    async with opened(postgres_url) as store:

        def write_and_lose_the_answer(tx: Tx) -> None:
            tx.execute("INSERT INTO secrets (name, value) VALUES (?, ?)", ("kept", b"1"))
            # At COMMIT a deferred trigger runs last; the connection ends after the commit is
            # durable, before the client hears of it.
            connection = tx.connection  # type: ignore[attr-defined]
            plain = connection.execute

            def execute(text, *arguments, **options):
                if text == "COMMIT":
                    plain(text)
                    end_connections(postgres_url)
                    return plain("SELECT 1")
                return plain(text, *arguments, **options)

            connection.execute = execute

        await store._database.write(write_and_lose_the_answer)
        found = await store._database.read(
            lambda tx: tx.execute("SELECT count(*) FROM secrets").fetchone()
        )
    assert found == (1,)


async def test_a_write_in_a_transaction_that_was_not_committed_fails(postgres_url: str) -> None:
    async with opened(postgres_url) as store:

        def lose(tx: Tx) -> None:
            tx.execute("INSERT INTO secrets (name, value) VALUES (?, ?)", ("lost", b"1"))
            end_connections(postgres_url)
            tx.execute("SELECT 1")

        with pytest.raises(StoreUnavailable):
            await store._database.write(lose)
        found = await store._database.read(
            lambda tx: tx.execute("SELECT count(*) FROM secrets").fetchone()
        )
    assert found == (0,)


async def test_a_write_that_hides_a_failed_statement_is_not_taken_for_committed(
    postgres_url: str,
) -> None:
    """PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, and without an error."""
    async with opened(postgres_url) as store:

        def hide(tx: Tx) -> None:
            tx.execute("INSERT INTO secrets (name, value) VALUES (?, ?)", ("lost", b"1"))
            with suppress(psycopg.Error):
                tx.execute("SELECT 1 / 0")

        with pytest.raises(StoreError, match="had failed"):
            await store._database.write(hide)


async def test_what_an_older_connection_of_a_process_left_behind_is_refused(
    postgres_url: str,
) -> None:
    async with opened(postgres_url) as store:
        await store.commit(Changes(seats=[Seat("ana", credit=1)]))
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("UPDATE writers SET session = session + 1")
        with pytest.raises(StoreUnavailable, match="a newer connection"):
            await store.commit(Changes(seats=[Seat("ana", credit=2)]))
        seat = (await store.load_user("ana")).seat
    assert seat is not None
    assert seat.credit == 1


async def test_a_server_that_was_away_while_another_ran_does_not_go_on(postgres_url: str) -> None:
    async with opened(postgres_url) as store:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'boot'")
        end_connections(postgres_url)
        with pytest.raises(StoreError, match="has to be started again") as refused:
            await store.commit(Changes(seats=[Seat("ana")]))
        assert not isinstance(refused.value, StoreUnavailable)


async def test_writes_that_share_a_transaction_fail_alone(postgres_url: str) -> None:
    """Commits of one statement too: on PostgreSQL an error ends the whole transaction."""
    bad = Match("m1", "bob", "ana", MatchStatus.MATCHED, NOW, NOW)  # a pair is in ascending order
    refused: list[int] = []
    async with opened(postgres_url) as store:

        async def commit(number: int) -> None:
            changes = Changes(
                seats=[Seat(f"u{number:02}")], matches=[bad] if number % 3 == 0 else []
            )
            try:
                await store.commit(changes)
            except WriteRefused:
                refused.append(number)

        async with trio.open_nursery() as nursery:
            for number in range(12):
                nursery.start_soon(commit, number)
        found = await store._database.read(
            lambda tx: tx.execute("SELECT user_id FROM seats ORDER BY user_id").fetchall()
        )
    assert sorted(refused) == [0, 3, 6, 9]
    assert [user for (user,) in found] == [f"u{n:02}" for n in range(12) if n % 3]


async def test_a_database_that_stops_and_starts_again_loses_nothing_told() -> None:
    """With `pg_ctl stop -m immediate` during load: every commit that returned is there."""
    told: dict[str, int] = {}
    with running_postgres(fsync=True) as server, server.database("yoked_template") as url:
        async with opened(url) as store:

            async def spin(user: str) -> None:
                for credit in range(1, 1000):
                    while True:
                        try:
                            seat = Seat(user, State.WAITING, NOW, credit)
                            await store.commit(Changes(seats=[seat]))
                            break
                        except StoreUnavailable:
                            await trio.sleep(0.02)
                    told[user] = credit
                    if stopping.is_set():
                        return

            stopping = trio.Event()
            async with trio.open_nursery() as nursery:
                for number in range(8):
                    nursery.start_soon(spin, f"u{number}")
                for _ in range(3):
                    await trio.sleep(0.3)
                    await trio.to_thread.run_sync(restart, server)
                    before = dict(told)
                    for _ in range(600):
                        if all(told[user] > before[user] for user in before):
                            break
                        await trio.sleep(0.05)
                    else:
                        raise AssertionError("nothing is stored after the database has started")
                stopping.set()
            for user, credit in told.items():
                seat = (await store.load_user(user)).seat
                assert seat is not None
                assert seat.credit == credit
    assert len(told) == 8


def restart(server: PostgresServer) -> None:
    server.stop()
    server.start()


async def test_a_database_that_is_away_at_the_end_does_not_keep_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("yoked_actor.store.engine.writer._CLOSING_S", 0.2)
    with running_postgres() as server:
        url = server.url("yoked_template")
        with trio.fail_after(20):
            async with opened(url) as store:
                await store.commit(Changes(seats=[Seat("ana")]))
                await trio.to_thread.run_sync(server.stop)
                async with trio.open_nursery() as nursery:

                    async def commit() -> None:
                        with pytest.raises(StoreUnavailable):
                            await store.commit(Changes(seats=[Seat("bob")]))

                    nursery.start_soon(commit)
                    await trio.sleep(0.3)
                    assert store.lost_files() is not None
                    with pytest.raises(StoreUnavailable):
                        await store.ping()
                    await store.aclose()
