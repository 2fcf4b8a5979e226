"""Operators list, declare, change and remove rooms; a running server applies it at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import WOMAN, join_pair, match, news, told
from yoked_actor.actors.jobs import wake_other_processes
from yoked_actor.actors.rooms import Declaring
from yoked_actor.client import CallRefused, CommandRefused
from yoked_actor.settings import RoomSettings
from yoked_actor.store import InlineRunner, open_store
from yoked_actor.testing import World, open_world
from yoked_actor.wire.rooms import http

START = "2026-01-02T18:00:00+00:00"  # a Friday
ROOMS = "/api/admin/rooms"


async def put(world: World, room: str, **definition: Any) -> Any:
    return await operator(world).call("PUT", f"{ROOMS}/{room}", definition)


async def listed(world: World) -> dict[str, Any]:
    found = await operator(world).call("GET", ROOMS)
    return {one["room"]: one for one in found["rooms"]}


async def actions(world: World) -> list[tuple[str, str, str]]:
    found = await operator(world).call("GET", "/api/admin/audit")
    return [(one["who"], one["action"], one["subject"]) for one in reversed(found["entries"])]


def test_an_operator_may_set_every_key_that_the_settings_have() -> None:
    assert set(http.RoomDefinition.__struct_fields__) == set(RoomSettings.model_fields)


async def test_a_room_is_declared_used_changed_and_removed(autojump_clock: MockClock) -> None:
    async with open_world(start=START) as world:
        ana, ben = await join_pair(world)
        assert await put(world, "jazz", name="Jazz", schedule=["fri 17:00-23:00"]) == {
            "room": "jazz",
            "is_new": True,
        }
        for one in (ana, ben):
            await one.enter_room("jazz")
        await match(ana, ben)
        eva = await world.join("eva", room="jazz", **WOMAN)
        await eva.spin()
        jazz = (await listed(world))["jazz"]
        assert (jazz["here"], jazz["waiting"], jazz["matches"]) == (3, 1, 1)
        assert (jazz["is_open"], jazz["opens_at"], jazz["closes_at"]) == (
            True,
            "2026-01-02T17:00:00Z",
            "2026-01-02T23:00:00Z",
        )
        assert jazz["source"] == "database"
        assert jazz["definition"] == {"name": "Jazz", "schedule": ["fri 17:00-23:00"]}
        # Closed now, and announced for tomorrow: the match goes on, and nobody else is paired.
        assert (await put(world, "jazz", schedule=["sat 20:00-23:00"]))["is_new"] is False
        await trio.sleep(0.01)
        assert told(await news(eva))[-1] == ("idle", "room_closed")
        assert (await world.api("ana").call("GET", "/api/match/status"))["state"] != "idle"
        jazz = (await listed(world))["jazz"]
        assert (jazz["is_open"], jazz["opens_at"]) == (False, "2026-01-03T20:00:00Z")
        with pytest.raises(CommandRefused, match="room_closed"):
            await eva.spin()
        assert await operator(world).call("DELETE", f"{ROOMS}/jazz") == {"changed": True}
        assert list(await listed(world)) == ["main"]
        with pytest.raises(CommandRefused, match="unknown_room"):
            await eva.enter_room("jazz")
        assert await actions(world) == [
            ("root", "add_room", "jazz"),
            ("root", "change_room", "jazz"),
            ("root", "remove_room", "jazz"),
        ]


async def test_a_code_is_never_shown_and_stays_with_the_guests_if_not_given(
    autojump_clock: MockClock,
) -> None:
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await put(world, "vault", entry="code", code="sesame", guests=["ana", "zoe"])
        await put(world, "vault", entry="code", capacity=5)
        root = operator(world)
        shown = await root.call("GET", f"{ROOMS}/vault")
        assert shown["definition"] == {"entry": "code", "capacity": 5, "guests": ["ana", "zoe"]}
        vault = (await listed(world))["vault"]
        assert vault["guests"] == 2
        assert vault["definition"] == {"entry": "code", "capacity": 5}
        with pytest.raises(CommandRefused, match="wrong_code"):
            await ana.enter_room("vault", "open")
        assert (await ana.enter_room("vault", "sesame")).room == "vault"
        await put(world, "vault", entry="everyone", guests=[], code="")
        assert (await root.call("GET", f"{ROOMS}/vault"))["definition"] == {"entry": "everyone"}


async def test_a_room_of_the_settings_is_shown_and_cannot_be_changed_here(
    autojump_clock: MockClock,
) -> None:
    club = {"name": "Club", "entry": "code", "code": "sesame"}
    async with open_world(settings={"rooms": {"club": club}}) as world:
        shown = await listed(world)
        assert list(shown) == ["main", "club"]
        assert (shown["main"]["source"], shown["club"]["source"]) == ("always", "settings")
        assert shown["club"]["definition"] == {"name": "Club", "entry": "code"}
        for room, said in (("club", r"\[rooms.club\]"), ("main", "always exists")):
            with pytest.raises(CallRefused, match=said) as refused:
                await put(world, room, capacity=3)
            assert (refused.value.status, refused.value.code) == (409, "wrong_state")
            with pytest.raises(CallRefused, match=said) as refused:
                await operator(world).call("DELETE", f"{ROOMS}/{room}")
            assert (refused.value.status, refused.value.code) == (409, "wrong_state")
        assert await listed(world) == shown
        assert await actions(world) == []


@pytest.mark.parametrize(
    ("room", "definition", "said"),
    [
        ("Jazz", {}, "is no id of a room"),
        ("x" * 33, {}, "is no id of a room"),
        ("jazz", {"capacty": 1}, "capacty"),
        ("jazz", {"capacity": 0}, "capacity: must be"),
        ("jazz", {"capacity": "many"}, "capacity"),
        ("jazz", {"entry": "code"}, "code: must be set"),
        ("jazz", {"schedule": ["someday"]}, "schedule: has"),
        ("jazz", {"tier2_after_s": 99.0}, "tier3_after_s: must be at least"),
        ("jazz", {"name": "\u202ezzaj"}, "name"),
    ],
)
async def test_a_bad_definition_is_refused_and_changes_nothing(
    autojump_clock: MockClock, room: str, definition: dict[str, Any], said: str
) -> None:
    async with open_world() as world:
        with pytest.raises(CallRefused, match=said) as refused:
            await put(world, room, **definition)
        assert (refused.value.status, refused.value.code) == (400, "bad_request")
        assert list(await listed(world)) == ["main"]
        assert await actions(world) == []


async def test_an_unknown_room_is_refused(autojump_clock: MockClock) -> None:
    async with open_world() as world:
        for method in ("GET", "DELETE"):
            with pytest.raises(CallRefused) as refused:
                await operator(world).call(method, f"{ROOMS}/nowhere")
            assert (refused.value.status, refused.value.code) == (404, "unknown_room")


async def test_the_thousandth_room_is_the_last(autojump_clock: MockClock) -> None:
    rooms: dict[str, dict[str, Any]] = {f"r{number}": {} for number in range(998)}
    async with open_world(settings={"rooms": rooms}) as world:
        await put(world, "last")
        with pytest.raises(CallRefused, match="at most 1000 rooms"):
            await put(world, "one-more")
        await put(world, "last", capacity=3)
        assert len(await listed(world)) == 1000


async def test_a_room_that_both_declare_is_that_of_the_settings_and_the_other_says_so(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with open_world(database=tmp_path / "yoked.db") as world:
        await put(world, "jazz", capacity=1)
        settings = world.server.base.settings
        settings.rooms["jazz"] = RoomSettings(name="Ours")
        world.server.settings_changed()
        await trio.sleep(0.01)
        found = (await operator(world).call("GET", ROOMS))["rooms"]
        assert [(one["room"], one["source"], one["problem"]) for one in found] == [
            ("main", "always", None),
            ("jazz", "settings", None),
            ("jazz", "database", "the settings declare a room with this id, which is used"),
        ]


async def test_a_change_by_another_process_is_noticed_at_its_wake_up(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana = await world.join("ana", **WOMAN)
        async with open_store(tmp_path / "yoked.db", runner=InlineRunner(), shared=True) as beside:
            declaring = Declaring(beside, world.server.base.settings)
            await declaring.add("jazz", {}, "root (command line)", 1)
            wake_other_processes(tmp_path, "beside")
            await trio.sleep(0.1)
            assert (await ana.enter_room("jazz")).room == "jazz"
            await ana.spin()
            await declaring.remove("jazz", "root (command line)", 2)
            wake_other_processes(tmp_path, "beside")
            await trio.sleep(0.1)
        assert told(await news(ana))[-1] == ("idle", "room_closed")
        assert [one["room"] for one in await world.api("ana").rooms()] == ["main"]
