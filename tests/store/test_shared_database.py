"""Several processes on one PostgreSQL: each job is claimed once, and no write is lost between two.

Each store is opened as a process would, with connections and threads of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import psycopg
import trio

from tests.domain.crowds import man, woman
from tests.store.test_offers_conformance import BERLIN, DAY, NINE, offer
from yoked_actor.domain.jobs import JobStatus, NewJob
from yoked_actor.domain.lobby import Changes, Erasure
from yoked_actor.domain.offers import Answer, OfferRules, make_run
from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.store import Store, ThreadRunner, Tx, open_store

LEASE_S = 60.0
_RULES = OfferRules()


@asynccontextmanager
async def processes(url: str, count: int) -> AsyncIterator[list[Store]]:
    """Stores on one database, as that many processes open them."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                open_store(
                    None, runner=ThreadRunner(), url=url, shared=number > 0, busy_timeout_s=10
                )
            )
            for number in range(count)
        ]


async def test_processes_that_claim_at_once_never_get_the_same_job(postgres_url: str) -> None:
    claimed: Counter[int] = Counter()
    async with processes(postgres_url, 4) as stores:
        await stores[0].jobs.enqueue([NewJob("mail", {"n": n}, 0) for n in range(400)], 0)

        async def work(store: Store, owner: str) -> None:
            while jobs := (await store.jobs.claim(owner, 10, LEASE_S, 7)).jobs:
                claimed.update(job.id for job in jobs)

        async with trio.open_nursery() as nursery:
            for number, store in enumerate(stores):
                for task in range(2):
                    nursery.start_soon(work, store, f"{number}.{task}")
        assert len(claimed) == 400
        assert set(claimed.values()) == {1}
        counts = await stores[0].jobs.counts()
        assert counts == {("mail", JobStatus.IN_PROGRESS): 400}


async def test_jobs_that_another_transaction_has_locked_are_left_to_it(postgres_url: str) -> None:
    async with processes(postgres_url, 1) as [store]:
        await store.jobs.enqueue([NewJob("mail", {"n": n}, 0) for n in range(3)], 0)
        with psycopg.connect(postgres_url) as other:
            other.execute("SELECT id FROM jobs WHERE id <= 2 FOR UPDATE")
            first = await store.jobs.claim("w", 10, LEASE_S, 7)
            assert [job.id for job in first.jobs] == [3]
            again = await store.jobs.claim("w", 10, LEASE_S, 7)
            assert again.jobs == []
            # Later, and not at once again and again.
            assert again.next_due_at is not None
            assert 10 < again.next_due_at <= 10 + MICROSECONDS
        assert [job.id for job in (await store.jobs.claim("w", 10, LEASE_S, 7)).jobs] == [1, 2]


async def test_a_lease_that_ended_is_rescued_by_one_process(postgres_url: str) -> None:
    rescued: Counter[int] = Counter()
    async with processes(postgres_url, 3) as stores:
        await stores[0].jobs.enqueue([NewJob("mail", {"n": n}, 0) for n in range(60)], 0)
        await stores[0].jobs.claim("dead", 1, 1.0, 60)
        late = 5 * MICROSECONDS

        async def rescue(store: Store, owner: str) -> None:
            for _ in range(20):
                found = await store.jobs.claim(owner, late, LEASE_S, 5, {})
                rescued.update(job.id for job in found.rescued)
                found = await store.jobs.claim(owner, late, LEASE_S, 5)
                rescued.update(job.id for job in found.rescued)

        async with trio.open_nursery() as nursery:
            for number, store in enumerate(stores):
                nursery.start_soon(rescue, store, str(number))
        assert len(rescued) == 60
        assert set(rescued.values()) == {1}
        for job_id in rescued:
            assert len(await stores[0].jobs.attempts(job_id)) == 1


async def test_the_effect_of_a_job_is_applied_once_although_two_processes_complete_it(
    postgres_url: str,
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE done (job_id bigint NOT NULL)")
        async with processes(postgres_url, 2) as stores:
            await stores[0].jobs.enqueue([NewJob("mail", {"n": n}, 0) for n in range(50)], 0)
            jobs = (await stores[0].jobs.claim("w", 1, LEASE_S, 50)).jobs
            refused = 0

            async def complete(store: Store) -> None:
                nonlocal refused
                for job in jobs:

                    def apply(tx: Tx, job_id: int = job.id) -> None:
                        tx.execute("INSERT INTO done VALUES (?)", (job_id,))

                    try:
                        await store.jobs.complete(job.id, job.fence, 2, apply)
                    except Exception:
                        refused += 1

            async with trio.open_nursery() as nursery:
                for store in stores:
                    nursery.start_soon(complete, store)
        found = [job_id for (job_id,) in connection.execute("SELECT job_id FROM done").fetchall()]
    assert sorted(found) == [job.id for job in jobs]
    assert refused == 50


async def test_a_key_is_used_once_although_many_processes_enqueue_it(postgres_url: str) -> None:
    new = 0
    async with processes(postgres_url, 4) as stores:

        async def enqueue(store: Store) -> None:
            nonlocal new
            for n in range(40):
                jobs = [NewJob("mail", {"n": n}, 0, key=f"k{n}"), NewJob("mail", {}, 0)]
                first, _ = await store.jobs.enqueue(jobs, 0)
                new += first.is_new

        async with trio.open_nursery() as nursery:
            for store in stores:
                nursery.start_soon(enqueue, store)
        keyed = [job for job in await stores[0].jobs.list(limit=999) if job.key]
    assert new == 40
    assert sorted(job.key or "" for job in keyed) == sorted(f"k{n}" for n in range(40))


async def test_two_who_accept_each_other_at_once_are_connected(postgres_url: str) -> None:
    async with processes(postgres_url, 2) as stores:
        people = [woman(f"w{n}") for n in range(4)] + [man(f"m{n}") for n in range(4)]
        await stores[0].commit(Changes(people=people))
        made = await offer(stores[0])
        pairs = [
            (user_id, one.candidate)
            for user_id in ("w0", "w1", "w2", "w3")
            for one in made[user_id].offers
            if any(back.candidate == user_id for back in made[one.candidate].offers)
        ]
        assert len(pairs) >= 4

        async def accept(store: Store, user_id: str, candidate: str) -> None:
            ids = {
                one.candidate: offer_id
                for one, offer_id in zip(made[user_id].offers, made[user_id].ids(), strict=True)
            }
            await store.offers.answer(user_id, ids[candidate], Answer.ACCEPT, NINE + 5)

        for a, b in pairs:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(accept, stores[0], a, b)
                nursery.start_soon(accept, stores[1], b, a)
        found = {
            (user_id, one.partner)
            for user_id in ("w0", "w1", "w2", "w3")
            for one in await stores[0].offers.connections(user_id)
        }
    assert found == set(pairs)


async def test_no_set_names_a_user_who_is_erased_while_another_process_stores_it(
    postgres_url: str,
) -> None:
    async with processes(postgres_url, 2) as (server, worker):
        people = [woman(f"w{n}") for n in range(6)] + [man(f"m{n}") for n in range(6)]
        await server.commit(Changes(people=people))
        frozen = await server.offers.freeze_pool(
            *(BERLIN, DAY, NINE, NINE + 86_400 * MICROSECONDS), _RULES, NINE
        )
        assert frozen.pool is not None
        made = make_run(frozen.pool, _RULES)

        async def erase() -> None:
            for n in range(3):
                await server.privacy.look_up(f"w{n}", NINE)
                erasure = Erasure(f"w{n}", f"~erased-{n}", NINE + 9)
                await server.commit(Changes(erased=[erasure]))

        async def store_sets() -> None:
            for one in made.values():
                await worker.offers.store_sets(BERLIN, [one], NINE + 9, frozen.inputs)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(erase)
            nursery.start_soon(store_sets)
    assert [name for name in ("w0", "w1", "w2") if name in everything_in(postgres_url)] == []


def everything_in(url: str) -> set[str]:
    """Every word of every table."""
    words: set[str] = set()
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT quote_ident(relname) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        ).fetchall()
        for (table,) in tables:
            rows = connection.execute(f"SELECT t::text FROM {table} AS t".encode()).fetchall()
            for (text,) in rows:
                words.update(re.findall(r"[\w~-]+", text))
    return words
