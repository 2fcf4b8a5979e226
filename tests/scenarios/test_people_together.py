"""Two days of a small town: offers, a match, reports, a suspension, an erasure and a crash, to the
same people, seen from outside."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import MAN, WOMAN, match, news, open_voting, told
from tests.scenarios.test_mornings import BERLIN, SIX, TUESDAY, offered, sets_of, unfinished, until
from tests.scenarios.test_suspension import offer_of, seen_by
from yoked_actor.client import CallRefused, Suspended
from yoked_actor.testing import World, open_world

HER = "ana-0af3"
NAMESAKE = f"x:{HER}"
"""Another person, whose id ends like hers."""
TUESDAY_TEN = "2026-03-03T09:00:00Z"


async def reports(world: World) -> list[tuple[str, int]]:
    found = (await operator(world).call("GET", "/api/admin/reports"))["reports"]
    return [(one["reported"], one["reported_times"]) for one in found]


def left_of_her(database: Path) -> int:
    """How often her id is in the files, and not as a part of her namesake's."""
    data = b"".join(file.read_bytes() for file in database.parent.glob("yoked.db*"))
    return len(re.findall(rb"(?<![xX]:)" + HER.encode(), data))


async def monday(world: World) -> dict[str, Any]:
    """Offers at nine, a connection, a match, reports."""
    for name in (HER, NAMESAKE, "eva"):
        await world.sign_up(name, **WOMAN, time_zone=BERLIN)
    for name in ("ben", "carl"):
        await world.sign_up(name, **MAN, time_zone=BERLIN)
    await until(world, "2026-03-02T08:00:01Z")
    for one, other in ((HER, "ben"), ("ben", HER), (NAMESAKE, "ben"), ("ben", NAMESAKE)):
        await world.api(one).answer_offer(await offer_of(world, one, other), "accept")
    people = {}
    for name in (NAMESAKE, "ben", "eva", "carl"):
        people[name] = await world.connect(name)
    await match(people[NAMESAKE], people["ben"])
    await open_voting(people["eva"], people["carl"])
    body = {"user_id": "ben", "reason": "rude"}
    for name in (HER, HER, NAMESAKE):
        await world.api(name).call("POST", "/api/reports", body)
    assert await reports(world) == [("ben", 2)] * 3
    for client in people.values():
        await news(client)
    return people


async def test_a_suspension_an_erasure_and_a_crash_among_the_same_people(
    autojump_clock, tmp_path
) -> None:
    database = tmp_path / "yoked.db"
    async with open_world(start=SIX, database=database) as world:
        people = await monday(world)
        # Ben is suspended until after the next morning, and Ana erases herself.
        await operator(world).call(
            "POST", "/api/admin/users/ben/suspend", {"reason": "rude", "until": TUESDAY_TEN}
        )
        assert told(await news(people["ben"])) == [("suspended", "rude")]
        assert isinstance(people["ben"].lost, Suspended)
        assert told(await news(people[NAMESAKE])) == [
            ("match_cancelled", "partner_left", "waiting"),
            ("waiting", "partner_left"),
        ]
        assert (await world.api(HER).request("DELETE", "/api/me")).status == 204
        assert left_of_her(database) == 0
        assert told(await news(people["eva"])) == told(await news(people["carl"])) == []
        assert await seen_by(world, NAMESAKE) == ["carl"]
        assert await world.api(NAMESAKE).connections() == []

        await world.crash()
        for client in people.values():
            await client.drop(stay_away=True)
        await until(world, "2026-03-03T07:00:00Z")
        await world.start()
        with pytest.raises(Suspended):
            await world.connect("ben")
        await world.sign_up("dora", **WOMAN, time_zone=BERLIN)
        await world.sign_up("dan", **MAN, time_zone=BERLIN)
        await until(world, "2026-03-03T08:00:01Z")
        sets = await sets_of(world, BERLIN, TUESDAY)
        # Everybody but Ben has a set. Nobody is offered anybody of yesterday, or him.
        assert {user_id: sorted(offered(kept)) for user_id, kept in sets.items()} == {
            NAMESAKE: ["dan"],
            "eva": ["dan"],
            "dora": ["carl", "dan"],
            "carl": ["dora"],
            "dan": sorted(["dora", "eva", NAMESAKE]),
        }
        assert not await unfinished(world)

        await until(world, TUESDAY_TEN)
        ben = await world.connect("ben")
        [connection] = await world.api("ben").connections()
        assert connection["partner"]["user_id"] == NAMESAKE
        [connection] = await world.api(NAMESAKE).connections()
        assert connection["partner"]["user_id"] == "ben"
        await ben.spin()
        dora = await world.connect("dora")
        await dora.spin()
        with trio.fail_after(60):
            assert (await dora.wait_for("matched")).partner["user_id"] == "ben"
        for client in (ben, dora):
            await client.close()
        # Who reported him is known by number, not by name.
        assert await reports(world) == [("ben", 2)] * 3
        assert left_of_her(database) == 0
        assert world.audit() == []

        await until(world, "2026-03-04T08:00:01Z")
        assert await seen_by(world, "ben") == ["dora"]
        assert await seen_by(world, "dan") == []
        with pytest.raises(CallRefused, match="404"):
            await world.api(HER).call("GET", "/api/profile")
        assert not await unfinished(world)


async def test_the_jobs_of_a_namesake_go_on_when_a_user_is_erased_in_the_middle_of_a_morning(
    autojump_clock, tmp_path
) -> None:
    async with open_world(start=SIX, database=tmp_path / "yoked.db") as world:
        for name in (HER, NAMESAKE, "UTC", "2026-03-02"):
            await world.sign_up(name, **WOMAN, time_zone=BERLIN)
        await world.sign_up("ben", **MAN, time_zone=BERLIN)
        await until(world, "2026-03-02T07:59:59.9Z")
        async with trio.open_nursery() as nursery:
            for name in (HER, "UTC", "2026-03-02"):
                nursery.start_soon(world.api(name).request, "DELETE", "/api/me")
            await trio.sleep(0.2)
        await trio.sleep(3600)
        assert await seen_by(world, NAMESAKE) == ["ben"]
        assert NAMESAKE in await seen_by(world, "ben")
        assert not await unfinished(world)
