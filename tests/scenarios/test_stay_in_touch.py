"""After a date: stay in touch, recently met, and what others do meanwhile (R25, R26)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.actors.morning import START, connect_pair
from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import MAN, WOMAN, join_pair, news, open_voting, settle
from yoked_actor.client import CallRefused, Client, CommandRefused
from yoked_actor.testing import World, open_world

DAY_S = 86_400.0


@pytest.fixture
async def world(autojump_clock: MockClock, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(start=START, database=tmp_path / "yoked.db") as world:
        yield world


async def date(ana: Client, ben: Client, lasts_s: float = 30.0) -> tuple[str, str]:
    """Let two meet and have a date; the ids of the match and of the date."""
    match_id = await settle(ana, ben, ("yes", "yes"))
    date_id = str((await ana.wait_for("date_started")).date_id)
    await trio.sleep(lasts_s)
    await ana.end_date(date_id)
    return match_id, date_id


async def refusal(client: Client, date_id: str, answer: str) -> str:
    with pytest.raises(CommandRefused) as refused:
        await client.stay_in_touch(date_id, answer)
    return refused.value.code


async def connections(world: World, user_id: str) -> list[tuple[str, str, str]]:
    found = await world.api(user_id).connections()
    return [(one["connection_id"], one["partner"]["user_id"], one["source"]) for one in found]


async def met(world: World, user_id: str) -> list[dict[str, Any]]:
    """Whom a user has met, each with the partner's id in place of the card."""
    return [one | {"partner": one["partner"]["user_id"]} for one in await world.api(user_id).met()]


def files_in(folder: Path) -> bytes:
    """Everything that the database's files hold."""
    return b"".join(file.read_bytes() for file in folder.glob("yoked.db*"))


async def test_two_yeses_open_a_connection_of_which_both_are_told(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    match_id, date_id = await date(ana, ben)
    ended = [await client.wait_for("date_ended") for client in (ana, ben)]
    assert {event.touch_until for event in ended} == {ended[0].touch_until}
    assert ended[0].touch_until.startswith("2026-01-02T10:00")
    assert (await ana.stay_in_touch(date_id, "yes")).fields.keys() == {"type", "re"}
    assert "connection" not in [event.type for event in await news(ben)]
    assert await connections(world, "ana") == []
    opened = await ben.stay_in_touch(date_id, "yes")
    for client, other in ((ana, "ben"), (ben, "ana")):
        event = await client.wait_for("connection")
        assert (event.connection_id, event.source) == (opened.connection_id, "date")
        assert event.partner["user_id"] == other
    assert await connections(world, "ana") == [(opened.connection_id, "ben", "date")]
    # The same answer again has the same result, and nobody is told twice.
    again = await ana.stay_in_touch(date_id, "yes")
    assert again.connection_id == opened.connection_id
    assert "connection" not in [event.type for event in await news(ben)]
    assert await refusal(ana, date_id, "no") == "already_answered"
    # The connection can call.
    placed = await ana.start_date(opened.connection_id)
    await ben.accept_call(placed.call_id)
    await ana.wait_for("date_started")
    [entry] = await met(world, "ana")
    assert entry == {
        "match_id": match_id,
        "partner": "ben",
        "at": entry["at"],
        "outcome": "both_yes",
        "date_id": date_id,
        "connection_id": opened.connection_id,
    }


@pytest.mark.parametrize("answers", [("yes", "no"), ("no", "yes"), ("no", "no"), ("yes", None)])
async def test_anything_else_opens_nothing_and_looks_alike(
    autojump_clock: MockClock, world: World, answers: tuple[str, str | None]
) -> None:
    ana, ben = await join_pair(world)
    _, date_id = await date(ana, ben)
    await news(ben)
    assert (await ana.stay_in_touch(date_id, answers[0])).fields.keys() == {"type", "re"}
    if answers[1] is not None:
        assert (await ben.stay_in_touch(date_id, answers[1])).fields.keys() == {"type", "re"}
    assert await news(ben) == []
    for user_id in ("ana", "ben"):
        assert await connections(world, user_id) == []
        [entry] = await met(world, user_id)
        assert ("touch_until" in entry) == (user_id == "ben" and answers[1] is None)
        assert "connection_id" not in entry
        [own] = (await world.api(user_id).export())["dates"]
        assert own["stay_in_touch"] == answers[user_id == "ben"]


async def test_when_and_by_whom_the_question_can_be_answered(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    cleo = await world.join("cleo", **WOMAN)
    await settle(ana, ben, ("yes", "yes"))
    date_id = (await ana.wait_for("date_started")).date_id
    assert await refusal(ana, date_id, "yes") == "wrong_state"
    await trio.sleep(9)
    await ben.end_date(date_id)
    assert "touch_until" not in (await ana.wait_for("date_ended")).fields
    assert await refusal(ana, date_id, "yes") == "wrong_state"
    assert "touch_until" not in (await met(world, "ana"))[0]
    assert await refusal(cleo, date_id, "yes") == "not_found"
    for nonsense in ("d404", "m1", "d", "d٣", "d99999999999999999999"):
        assert await refusal(ana, nonsense, "yes") == "not_found"
    with pytest.raises(CommandRefused, match="bad_request"):
        await ana.stay_in_touch(date_id, "maybe")
    carl = await world.join("carl", **MAN)
    _, later = await date(ana, carl)
    await ana.stay_in_touch(later, "yes")
    for client in (ana, ben, carl, cleo):
        await client.close()
    await trio.sleep(DAY_S)
    with pytest.raises(CallRefused) as refused:
        await world.api("carl").stay_in_touch(later, "yes")
    assert (refused.value.status, refused.value.code) == (409, "wrong_state")
    # What was answered in time is still answered the same.
    await world.api("ana").stay_in_touch(later, "yes")
    with pytest.raises(CallRefused) as refused:
        await world.api("ana").stay_in_touch(later, "no")
    assert (refused.value.status, refused.value.code) == (409, "already_answered")


async def test_answers_survive_a_crash_and_the_partner_may_be_away(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    _, date_id = await date(ana, ben)
    await ben.close()
    await ana.stay_in_touch(date_id, "yes")
    await world.crash()
    await trio.sleep(60)
    await world.start()
    await ana.wait_connected()
    [entry] = await met(world, "ben")
    assert entry["date_id"] == date_id
    assert entry["touch_until"].startswith("2026-01-02T10:00")
    opened = await world.api("ben").stay_in_touch(date_id, "yes")
    assert (await ana.wait_for("connection")).connection_id == opened["connection_id"]
    await world.crash()
    await world.start()
    for user_id, other in (("ana", "ben"), ("ben", "ana")):
        assert await connections(world, user_id) == [(opened["connection_id"], other, "date")]


async def test_a_date_that_a_crash_interrupts_is_followed_by_the_question(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    await settle(ana, ben, ("yes", "yes"))
    date_id = (await ana.wait_for("date_started")).date_id
    for client in (ana, ben):
        await client.drop(stay_away=True)
    await world.crash()
    await world.start()
    await trio.sleep(120)
    for user_id in ("ana", "ben"):
        await world.api(user_id).stay_in_touch(date_id, "yes")
    assert len(await connections(world, "ana")) == 1


async def test_a_connection_of_offers_stays_the_only_one(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    assert await connections(world, "ana") == [(connection_id, "ben", "offers")]
    placed = await ana.start_date(connection_id)
    date_id = (await ben.accept_call(placed.call_id)).date_id
    await trio.sleep(20)
    await ben.end_date(date_id)
    await news(ana)
    # It is there whatever the partner answers, so that showing it discloses nothing.
    assert (await ana.stay_in_touch(date_id, "yes")).connection_id == connection_id
    assert (await ben.stay_in_touch(date_id, "yes")).connection_id == connection_id
    assert "connection" not in [event.type for event in await news(ana)]
    assert await connections(world, "ben") == [(connection_id, "ana", "offers")]


async def test_a_block_opens_nothing_and_discloses_nothing(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    _, date_id = await date(ana, ben)
    await ana.stay_in_touch(date_id, "yes")
    await ben.block("ana")
    assert (await ben.stay_in_touch(date_id, "yes")).fields.keys() == {"type", "re"}
    for user_id in ("ana", "ben"):
        assert await met(world, user_id) == []
        assert await connections(world, user_id) == []
    await world.api("ben").unblock("ana")
    assert [entry["partner"] for entry in await met(world, "ben")] == ["ana"]
    assert await connections(world, "ben") == []


async def test_a_suspension_hides_a_connection_until_it_ends(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    _, date_id = await date(ana, ben)
    await ben.stay_in_touch(date_id, "yes")
    await operator(world).call("POST", "/api/admin/users/ben/suspend", {"reason": "rude"})
    with pytest.raises(CallRefused) as refused:
        await world.api("ben").met()
    assert refused.value.code == "suspended"
    with pytest.raises(CallRefused) as refused:
        await world.api("ben").stay_in_touch(date_id, "yes")
    assert refused.value.code == "suspended"
    await news(ana)
    # As if he had not answered.
    assert (await ana.stay_in_touch(date_id, "yes")).fields.keys() == {"type", "re"}
    assert await news(ana) == []
    assert (await met(world, "ana"), await connections(world, "ana")) == ([], [])
    await operator(world).call("POST", "/api/admin/users/ben/unsuspend")
    [(connection_id, partner, source)] = await connections(world, "ana")
    assert (partner, source) == ("ben", "date")
    assert (await met(world, "ana"))[0]["connection_id"] == connection_id


async def test_an_erased_partner_leaves_no_trace_and_discloses_nothing(
    autojump_clock: MockClock, world: World, tmp_path: Path
) -> None:
    ana, ben = await world.join("ana", **WOMAN), await world.join("ben-0af3", **MAN)
    _, date_id = await date(ana, ben)
    await ben.stay_in_touch(date_id, "yes")
    await world.api("ben-0af3").erase()
    await news(ana)
    assert (await ana.stay_in_touch(date_id, "yes")).fields.keys() == {"type", "re"}
    assert (await met(world, "ana"), await connections(world, "ana")) == ([], [])
    [own] = (await world.api("ana").export())["dates"]
    assert own["stay_in_touch"] == "yes"
    assert own["partner"].startswith("~erased-")
    await world.stop()
    assert b"ben-0af3" not in files_in(tmp_path)


async def test_recently_met_is_newest_first_and_for_some_days(autojump_clock: MockClock) -> None:
    async with open_world(start=START, settings={"date": {"met_days": 2}}) as world:
        ana, ben = await join_pair(world)
        first = await settle(ana, ben, ("yes", "pass"))
        await ana.close()
        await ben.close()
        await trio.sleep(DAY_S)
        ana = await world.connect("ana")
        carl = await world.join("carl", **MAN)
        second = await open_voting(ana, carl)
        assert [one["match_id"] for one in await met(world, "ana")] == [first], "while it is open"
        await carl.leave()
        await ana.leave()
        dan = await world.join("dan", **MAN)
        # A match that never opened its vote is no meeting.
        await ana.spin()
        await dan.spin()
        await dan.leave()
        await ana.leave()
        assert [(one["match_id"], one["outcome"]) for one in await met(world, "ana")] == [
            (second, "cancelled"),
            (first, "yes_pass"),
        ]
        assert set((await met(world, "ana"))[0]) == {"match_id", "partner", "at", "outcome"}
        for client in (ana, carl, dan):
            await client.close()
        await trio.sleep(DAY_S + 1)
        assert [one["match_id"] for one in await met(world, "ana")] == [second]
        await trio.sleep(DAY_S)
        assert await met(world, "ana") == []


async def test_how_many_are_listed_is_bounded(autojump_clock: MockClock) -> None:
    async with open_world(start=START, settings={"date": {"max_met": 2}}) as world:
        ana = await world.join("ana", **WOMAN)
        for name in ("ben", "carl", "dan"):
            other = await world.join(name, **MAN)
            await settle(ana, other, ("pass", "pass"))
            await other.leave()
            await ana.leave()
        assert [one["partner"] for one in await met(world, "ana")] == ["dan", "carl"]
        assert [one["partner"] for one in await met(world, "ben")] == ["ana"]


async def test_a_report_from_the_list_is_not_noticed_by_the_reported_one(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    match_id, _ = await date(ana, ben)
    await news(ben)
    before = await met(world, "ben")
    await world.api("ana").report("ben", "rude on the date", match_id)
    assert await news(ben) == []
    assert await met(world, "ben") == before
    [report] = (await operator(world).call("GET", "/api/admin/reports"))["reports"]
    assert (report["reported"], report["match_id"]) == ("ben", match_id)
