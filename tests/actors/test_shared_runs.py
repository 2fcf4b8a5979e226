"""Several workers on one morning: the run is made once, and each reads what its jobs name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest
import trio
from pydantic import SecretStr
from structlog.testing import capture_logs

from tests.domain.crowds import man, woman
from tests.store.test_offers_conformance import BERLIN, DAY, NINE, freeze
from tests.store.test_shared_database import processes
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher
from yoked_actor.actors.offers import OfferJobs
from yoked_actor.actors.offers.runs import OfferRuns
from yoked_actor.actors.offers.turn import zone_run_job
from yoked_actor.actors.offers.zone_jobs import EndedSet
from yoked_actor.domain.jobs import Permanent
from yoked_actor.domain.lobby import Changes, Erasure
from yoked_actor.domain.time import Run
from yoked_actor.settings import Settings
from yoked_actor.settings.models.jobs import JobSettings
from yoked_actor.settings.models.store import StoreSettings
from yoked_actor.store import InlineRunner, Store, open_store
from yoked_actor.telemetry import Metrics

USERS = ["ana", "eva", "m0", "m1", "m2"]


async def a_frozen_run(store: Store) -> None:
    people = [woman("ana"), woman("eva"), *(man(f"m{n}") for n in range(3))]
    await store.commit(Changes(people=people))
    await freeze(store)


def made(logs: Sequence[Mapping[str, Any]]) -> int:
    return sum(line["event"] == "offers_made" for line in logs)


async def test_a_run_is_made_once_for_all_workers(autojump_clock):
    async with open_store(None, runner=InlineRunner()) as store:
        await a_frozen_run(store)
        first, second, third = (
            OfferRuns(store.offers, threads=False, shared=shared) for shared in (True, True, False)
        )
        with capture_logs() as logs:
            await first.share(BERLIN, DAY)
            sets = [await second.set_of(BERLIN, DAY, user_id) for user_id in USERS]
        assert made(logs) == 1
        alone = await third.sets(BERLIN, DAY)
        assert sets == [alone[user_id] for user_id in USERS]


async def test_a_worker_makes_the_run_when_its_parts_are_gone(autojump_clock):
    async with open_store(None, runner=InlineRunner()) as store:
        await a_frozen_run(store)
        first, second = (OfferRuns(store.offers, threads=False, shared=True) for _ in range(2))
        await first.share(BERLIN, DAY)
        await store.commit(Changes(erased=[Erasure("ana", "~erased-1", NINE + 9)]))
        with capture_logs() as logs:
            found = await second.set_of(BERLIN, DAY, "m0")
            assert await second.set_of(BERLIN, DAY, "ana") is None
        assert made(logs) == 1
        assert found is not None
        assert "ana" not in found.names()
        # What the first worker had made cannot be stored any more.
        assert await store.offers.load_part(BERLIN, DAY, "m0") is None
        await first.share(BERLIN, DAY)
        assert await store.offers.load_part(BERLIN, DAY, "m0") is None


async def test_a_user_who_is_in_no_part_has_no_set(autojump_clock):
    async with open_store(None, runner=InlineRunner()) as store:
        await a_frozen_run(store)
        first, second = (OfferRuns(store.offers, threads=False, shared=True) for _ in range(2))
        await first.share(BERLIN, DAY)
        assert await second.set_of(BERLIN, DAY, "zoe") is None
        with pytest.raises(Permanent):
            await second.set_of("Europe/Vienna", DAY, "ana")


async def test_two_workers_on_postgresql_share_a_morning(postgres_url: str) -> None:
    settings = Settings(
        store=StoreSettings(url=SecretStr(postgres_url)), jobs=JobSettings(batch=5, concurrency=5)
    )
    clock = Clock.real(settings.server.clock_step_s)
    ended: dict[str, list[str]] = {"a": [], "b": []}
    all_ended = trio.Event()

    def note(name: str, one: EndedSet) -> None:
        ended[name].append(one.user_id)
        if len(ended["a"]) + len(ended["b"]) == 120:
            all_ended.set()

    async with processes(postgres_url, 2) as stores:
        crowd = [woman(f"w{n:03}") for n in range(60)] + [man(f"m{n:03}") for n in range(60)]
        await stores[0].commit(Changes(people=crowd))
        await stores[0].jobs.enqueue([zone_run_job(Run(BERLIN, DAY, NINE))], NINE)
        with capture_logs() as logs, trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                dispatchers: list[Dispatcher] = []

                def wake_both() -> None:
                    for one in dispatchers:
                        one.wake(from_other_process=True)

                for name, store in zip(ended, stores, strict=True):
                    metrics = Metrics()
                    dispatcher = Dispatcher(
                        *(store.jobs, clock, settings, metrics), owner=name, wake_others=wake_both
                    )
                    dispatchers.append(dispatcher)
                    OfferJobs(
                        *(store.offers, store.jobs, clock, settings, metrics),
                        ended=partial(note, name),
                    ).register(dispatcher)
                    nursery.start_soon(dispatcher.run)
                await all_ended.wait()
                nursery.cancel_scope.cancel()
        kept = await stores[0].offers.load_zone(BERLIN, DAY)
    assert made(logs) == 1
    assert min(map(len, ended.values())) > 0, "both take part"
    assert sorted(one.offers.user_id for one in kept) == sorted(ended["a"] + ended["b"])
