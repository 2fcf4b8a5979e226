"""A run is made once for the jobs of a process, whatever happens to its maker."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest
import trio

from tests.actors.test_shared_runs import USERS, a_frozen_run
from tests.store.test_offers_conformance import BERLIN, DAY
from yoked_actor.actors.offers.runs import OfferRuns
from yoked_actor.domain.jobs import Permanent
from yoked_actor.domain.offers import FrozenRun, joint_digest, make_run
from yoked_actor.store import InlineRunner, PreparedSet, Store, open_store, prepare_set


async def the_run(store: Store) -> FrozenRun:
    frozen = await store.offers.load_run(BERLIN, DAY)
    assert frozen is not None
    return frozen


def prepared(frozen: FrozenRun) -> dict[str, PreparedSet]:
    assert frozen.pool is not None
    made = make_run(frozen.pool, frozen.rules)
    return {user_id: prepare_set(BERLIN, one, frozen.inputs) for user_id, one in made.items()}


async def test_a_run_is_made_from_the_pool_at_hand_while_it_is_the_stored_one(autojump_clock):
    async with open_store(None, runner=InlineRunner()) as store:
        await a_frozen_run(store)
        frozen = await the_run(store)
        expected = prepared(frozen)
        await store.offers.drop_pools(DAY + timedelta(days=1))
        runs = OfferRuns(store.offers, threads=False)
        with runs.at_hand(frozen):
            assert await runs.sets(BERLIN, DAY) == expected
        with pytest.raises(Permanent):  # nothing is at hand any more
            await OfferRuns(store.offers, threads=False).sets(BERLIN, DAY)
        earlier = msgspec.structs.replace(frozen, refrozen=frozen.refrozen + 1)
        runs = OfferRuns(store.offers, threads=False)
        with runs.at_hand(earlier), pytest.raises(Permanent):
            await runs.sets(BERLIN, DAY)


@pytest.mark.parametrize("rounds", range(8))
async def test_a_run_whose_maker_is_cancelled_is_made_by_the_next_job(rounds: int) -> None:
    async with open_store(None, runner=InlineRunner()) as store:
        await a_frozen_run(store)
        runs = OfferRuns(store.offers)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(runs.set_of, BERLIN, DAY, "ana")
            for _ in range(rounds):
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        frozen = await the_run(store)
        expected = prepared(frozen)
        assert [await runs.set_of(BERLIN, DAY, user_id) for user_id in USERS] == [
            expected[user_id] for user_id in USERS
        ]
        assert await runs.sets(BERLIN, DAY) == expected
        recorded = (await the_run(store)).outputs
        assert recorded == joint_digest(one.digest for one in expected.values())
