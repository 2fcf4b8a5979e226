"""Scenario 2: the user who has waited longest, or has credit, is paired first."""

from __future__ import annotations

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, news, settle, told
from yoked_actor.client import Client
from yoked_actor.testing import World, open_world


async def test_a_three_minute_waiter_is_paired_before_anyone_newer(autojump_clock):
    async with open_world() as world:
        # Ids are chosen against the old one: it must win by its wait, not by its name.
        old = await world.join("zoe", **WOMAN)
        await old.spin()
        await trio.sleep(175)
        newer = [await world.join(f"anna{n}", **WOMAN) for n in range(5)]
        for one in newer:
            await one.spin()
            await trio.sleep(1)
        ben = await world.join("ben", **MAN)
        await ben.spin()

        assert (await ben.wait_for("matched")).partner["user_id"] == "zoe"
        assert (await old.wait_for("matched")).partner["user_id"] == "ben"
        for number, one in enumerate(newer):
            # All but the last have come to tier 2 by now.
            widened = [("tier", 2)] if number < 4 else []
            assert told(await news(one)) == [("waiting", "spun"), *widened]
        assert world.audit() == []


async def test_the_newer_ones_follow_in_the_order_of_their_spins(autojump_clock):
    async with open_world() as world:
        for name in ("cleo", "bea", "abby"):
            await (await world.join(name, **WOMAN)).spin()
            await trio.sleep(1)
        met = []
        for name in ("max", "leo", "kai"):
            he = await world.join(name, **MAN)
            await he.spin()
            met.append((await he.wait_for("matched")).partner["user_id"])
        assert met == ["cleo", "bea", "abby"]


async def test_equal_waits_are_settled_by_user_id(autojump_clock):
    async with open_world() as world:
        for name in ("bea", "abby"):
            await (await world.join(name, **WOMAN)).spin()
        ben = await world.join("ben", **MAN)
        await ben.spin()
        assert (await ben.wait_for("matched")).partner["user_id"] == "abby"


async def earn_credit(world: World, name: str) -> Client:
    """Somebody whose yes was answered with a pass, and who waits now with ten credits."""
    she, he = await join_pair(world, name, f"{name}s-date")
    await settle(she, he, ("yes", "pass"))
    await he.leave()
    return she


async def test_credit_goes_before_a_longer_wait(autojump_clock):
    async with open_world() as world:
        patient = await world.join("abby", **WOMAN)
        creditor = await earn_credit(world, "zoe")
        await creditor.leave()
        await patient.spin()
        await trio.sleep(30)
        await creditor.spin()
        await trio.sleep(5)
        ben = await world.join("ben", **MAN)
        await ben.spin()
        assert (await ben.wait_for("matched")).partner["user_id"] == "zoe"


@pytest.mark.parametrize(("waited_s", "first"), [(59.999, "zoe"), (60.0, "abby")])
async def test_from_sixty_seconds_on_the_wait_goes_before_any_credit(
    autojump_clock, waited_s, first
):
    async with open_world() as world:
        patient = await world.join("abby", **WOMAN)
        creditor = await earn_credit(world, "zoe")
        await creditor.leave()
        ben = await world.join("ben", **MAN)
        await patient.spin()
        await trio.sleep(30)
        await creditor.spin()
        await trio.sleep(waited_s - 30)
        await ben.spin()
        assert (await ben.wait_for("matched")).partner["user_id"] == first


async def test_among_the_starved_the_oldest_goes_first_whatever_the_credit(autojump_clock):
    async with open_world() as world:
        creditor = await earn_credit(world, "abby")
        await creditor.leave()
        oldest = await world.join("zoe", **WOMAN)
        await oldest.spin()
        await trio.sleep(1)
        await creditor.spin()
        await trio.sleep(61)
        ben = await world.join("ben", **MAN)
        await ben.spin()
        assert (await ben.wait_for("matched")).partner["user_id"] == "zoe"


async def test_an_old_place_is_kept_when_the_match_is_not_the_waiters_fault(autojump_clock):
    async with open_world() as world:
        zoe = await world.join("zoe", **WOMAN)
        await zoe.spin()
        await trio.sleep(20)
        abby = await world.join("abby", **WOMAN)
        await abby.spin()
        ben = await world.join("ben", **MAN)
        await ben.spin()
        assert (await ben.wait_for("matched")).partner["user_id"] == "zoe"
        await ben.leave()
        carl = await world.join("carl", **MAN)
        await carl.spin()
        assert (await carl.wait_for("matched")).partner["user_id"] == "zoe"
