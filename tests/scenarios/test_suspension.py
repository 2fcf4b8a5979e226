"""A suspended user takes no part in anything, and no other user learns why."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from tests.actors.test_matchmaker import locked
from tests.edge.test_http_admin import operator
from tests.edge.test_watch import next_status, watch
from tests.scenarios.full_mailbox import SMALL_MAILBOX, fill_mailbox
from tests.scenarios.meeting import (
    MAN,
    WOMAN,
    join_pair,
    match,
    news,
    open_voting,
    settle,
    state_of,
    told,
)
from tests.scenarios.talker import Talker
from tests.scenarios.test_mornings import BERLIN, MONDAY, SIX, offered, sets_of, until
from yoked_actor.actors.people import erase_job
from yoked_actor.client import CallRefused, Client, CommandRefused, Suspended
from yoked_actor.domain.lobby import Code
from yoked_actor.domain.people import Suspension
from yoked_actor.domain.time import after, to_datetime
from yoked_actor.testing import World, open_world
from yoked_actor.wire.contract.calls import CALLS
from yoked_actor.wire.contract.exchanges import EXCHANGES
from yoked_actor.wire.lobby import Hello, Watch
from yoked_actor.wire.problems import STATUS

OPEN_TO_THE_SUSPENDED = {("GET", "/api/me/export"), ("POST", "/api/appeal")}


async def suspend(world: World, user_id: str, until_s: float | None = None) -> Any:
    body: dict[str, Any] = {"reason": "rude to people"}
    if until_s is not None:
        body["until"] = to_datetime(after(world.now(), until_s)).isoformat()
    return await operator(world).call("POST", f"/api/admin/users/{user_id}/suspend", body)


async def restore(world: World, user_id: str) -> Any:
    return await operator(world).call("POST", f"/api/admin/users/{user_id}/unsuspend")


async def seen_by(world: World, user_id: str) -> list[str]:
    """Whom a user is offered, as the user sees it."""
    offers = (await world.api(user_id).offers())["offers"]
    return sorted(one["candidate"]["user_id"] for one in offers)


async def offer_of(world: World, user_id: str, candidate: str) -> str:
    offers = (await world.api(user_id).offers())["offers"]
    [found] = [one["offer_id"] for one in offers if one["candidate"]["user_id"] == candidate]
    return str(found)


async def town(world: World) -> None:
    for name in ("ana", "eva"):
        await world.sign_up(name, **WOMAN, time_zone=BERLIN)
    for name in ("ben", "carl"):
        await world.sign_up(name, **MAN, time_zone=BERLIN)


# Offers


async def test_a_suspended_user_neither_gets_offers_nor_is_offered(autojump_clock):
    async with open_world(start=SIX) as world:
        await town(world)
        await suspend(world, "ben")
        await until(world, "2026-03-02T08:00:01Z")
        sets = await sets_of(world, BERLIN, MONDAY)
        assert {user_id: offered(kept) for user_id, kept in sets.items()} == {
            "ana": ["carl"],
            "eva": ["carl"],
            "carl": offered(sets["carl"]),
        }


async def test_a_neighbour_from_another_zone_is_not_offered_either(autojump_clock):
    async with open_world(start=SIX) as world:
        await world.sign_up("ana", **WOMAN, time_zone=BERLIN)
        await world.sign_up("ben", **MAN, time_zone="Europe/Warsaw")
        await suspend(world, "ben")
        await until(world, "2026-03-02T08:00:01Z")
        assert offered((await sets_of(world, BERLIN, MONDAY))["ana"]) == []


async def test_a_user_suspended_after_the_offers_were_made_is_not_shown_or_answered(
    autojump_clock,
):
    async with open_world(start=SIX) as world:
        await town(world)
        await until(world, "2026-03-02T08:00:01Z")
        assert await seen_by(world, "ana") == ["ben", "carl"]
        offer_id = await offer_of(world, "ana", "ben")
        await world.api("ben").answer_offer(await offer_of(world, "ben", "ana"), "accept")
        await suspend(world, "ben")
        assert await seen_by(world, "ana") == ["carl"]
        with pytest.raises(CallRefused, match="404 not_found: you have no offer"):
            await world.api("ana").answer_offer(offer_id, "accept")
        await restore(world, "ben")
        assert await seen_by(world, "ana") == ["ben", "carl"]
        assert await seen_by(world, "ben") == ["ana", "eva"]
        # What each of them said before still counts.
        assert (await world.api("ana").answer_offer(offer_id, "accept"))["connection_id"]


async def test_a_frozen_set_is_delivered_without_a_suspended_user(autojump_clock):
    async with open_world(start=SIX) as world:
        await town(world)
        await until(world, "2026-03-02T08:00:01Z")
        # Nobody was connected, so nothing has been delivered yet.
        await suspend(world, "ben")
        ana = await world.connect("ana")
        pushed = await ana.wait_for("offers")
        assert [one["candidate"]["user_id"] for one in pushed.offers] == ["carl"]
        await restore(world, "ben")
        ben = await world.connect("ben")
        pushed = await ben.wait_for("offers")
        assert sorted(one["candidate"]["user_id"] for one in pushed.offers) == ["ana", "eva"]


async def test_a_suspension_that_ends_before_nine_keeps_nobody_from_offers(autojump_clock):
    async with open_world(start=SIX) as world:
        await town(world)
        await suspend(world, "ben", until_s=3 * 3600)  # until nine sharp
        await until(world, "2026-03-02T08:00:01Z")
        assert "ben" in await sets_of(world, BERLIN, MONDAY)
        assert await seen_by(world, "ana") == ["ben", "carl"]


# Connections


async def connect_two(world: World) -> str:
    await until(world, "2026-03-02T08:00:01Z")
    await world.api("ben").answer_offer(await offer_of(world, "ben", "ana"), "accept")
    answer = await world.api("ana").answer_offer(await offer_of(world, "ana", "ben"), "accept")
    return str(answer["connection_id"])


async def test_a_connection_with_a_suspended_user_is_not_shown_and_not_called(autojump_clock):
    async with open_world(start=SIX) as world:
        await town(world)
        connection_id = await connect_two(world)
        ana, ben = await world.connect("ana"), await world.connect("ben")
        await suspend(world, "ben")
        assert await world.api("ana").connections() == []
        with pytest.raises(CallRefused, match="404 not_found: you have no connection"):
            await world.api("ana").start_date(connection_id)
        with pytest.raises(CommandRefused, match="not_found: you have no connection"):
            await ana.command("start_date", connection_id=connection_id)
        with pytest.raises(Suspended):
            await ben.wait_for("date_started")
        await restore(world, "ben")
        [one] = await world.api("ana").connections()
        assert (one["connection_id"], one["online"]) == (connection_id, False)
        ben = await world.connect("ben")
        await ana.command("start_date", connection_id=connection_id)
        await ben.accept_call((await ben.wait_for("call")).call_id)
        await ben.wait_for("date_started")


# The live loop


async def nowhere(ben: Client, ana: Client) -> None:
    pass


async def waiting(ben: Client, ana: Client) -> None:
    await ben.spin()


async def matched(ben: Client, ana: Client) -> None:
    await match(ana, ben)


async def voting(ben: Client, ana: Client) -> None:
    await open_voting(ana, ben)


async def voted_against(ben: Client, ana: Client) -> None:
    match_id = await open_voting(ana, ben)
    await ana.vote(match_id, "yes")


async def on_a_date(ben: Client, ana: Client) -> None:
    await settle(ana, ben, ("yes", "yes"))
    await ana.wait_for("date_started")


PLACES = [
    (nowhere, []),
    (waiting, []),
    (matched, [("match_cancelled", "partner_left", "waiting"), ("waiting", "partner_left")]),
    (voting, [("match_cancelled", "partner_left", "waiting"), ("waiting", "partner_left")]),
    (voted_against, [("outcome", "yes_idle", "waiting"), ("waiting", "requeued")]),
    (on_a_date, [("date_ended", "partner_ended")]),
]


@pytest.mark.parametrize(("place", "expected"), PLACES)
async def test_a_suspended_user_in_any_state_leaves_and_the_partner_sees_a_leave(
    autojump_clock, place, expected
):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await place(ben, ana)
        await news(ana)
        await news(ben)
        await suspend(world, "ben", until_s=3600)
        assert told(await news(ana)) == expected
        [event] = await news(ben)
        assert (event.type, event.reason) == ("suspended", "rude to people")
        assert datetime.fromisoformat(event.until) == datetime.fromisoformat("2026-01-01T09:00:00Z")
        assert isinstance(ben.lost, Suspended)
        assert (ben.lost.code, ben.lost.reason) == (4003, "suspended: rude to people")
        assert (ben.lost.why, ben.lost.until) == ("rude to people", event.until)
        assert await state_of(world, "ben") == "idle"
        assert world.audit() == []
        await trio.sleep(300)
        assert world.audit() == []


@pytest.mark.parametrize(("place", "expected"), PLACES)
async def test_a_suspension_while_the_server_is_down_counts_when_it_is_back(
    autojump_clock, tmp_path: Path, place, expected
):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, ben = await join_pair(world)
        await place(ben, ana)
        # As if the process had died between storing the suspension and acting on it.
        await world.server.base.store.operators.suspend("ben", "root", "rude", world.now())
        await world.crash()
        await world.start()
        await ana.wait_for("welcome")
        assert world.server.live.lobby.floor.seats.rows.get("ben") is None or (
            await state_of(world, "ben") == "idle"
        )
        snapshot = await world.api("ana").call("GET", "/api/match/status")
        assert "match" not in snapshot
        assert "date" not in snapshot
        with pytest.raises(Suspended):
            await world.connect("ben")
        assert world.audit() == []


async def test_a_hello_of_a_suspended_user_gets_the_reason_and_the_end(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        await suspend(world, "ben", until_s=3600)
        with pytest.raises(Suspended) as caught:
            await world.connect("ben")
        lost = (caught.value.code, caught.value.reason)
        assert lost == (4003, "suspended: rude to people")
        assert caught.value.why == "rude to people"
        assert caught.value.until == "2026-01-01T09:00:00Z"
        await suspend(world, "ana")
        with pytest.raises(Suspended) as caught:
            await world.connect("ana")
        assert caught.value.until is None


@pytest.mark.parametrize("restart", [False, True])
async def test_a_suspension_ends_by_itself_at_its_instant(autojump_clock, tmp_path, restart):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, _ = await join_pair(world)
        await suspend(world, "ben", until_s=100)
        if restart:
            await world.crash()
            await world.start()
            await ana.wait_for("welcome")
        await trio.sleep((_instant("2026-01-01T08:01:39.999Z") - world.now()) / 1e6)
        answer = await world.api("ben").request("POST", "/api/spin")
        assert answer.status == 403
        await trio.sleep(0.001)
        ben = await world.connect("ben")
        await match(ana, ben)


def _instant(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1e6)


async def test_a_suspension_can_be_given_another_end(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        assert await suspend(world, "ben", until_s=100) == {"changed": True}
        assert await suspend(world, "ben", until_s=200) == {"changed": True}
        await trio.sleep(150)
        with pytest.raises(Suspended):
            await world.connect("ben")
        assert await suspend(world, "ben") == {"changed": True}
        assert await suspend(world, "ben") == {"changed": False}
        await trio.sleep(1000)
        with pytest.raises(Suspended):
            await world.connect("ben")


async def test_a_user_can_be_suspended_again_when_the_first_one_has_ended(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        await suspend(world, "ben", until_s=10)
        await trio.sleep(20)
        ben = await world.connect("ben")
        assert await restore(world, "ben") == {"changed": False}
        assert await suspend(world, "ben", until_s=10) == {"changed": True}
        with pytest.raises(Suspended):
            await ben.wait_for("welcome")


@pytest.mark.parametrize("text", ["2026-01-01T07:59:59Z", "2026-01-01T09:00:00", "soon"])
async def test_an_end_that_is_past_or_no_instant_is_refused(autojump_clock, text):
    async with open_world() as world:
        await join_pair(world)
        body = {"reason": "rude", "until": text}
        with pytest.raises(CallRefused, match=r"400 bad_request: .*until"):
            await operator(world).call("POST", "/api/admin/users/ben/suspend", body)


async def test_a_full_mailbox_does_not_keep_a_suspended_user_in(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=SMALL_MAILBOX) as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        await news(ana)
        await world.server.base.store.operators.suspend("ben", "root", "rude", world.now())
        async with trio.open_nursery() as nursery:
            with locked(database):
                await fill_mailbox(world, "carl")
                nursery.start_soon(world.server.people.enforcer.refresh)
                await trio.sleep(2)
                assert (told(await news(ana)), ben.lost) == ([], None)
        assert told(await news(ana)) == [
            ("match_cancelled", "partner_left", "waiting"),
            ("waiting", "partner_left"),
        ]
        assert isinstance(ben.lost, Suspended)


# Every door


def body_of(example: msgspec.Struct | None) -> Any:
    return None if example is None else msgspec.json.decode(msgspec.json.encode(example))


@pytest.mark.parametrize(
    "call", [call for call in CALLS if call.token], ids=lambda call: f"{call.method} {call.path}"
)
async def test_every_call_of_a_suspended_user_is_refused(autojump_clock, call):
    async with open_world() as world:
        await join_pair(world)
        await suspend(world, "ben", until_s=3600)
        api = world.api("ben")
        if call.is_admin:
            api.token = world.token("ben", admin=True)
        path = re.sub(r"{\w+}", "1", call.path)
        answer = await api.request(call.method, path, body_of(call.body))
        if (call.method, call.path) in OPEN_TO_THE_SUSPENDED:
            assert answer.status == call.status
            return
        assert answer.status == STATUS[Code.SUSPENDED] == 403
        problem = answer.json()
        assert problem["code"] == "suspended"
        assert (problem["reason"], problem["until"]) == ("rude to people", "2026-01-01T09:00:00Z")
        assert await state_of(world, "ben") == "idle"


async def test_a_suspended_user_who_is_no_operator_reads_that_they_are_suspended(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        await suspend(world, "ben")
        with pytest.raises(CallRefused, match="403 suspended") as caught:
            await world.api("ben").call("GET", "/api/admin/queue")
        assert caught.value.problem["until"] is None


@pytest.mark.parametrize(
    "exchange", EXCHANGES, ids=lambda exchange: type(exchange.command).__name__
)
async def test_every_command_of_a_suspended_user_changes_nothing(autojump_clock, exchange):
    """Also one that was on its way when the suspension was stored."""
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        command = msgspec.json.decode(msgspec.json.encode(exchange.command))
        if isinstance(exchange.command, Hello | Watch):
            command["token"] = world.token("ben", admin=True)
            command.pop("resume", None)
        sessions = world.server.live.sessions
        # The state in which the suspension is known and the socket not closed yet.
        ended = after(world.now(), 3600)
        sessions.suspensions.replace([Suspension("ben", world.now(), "root", "rude", ended)])
        fields = {name: value for name, value in command.items() if name not in ("type", "id")}
        with trio.move_on_after(5):
            await ben.command(command["type"], **fields)
            pytest.fail("a suspended user was answered")
        assert await state_of(world, "ben") == "idle"
        reports = await world.server.base.store.operators.reports(
            only_open=False, limit=10, now=world.now()
        )
        assert reports == []
        assert (await world.server.base.store.load_user("ben")).blocks == {}
        assert await state_of(world, "ana") == "waiting"


async def test_a_suspended_operator_watches_no_more(autojump_clock):
    async with open_world() as world:
        talker = await watch(world, "olga")
        await next_status(talker)
        await suspend(world, "olga")
        told = await talker.hear()
        assert (told["type"], told["reason"], told["until"]) == (
            "suspended",
            "rude to people",
            None,
        )
        assert (await talker.hung_up()).code == 4003
        talker = await Talker.dial(world)
        await talker.say({"type": "watch", "id": "w", "token": world.token("olga", admin=True)})
        assert (await talker.hear())["code"] == "suspended"


async def test_an_operator_cannot_suspend_themselves(autojump_clock):
    async with open_world() as world:
        with pytest.raises(CallRefused, match="400 bad_request: you cannot suspend yourself"):
            await suspend(world, "root")
        assert await operator(world).call("GET", "/api/admin/queue")


async def test_the_erasure_of_a_suspended_user_ends_the_suspension(autojump_clock, tmp_path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        await join_pair(world)
        await suspend(world, "ben")
        await world.server.base.dispatcher.enqueue([erase_job("ben", "deployer", world.now())])
        await trio.sleep(1)
        ben = await world.join("ben", **MAN)
        assert ben.snapshot == {"state": "idle", "credit": 0, "room": "main"}
