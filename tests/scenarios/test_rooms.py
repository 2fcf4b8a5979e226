"""Rooms, from outside: who meets whom, who may enter, and what a closing does (R27, R28)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match, news, open_voting, settle, told
from tests.scenarios.talker import Talker
from yoked_actor.client import CallRefused, Client, CommandRefused, RoomRefused
from yoked_actor.settings import load_settings
from yoked_actor.store import DeclaredRoom
from yoked_actor.testing import World, open_world

START = "2026-01-02T18:00:00+00:00"
ROOMS: dict[str, dict[str, Any]] = {
    "jazz": {"name": "Jazz"},
    "rock": {"name": "Rock", "description": "Loud.", "date_length_s": 60.0},
}


def house(**rooms: dict[str, Any]) -> dict[str, Any]:
    return {"rooms": rooms or ROOMS}


async def both_enter(room: str, *clients: Client) -> None:
    for client in clients:
        assert (await client.enter_room(room)).room == room


async def test_users_of_two_rooms_do_not_meet_and_those_of_one_do(autojump_clock: object) -> None:
    async with open_world(settings=house()) as world:
        ana, ben = await world.join("ana", room="jazz", **WOMAN), await world.join("ben", **MAN)
        assert (ana.room, ana.snapshot["room"]) == ("jazz", "jazz")
        assert (ben.room, ben.snapshot["room"]) == ("main", "main")
        await ana.spin()
        await ben.spin()
        await trio.sleep(30)
        assert "matched" not in {event.type for event in await news(ana)}
        await ben.leave()
        await ben.enter_room("jazz")
        assert (await world.api("ben").call("GET", "/api/match/status"))["room"] == "jazz"
        await ben.spin()
        assert (await ana.wait_for("matched")).partner["user_id"] == "ben"
        assert world.audit() == []


async def test_two_who_met_in_one_room_never_meet_in_another(autojump_clock: object) -> None:
    async with open_world(settings=house()) as world:
        ana, ben = await join_pair(world)
        await both_enter("jazz", ana, ben)
        await settle(ana, ben, ("yes", "pass"))
        await trio.sleep(1)
        for one in (ana, ben):
            await one.leave()
        for room in ("rock", "main", "jazz"):
            await both_enter(room, ana, ben)
            await ana.spin()
            await ben.spin()
            await trio.sleep(20)
            assert "matched" not in {event.type for event in await news(ana) + await news(ben)}
            await ana.leave()
            await ben.leave()


async def test_a_block_made_in_one_room_holds_in_another(autojump_clock: object) -> None:
    async with open_world(settings=house()) as world:
        ana, ben = await world.join("ana", room="jazz", **WOMAN), await world.join("ben", **MAN)
        await ana.command("block", user_id="ben")
        await ana.enter_room("rock")
        await ben.enter_room("rock")
        await ana.spin()
        await ben.spin()
        await trio.sleep(20)
        assert "matched" not in {event.type for event in await news(ana) + await news(ben)}
        assert [one["user_id"] for one in await world.api("ana").blocks()] == ["ben"]


async def test_only_an_idle_user_changes_the_room(autojump_clock: object) -> None:
    async with open_world(settings=house()) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        with pytest.raises(CommandRefused, match="wrong_state"):
            await ana.enter_room("jazz")
        with pytest.raises(CallRefused, match="wrong_state"):
            await world.api("ana").enter_room("jazz")
        assert (await world.api("ana").call("GET", "/api/match/status"))["state"] == "waiting"
        await ben.spin()
        matched = await ana.wait_for("matched")
        with pytest.raises(CommandRefused, match="wrong_state"):
            await ben.enter_room("jazz")
        # A second device that names a room finds its user where the user is.
        second = await world.connect("ana", room="jazz")
        assert second.room == "main"
        assert second.snapshot["match"]["match_id"] == matched.match_id


@pytest.mark.parametrize(
    ("room", "code", "advice"),
    [
        ("nowhere", "unknown_room", "GET /api/rooms lists the rooms"),
        ("later", "room_closed", "it opens at 2026-01-03T18:00:00.00:00, until then choose"),
        ("past", "room_closed", "does not open again; choose another room"),
        ("club", "forbidden", "its organiser can add you"),
        ("vault", "wrong_code", "needs an invitation code; give it as code"),
    ],
)
async def test_a_room_that_cannot_be_entered_says_why_and_what_to_do_on_every_door(
    autojump_clock: object, room: str, code: str, advice: str
) -> None:
    rooms = house(
        later={"opens_at": "2026-01-03T18:00:00+00:00"},
        past={"closes_at": "2026-01-01T18:00:00+00:00"},
        club={"entry": "list", "guests": ["zoe"]},
        vault={"entry": "code", "code": "sesame"},
    )
    async with open_world(settings=rooms, start=START) as world:
        ana = await world.join("ana", **WOMAN)
        with pytest.raises(CommandRefused, match=advice) as refused:
            await ana.enter_room(room)
        assert refused.value.code == code
        with pytest.raises(CallRefused) as called:
            await world.api("ana").call("POST", f"/api/rooms/{room}/enter")
        assert called.value.code == code
        with pytest.raises(CallRefused) as called:
            await world.api("ana").call("POST", f"/api/spin?room={room}")
        assert called.value.code == code
        with pytest.raises(RoomRefused, match=f"the room was refused: {code}: .*{advice}") as lost:
            await world.connect("ana", room=room)
        assert lost.value.error == code
        assert (await ana.spin()).state == "waiting"
        zoe = await world.join("zoe", **WOMAN)
        if room == "club":
            assert (await zoe.enter_room("club")).room == "club"


async def test_a_refused_hello_can_be_said_again_on_the_same_socket(autojump_clock: object) -> None:
    async with open_world(settings=house(vault={"entry": "code", "code": "sesame"})) as world:
        await world.sign_up("ana", **WOMAN)
        talker = await Talker.dial(world)
        hello = {"type": "hello", "id": "h1", "token": world.token("ana"), "room": "vault"}
        await talker.say(hello)
        first = await talker.hear()
        assert (first["type"], first["re"], first["code"]) == ("error", "h1", "wrong_code")
        welcome = await talker.hello(world.token("ana"), room="vault", code="sesame")
        assert (welcome["room"], welcome["snapshot"]["room"]) == ("vault", "vault")


async def test_a_code_opens_the_room_and_five_wrong_ones_close_it_for_a_minute(
    autojump_clock: object,
) -> None:
    async with open_world(settings=house(vault={"entry": "code", "code": "sesame"})) as world:
        ana = await world.join("ana", **WOMAN)
        with pytest.raises(CommandRefused, match="wrong_code"):
            await ana.enter_room("vault")
        for _ in range(5):
            with pytest.raises(CommandRefused, match="wrong_code"):
                await ana.enter_room("vault", "open")
        with pytest.raises(CommandRefused, match="rate_limited"):
            await ana.enter_room("vault", "sesame")
        with pytest.raises(RoomRefused, match="rate_limited"), trio.fail_after(20):
            await world.connect("ana", room="vault", code="sesame")
        # Another user is not to blame.
        ben = await world.join("ben", room="vault", code="sesame", **MAN)
        assert ben.room == "vault"
        await trio.sleep(61)
        assert (await ana.enter_room("vault", "sesame")).room == "vault"


async def test_a_full_room_takes_nobody_and_a_reload_of_the_page_keeps_the_place(
    autojump_clock: object,
) -> None:
    async with open_world(settings=house(small={"capacity": 2})) as world:
        ana = await world.join("ana", room="small", **WOMAN)
        await world.join("ben", room="small", **MAN)
        cora = await world.join("cora", **WOMAN)
        with pytest.raises(CommandRefused, match="room_full"):
            await cora.enter_room("small")
        await ana.drop(stay_away=True)
        again = await world.connect("ana", room="small")
        assert again.room == "small"
        with pytest.raises(CommandRefused, match="room_full"):
            await cora.enter_room("small")
        await again.enter_room("main")
        assert (await cora.enter_room("small")).room == "small"
        entry = next(one for one in await world.api("ana").rooms() if one["room"] == "small")
        assert (entry["here"], entry["capacity"]) == (2, 2)


async def test_the_list_of_rooms_says_what_is_open_and_when(autojump_clock: object) -> None:
    rooms = house(
        friday={"name": "Friday", "schedule": ["fri 20:00-23:00"], "time_zone": "Europe/Berlin"},
        past={"closes_at": "2026-01-01T00:00:00+00:00"},
        vault={"entry": "code", "code": "sesame", "capacity": 9},
        club={"entry": "list", "guests": ["zoe"]},
    )
    async with open_world(settings=rooms, start=START) as world:
        api = await world.sign_up("ana", **WOMAN)
        found = {one["room"]: one for one in await api.rooms()}
        assert list(found) == ["main", "friday", "vault"]
        assert found["main"] == {
            "room": "main",
            "name": "main",
            "description": "",
            "is_open": True,
            "here": 1,
            "needs_code": False,
        }
        assert found["friday"]["is_open"] is False
        assert found["friday"]["opens_at"] == "2026-01-02T19:00:00Z"
        assert found["friday"]["closes_at"] == "2026-01-02T22:00:00Z"
        assert (found["vault"]["needs_code"], found["vault"]["capacity"]) == (True, 9)
        await trio.sleep(3600)
        (friday,) = [one for one in await api.rooms() if one["room"] == "friday"]
        assert friday["is_open"] is True
        assert "opens_at" not in friday


async def test_a_room_closes_while_users_wait_are_matched_vote_and_are_on_a_date(
    autojump_clock: object,
) -> None:
    rooms = house(
        friday={"closes_at": "2026-01-02T18:10:00+00:00", "date_length_s": 300.0},
    )
    with trio.fail_after(3600):
        await _let_friday_close(rooms)


async def _let_friday_close(rooms: dict[str, Any]) -> None:
    async with open_world(settings=rooms, start=START) as world:
        people = {}
        for number, name in enumerate(("wait", "matched", "voting", "date")):
            for side, profile in (("w", WOMAN), ("m", MAN)):
                # Pairs that suit nobody else: far from all other pairs.
                place = {"lat": 10.0 * number, "lon": 0.0}
                limits: dict[str, Any] = {"max_distance_km": 50, "strict": ["distance"]}
                user_id = f"{name}-{side}"
                people[user_id] = await world.join(
                    user_id, room="friday", **profile, **place, **limits
                )
        idle = await world.join("idle", room="friday", **WOMAN, lat=60.0)
        await trio.sleep(541)
        for client in people.values():
            closing = await client.wait_for("room_closing")
            assert (closing.room, closing.closes_at) == ("friday", "2026-01-02T18:10:00Z")
        late = await world.join("late", room="friday", **MAN, lat=60.0)
        assert (await late.wait_for("room_closing")).room == "friday"
        await settle(people["date-w"], people["date-m"], ("yes", "yes"))
        started = await people["date-w"].wait_for("date_started")
        await trio.sleep(50)
        await people["wait-w"].spin()
        await trio.sleep(1)
        voting = await open_voting(people["voting-w"], people["voting-m"])
        await trio.sleep(4)
        matched = await match(people["matched-w"], people["matched-m"])
        await trio.sleep(4.5)
        assert told(await news(people["wait-w"]))[-1] == ("idle", "room_closed")
        assert told(await news(idle))[-1] == ("idle", "room_closed")
        for refused in (people["wait-w"], idle):
            with pytest.raises(CommandRefused, match="room_closed"):
                await refused.spin()
        # The vote is counted, and both are out of line after it.
        await people["voting-w"].vote(voting, "pass")
        await people["voting-m"].vote(voting, "yes")
        for side in "wm":
            heard = told(await news(people[f"voting-{side}"]))
            assert heard[-2][:2] == ("outcome", "yes_pass")
            assert heard[-1] == ("idle", "room_closed")
        # Nobody acknowledged: the match is cancelled, and nobody waits again.
        await trio.sleep(6)
        assert told(await news(people["matched-w"]))[0][0] == "match_cancelled", matched
        assert not await _is_waiting(world, "matched-w")
        # The date goes on until its end.
        assert started.date_id
        assert "date_ended" not in {event.type for event in await news(people["date-w"])}
        await trio.sleep(300)
        for side in "wm":
            heard = told(await news(people[f"date-{side}"]))
            assert heard[-2:] == [("date_ended", "time_up"), ("idle", "room_closed")]
        with pytest.raises(CommandRefused, match="room_closed"):
            await people["date-w"].enter_room("friday")
        await people["date-w"].enter_room("main")
        assert (await people["date-w"].spin()).state == "waiting"
        assert world.audit() == []


async def test_a_date_that_outlives_its_room_ends_with_the_news_that_the_room_is_closed(
    autojump_clock: object,
) -> None:
    rooms = house(friday={"closes_at": "2026-01-02T18:10:00+00:00"})
    async with open_world(settings=rooms, start=START) as world:
        ana, ben = await join_pair(world)
        await both_enter("friday", ana, ben)
        await trio.sleep(590)
        await settle(ana, ben, ("yes", "yes"))
        date = await ana.wait_for("date_started")
        await trio.sleep(60)
        assert "idle" not in {event.type for event in await news(ana)}
        await news(ben)
        await ana.command("end_date", date_id=date.date_id)
        assert told(await news(ana)) == [("date_ended", "ended"), ("idle", "room_closed")]
        assert told(await news(ben)) == [("date_ended", "partner_ended"), ("idle", "room_closed")]
        await both_enter("main", ana, ben)
        assert world.server.live.rooms.owned() == {"main"}


async def _is_waiting(world: World, user_id: str) -> bool:
    status = await world.api(user_id).call("GET", "/api/match/status")
    return bool(status["state"] == "waiting")


async def test_after_a_crash_everybody_is_in_the_room_and_the_place_they_had(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with open_world(settings=house(), database=tmp_path / "yoked.db") as world:
        clients = {}
        for room in ("main", "jazz", "rock"):
            for name, profile in (("w1", WOMAN), ("w2", WOMAN), ("m", MAN), ("i", MAN)):
                user_id = f"{room}-{name}"
                clients[user_id] = await world.join(user_id, room=room, **profile)
        matches = {}
        for room in ("main", "jazz", "rock"):
            matches[room] = await match(clients[f"{room}-w1"], clients[f"{room}-m"])
            await clients[f"{room}-w2"].spin()
        assert len(set(matches.values())) == 3
        since = {
            user_id: (await world.api(user_id).call("GET", "/api/match/status"))
            for user_id in clients
        }
        await world.crash()
        await world.start()
        for user_id, client in clients.items():
            await client.wait_for("welcome")
            room, name = user_id.split("-")
            status = await world.api(user_id).call("GET", "/api/match/status")
            assert status["room"] == client.room == room, user_id
            if name == "w2":
                assert status["waiting_since"] == since[user_id]["waiting_since"]
            if name in ("w1", "m"):
                assert status["match"]["match_id"] == matches[room]
        assert world.audit() == []
        # The next match has a number of its own.
        for room in ("main", "jazz", "rock"):
            await clients[f"{room}-i"].spin()
            found = await clients[f"{room}-i"].wait_for("matched")
            assert found.partner["user_id"] == f"{room}-w2"
            assert found.match_id not in matches.values()
            matches[f"{room} again"] = found.match_id
        assert len(set(matches.values())) == 6


async def test_a_user_who_was_away_comes_back_into_an_open_room_and_else_into_main(
    autojump_clock: object,
) -> None:
    rooms = house(jazz={}, friday={"closes_at": "2026-01-02T18:10:00+00:00"})
    async with open_world(settings=rooms, start=START) as world:
        for room in ("jazz", "friday"):
            client = await world.join(f"in-{room}", room=room, **WOMAN)
            await client.close()
        await trio.sleep(500)
        assert (await world.connect("in-jazz")).room == "jazz"
        await trio.sleep(500)
        assert (await world.connect("in-friday")).room == "main"
        assert (await world.connect("in-jazz")).room == "jazz"


async def test_an_erased_user_is_gone_from_every_room(autojump_clock: object) -> None:
    async with open_world(settings=house()) as world:
        ana, ben = await world.join("ana", room="jazz", **WOMAN), await world.join("ben", **MAN)
        cora = await world.join("cora", room="rock", **WOMAN)
        await ana.spin()
        for one in (ben, cora):
            await one.command("block", user_id="ana")
        await world.api("ana").call("DELETE", "/api/me")
        await trio.sleep(1)
        for user_id in ("ben", "cora"):
            assert await world.api(user_id).blocks() == []
        assert world.server.live.view.waiting() == 0
        assert world.audit() == []


async def test_a_suspended_user_leaves_the_line_of_their_room(autojump_clock: object) -> None:
    async with open_world(settings=house()) as world:
        ana = await world.join("ana", room="jazz", **WOMAN)
        await ana.spin()
        operator = world.api("root")
        operator.token = world.token("root", role=None, admin=True)
        queue = await operator.call("GET", "/api/admin/queue")
        assert (queue["waiting"], queue["longest"][0]["user_id"]) == (1, "ana")
        body = {"reason": "be kind"}
        await operator.call("POST", "/api/admin/users/ana/suspend", body)
        await trio.sleep(1)
        assert (await operator.call("GET", "/api/admin/queue"))["waiting"] == 0


async def test_a_user_who_is_suspended_on_a_date_in_another_room_is_told_and_stays_out(
    autojump_clock: object, tmp_path: Path
) -> None:
    async with open_world(settings=house(), database=tmp_path / "yoked.db") as world:
        ana, ben = await join_pair(world)
        cora = await world.join("cora", room="rock", **WOMAN)
        await both_enter("jazz", ana, ben)
        await settle(ana, ben, ("yes", "yes"))
        await ben.wait_for("date_started")
        await cora.spin()
        operator = world.api("root")
        operator.token = world.token("root", role=None, admin=True)
        await operator.call("POST", "/api/admin/users/ben/suspend", {"reason": "be kind"})
        assert (await ben.wait_for("suspended")).reason == "be kind"
        assert (await ana.wait_for("date_ended")).reason == "partner_ended"
        await world.crash()
        await world.start()
        for room in ("main", "jazz", "rock"):
            with pytest.raises(CallRefused) as refused:
                await world.api("ben").enter_room(room)
            assert refused.value.code == "suspended"
        # The room of another user is not touched, and that of the partner goes on.
        assert (await world.api("cora").call("GET", "/api/match/status"))["state"] == "waiting"
        status = await world.api("ana").call("GET", "/api/match/status")
        assert (status["room"], status["state"]) == ("jazz", "idle")
        assert world.audit() == []


async def test_a_morning_reaches_the_users_of_every_room_through_a_crash(
    autojump_clock: object, tmp_path: Path
) -> None:
    early = "2026-03-02T05:00:00Z"
    async with open_world(settings=house(), start=early, database=tmp_path / "yoked.db") as world:
        berlin = {"time_zone": "Europe/Berlin"}
        places = {"ana": "main", "eva": "jazz", "ben": "jazz", "carl": "rock"}
        for user_id, room in places.items():
            known = WOMAN if user_id in ("ana", "eva") else MAN
            await world.sign_up(user_id, **known, **berlin)
            await world.api(user_id).enter_room(room)
        # The server is down at nine.
        await trio.sleep(2 * 3600)
        await world.crash()
        await trio.sleep(2 * 3600)
        await world.start()
        for user_id, room in places.items():
            client = await world.connect(user_id, room=room)
            assert client.room == room
            offers = (await client.wait_for("offers")).offers
            others = {"ben", "carl"} if user_id in ("ana", "eva") else {"ana", "eva"}
            assert {one["candidate"]["user_id"] for one in offers} == others
        assert world.audit() == []


async def test_a_drain_waits_for_the_votes_of_every_room(autojump_clock: object) -> None:
    async with open_world(settings=house()) as world:
        ana, ben = await join_pair(world)
        await both_enter("jazz", ana, ben)
        match_id = await open_voting(ana, ben)
        world.server.drain()
        world.server.stop.set()
        await trio.sleep(1)
        await ana.vote(match_id, "yes")
        await ben.vote(match_id, "pass")
        assert (await ana.wait_for("outcome")).outcome == "yes_pass"
        await world.stopped()


async def test_a_user_who_knows_nothing_of_rooms_sees_none(autojump_clock: object) -> None:
    async with open_world(settings=house()) as world:
        ana, ben = await join_pair(world)
        match_id = await settle(ana, ben, ("yes", "yes"))
        assert match_id
        assert (ana.room, ben.room) == ("main", "main")
        assert world.server.live.rooms.owned() == {"main"}


async def test_a_reload_adds_and_removes_rooms(autojump_clock: object) -> None:
    async with open_world(settings=house(jazz={})) as world:
        ana, ben = await join_pair(world)
        await ana.enter_room("jazz")
        await ana.spin()
        settings = world.server.base.settings
        newer = load_settings(None, {}, {"rooms": {"rock": {"name": "Rock"}}})
        settings.rooms.clear()
        settings.rooms.update(newer.rooms)
        world.server.settings_changed()
        await trio.sleep(1)
        assert told(await news(ana))[-1] == ("idle", "room_closed")
        with pytest.raises(CommandRefused, match="unknown_room"):
            await ben.enter_room("jazz")
        await both_enter("rock", ana, ben)
        await match(ana, ben)
        # Nobody is left in the room that was removed.
        assert world.server.live.rooms.owned() == {"main", "rock"}
        exposed = world.server.base.metrics.expose()
        assert b'yoked_rounds_total{room="rock"}' in exposed
        assert b'room="jazz"' not in exposed


async def test_a_room_of_the_database_is_there_after_a_reload(autojump_clock: object) -> None:
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await world.server.base.store.rooms.put(DeclaredRoom("club", "{}", ("ana",)), "root", 1)
        await world.server.base.store.rooms.put(
            DeclaredRoom("broken", '{"capacity": -1}'), "root", 1
        )
        world.server.settings_changed()
        await trio.sleep(1)
        assert [one["room"] for one in await world.api("ana").rooms()] == ["main", "club"]
        await ana.enter_room("club")
        await world.api("ana").call("DELETE", "/api/me")
        assert (await world.server.base.store.rooms.all())[1].guests == ()
