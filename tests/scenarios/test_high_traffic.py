"""Scenario 5: five hundred people at once."""

from __future__ import annotations

import trio

from tests.scenarios.meeting import MAN, WOMAN
from yoked_actor.client import Client, CommandRefused
from yoked_actor.domain.time import Instant
from yoked_actor.testing import open_world

WOMEN, MEN = 300, 200


async def test_five_hundred_people_are_all_served_in_order_and_nobody_is_stuck(autojump_clock):
    async with open_world(settings={"edge": {"ping_interval_s": 600.0}}) as world:
        people: dict[str, Client] = {}
        for n in range(WOMEN):
            people[f"w{n:03}"] = await world.join(f"w{n:03}", **WOMAN)
        for n in range(MEN):
            people[f"m{n:03}"] = await world.join(f"m{n:03}", **MAN)
        spun_at: dict[str, Instant] = {}
        paired_at: dict[str, Instant] = {}
        served: set[str] = set()
        everybody = trio.Event()

        async def once(user_id: str, client: Client) -> None:
            """One woman: spins, meets one man, goes."""
            await trio.sleep((int(user_id[1:]) * 37 % WOMEN) / 100)
            spun_at[user_id] = world.now()
            await client.spin()
            await meet(user_id, client)
            await client.leave()

        async def again_and_again(user_id: str, client: Client) -> None:
            """One man: meets whoever comes, until all women have been served."""
            await trio.sleep(3)
            await client.spin()
            while not everybody.is_set():
                await meet(user_id, client)

        async def meet(user_id: str, client: Client) -> None:
            """Meet somebody up to the outcome, however many leave before that."""
            while True:
                matched = await client.wait_for("matched")
                paired_at.setdefault(user_id, world.now())
                try:
                    await client.acknowledge(matched.match_id)
                except CommandRefused as refusal:
                    if refusal.code != "unknown_match":
                        raise
                    continue
                if (await client.wait_for("voting", "match_cancelled")).type == "voting":
                    break
            await client.vote(matched.match_id, "pass")
            assert (await client.wait_for("outcome")).outcome == "pass_pass"
            served.add(user_id)
            if len(served) == WOMEN + MEN:
                everybody.set()

        async with trio.open_nursery() as nursery:
            for user_id, client in people.items():
                act = once if user_id.startswith("w") else again_and_again
                nursery.start_soon(act, user_id, client)
            with trio.fail_after(600):
                await everybody.wait()
            nursery.cancel_scope.cancel()

        assert served == set(people)
        assert world.audit() == []
        # Nobody was paired before somebody who suits as well and has waited longer.
        women = sorted(spun_at, key=lambda user_id: (spun_at[user_id], user_id))
        assert [paired_at[w] for w in women] == sorted(paired_at[w] for w in women)


async def test_a_rush_of_equal_numbers_is_paired_off_whole(autojump_clock):
    async with open_world(settings={"edge": {"ping_interval_s": 600.0}}) as world:
        people = [await world.join(f"p{n:03}", **(WOMAN if n % 2 else MAN)) for n in range(100)]
        async with trio.open_nursery() as nursery:
            for client in people:
                nursery.start_soon(client.spin)
        partners = {}
        for n, client in enumerate(people):
            partners[f"p{n:03}"] = (await client.wait_for("matched")).partner["user_id"]
        assert all(partners[partner] == user_id for user_id, partner in partners.items())
        assert len(set(partners.values())) == 100
        assert world.audit() == []
