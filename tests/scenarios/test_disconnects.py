"""Scenario 4: users disconnect while they wait, are matched, or vote; some return."""

from __future__ import annotations

from contextlib import suppress

import pytest
import trio

from tests.scenarios.meeting import (
    MAN,
    WOMAN,
    join_pair,
    match,
    news,
    open_voting,
    settle,
    state_of,
    status,
    told,
)
from yoked_actor.client import CallRefused
from yoked_actor.testing import open_world

# While waiting


async def test_a_user_who_disconnects_while_waiting_is_not_paired_and_is_lost_after_ten_seconds(
    autojump_clock,
):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await ana.drop(stay_away=True)
        await trio.sleep(1)
        # Gone from the pool at once, though not yet lost.
        assert (await ben.spin()).state == "waiting"
        await trio.sleep(8.9)
        assert await state_of(world, "ana") == "waiting"
        await trio.sleep(0.1)
        assert await state_of(world, "ana") == "idle"
        await ana.come_back()
        assert ana.resumed
        assert ana.snapshot["state"] == "idle"
        assert told(await news(ana)) == [
            ("waiting", "spun"),
            ("tier", 2),
            ("tier", 99),
            ("idle", "lost"),
        ]
        assert told(await news(ben)) == [("waiting", "spun"), ("tier", 2)]
        assert world.audit() == []


async def test_a_user_who_returns_in_time_keeps_the_place_and_is_paired_at_once(
    autojump_clock,
):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        await ana.drop(stay_away=True)
        await trio.sleep(5)
        await ben.spin()
        await trio.sleep(4.5)
        came_back_at = world.now()
        await ana.come_back()
        assert world.now() == came_back_at
        assert ana.resumed
        assert ana.snapshot["state"] == "matched"
        assert ana.snapshot["match"]["partner"]["user_id"] == "ben"
        assert told(await news(ana)) == [("tier", 2), ("matched",)]
        await ben.wait_for("matched")
        await ben.leave()
        assert (await ana.wait_for("waiting")).since == since


async def test_a_user_who_returns_to_an_empty_lobby_is_notified_of_the_old_place(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        await ana.drop(stay_away=True)
        await trio.sleep(9)
        await ana.come_back()
        tier, waiting = await news(ana)
        assert (tier.type, tier.tier) == ("tier", 2)
        assert (waiting.type, waiting.reason, waiting.since) == ("waiting", "resumed", since)
        assert (ana.snapshot["waiting_since"], ana.snapshot["tier"]) == (since, 2)


async def test_a_user_can_return_by_an_http_call(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await ana.drop(stay_away=True)
        await ben.spin()
        await trio.sleep(5)
        assert (await status(world, "ana"))["match"]["partner"]["user_id"] == "ben"
        await ben.wait_for("matched")


async def test_heartbeats_keep_a_user_in_line(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await trio.sleep(600)
        assert await state_of(world, "ana") == "waiting"
        ana.beating = False
        await trio.sleep(10)
        assert told(await news(ana)) == [
            ("waiting", "spun"),
            ("tier", 2),
            ("tier", 99),
            ("idle", "lost"),
        ]


# At the match


async def test_a_user_who_disconnects_when_matched_sends_the_partner_back_to_the_old_place(
    autojump_clock,
):
    async with open_world(settings={"matching": {"acknowledge_window_s": 60.0}}) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        await trio.sleep(20)
        match_id = await match(ana, ben)
        await ben.drop(stay_away=True)
        await trio.sleep(9.9)
        assert await news(ana) == []
        await trio.sleep(0.1)
        cancelled, waiting = await news(ana)
        assert told([cancelled]) == [("match_cancelled", "partner_lost", "waiting")]
        assert cancelled.match_id == match_id
        assert (waiting.reason, waiting.since) == ("partner_lost", since)
        await ben.come_back()
        assert told(await news(ben)) == [("idle", "lost")]


async def test_with_the_usual_windows_a_vanished_partner_has_simply_not_acknowledged(
    autojump_clock,
):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        await ana.acknowledge(match_id)
        await ben.drop(stay_away=True)
        await trio.sleep(5)
        assert told(await news(ana)) == [
            ("match_cancelled", "not_acknowledged", "waiting"),
            ("waiting", "not_acknowledged"),
        ]
        await ben.come_back()
        assert ben.snapshot["state"] == "idle"


async def test_a_user_who_returns_to_a_match_can_still_acknowledge_it(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        await ana.acknowledge(match_id)
        await ben.drop(stay_away=True)
        await trio.sleep(4)
        await ben.come_back()
        assert ben.resumed
        seen = ben.snapshot["match"]
        assert (seen["match_id"], seen["acknowledged"]) == (match_id, False)
        assert (await ben.acknowledge(match_id)).type == "ok"
        assert (await ana.wait_for("voting")).match_id == match_id


# During the vote


async def test_a_user_who_disconnects_during_the_vote_counts_as_idle(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.vote(match_id, "yes")
        await ben.drop(stay_away=True)
        await trio.sleep(10)
        assert told(await news(ana)) == [
            ("outcome", "yes_idle", "waiting"),
            ("waiting", "requeued"),
        ]
        await ben.come_back()
        assert ben.snapshot["state"] == "idle"
        assert ben.snapshot["last_outcome"] == "yes_idle"


async def test_a_match_is_cancelled_when_a_user_is_lost_before_the_partner_votes(
    autojump_clock,
):
    async with open_world(settings={"matching": {"vote_window_s": 30.0}}) as world:
        ana, ben = await join_pair(world)
        await open_voting(ana, ben)
        await ben.drop(stay_away=True)
        await trio.sleep(10)
        assert told(await news(ana)) == [
            ("match_cancelled", "partner_lost", "waiting"),
            ("waiting", "partner_lost"),
        ]


async def test_the_vote_of_a_lost_user_is_void(
    autojump_clock,
):
    async with open_world(settings={"matching": {"vote_window_s": 30.0}}) as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ben.vote(match_id, "yes")
        await ben.drop(stay_away=True)
        await trio.sleep(10)
        # The vote of the one who is lost is void, and the partner gave none.
        assert told(await news(ana)) == [
            ("match_cancelled", "partner_lost", "waiting"),
            ("waiting", "partner_lost"),
        ]
        await ben.come_back()
        assert told(await news(ben)) == [("idle", "lost")]


async def test_a_user_who_returns_to_a_vote_gets_missed_events_and_can_vote(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        await ben.acknowledge(match_id)
        await ben.drop(stay_away=True)
        await ana.acknowledge(match_id)
        await ana.vote(match_id, "yes")
        await trio.sleep(8)
        await ben.come_back()
        assert ben.resumed
        assert (ben.snapshot["state"], ben.snapshot["match"]["voted"]) == ("voting", False)
        assert told(await news(ben)) == [("voting",)]
        assert (await ben.vote(match_id, "yes")).outcome == "both_yes"


async def test_a_missed_outcome_is_sent_on_return(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ben.vote(match_id, "pass")
        await ben.drop(stay_away=True)
        await ana.vote(match_id, "pass")
        await trio.sleep(3)
        await ben.come_back()
        assert told(await news(ben)) == [
            ("outcome", "pass_pass", "waiting"),
            ("waiting", "requeued"),
            ("tier", 2),
            ("waiting", "resumed"),
        ]


# On a date


async def test_a_date_survives_a_short_absence_and_ends_after_a_long_one(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "yes"))
        date_id = (await ana.wait_for("date_started")).date_id
        await ben.wait_for("date_started")
        await ben.drop(stay_away=True)
        await trio.sleep(30)
        await ben.come_back()
        assert ben.snapshot["date"]["date_id"] == date_id
        await trio.sleep(30)
        assert await news(ana) == []
        await ben.drop(stay_away=True)
        await trio.sleep(61)
        assert told(await news(ana)) == [("date_ended", "partner_lost")]


# Without a socket


async def test_a_client_without_a_socket_is_lost_after_ten_seconds_of_silence(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana = world.api("ana")
        assert (await ana.call("POST", "/api/spin"))["state"] == "waiting"
        for _ in range(10):
            await trio.sleep(9)
            await ana.call("POST", "/api/heartbeat")
        assert await state_of(world, "ana") == "waiting"
        await trio.sleep(9.99)
        assert await state_of(world, "ana") == "waiting"
        await trio.sleep(0.01)
        assert await state_of(world, "ana") == "idle"
        assert (await ana.call("GET", "/api/match/status"))["state"] == "idle"


async def test_a_partner_without_a_socket_who_falls_silent_is_lost_too(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        ben = world.api("ben")
        await ana.spin()
        match_id = (await ben.call("POST", "/api/spin"))["match_id"]
        await ana.acknowledge(match_id)
        answer = await ben.call("POST", "/api/match/acknowledge", {"match_id": match_id})
        assert answer["state"] == "voting"
        await ana.vote(match_id, "yes")
        await trio.sleep(10)
        assert (await ana.wait_for("outcome")).outcome == "yes_idle"
        with pytest.raises(CallRefused) as refusal:
            await ben.call("POST", "/api/vote", {"match_id": match_id, "vote": "yes"})
        assert (refusal.value.status, refusal.value.code) == (409, "vote_closed")


async def test_a_lost_caller_who_calls_again_is_back_but_has_no_place(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana = world.api("ana")
        await ana.call("POST", "/api/spin")
        await trio.sleep(10)
        ben = await world.join("ben", **MAN)
        assert (await ben.spin()).state == "waiting"
        await ana.call("POST", "/api/heartbeat")
        assert told(await news(ben)) == [("waiting", "spun")]
        assert (await ana.call("POST", "/api/spin"))["matched"] is True


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/rooms", None),
        ("POST", "/api/rooms/main/enter", {}),
        ("POST", "/api/rooms/attic/enter", {}),
        ("GET", "/api/places?search=", None),
        ("POST", "/api/places/near", {"lat": 91}),
        ("GET", "/api/warnings", None),
        ("POST", "/api/warnings/w1/seen", None),
        ("GET", "/api/me/export", None),
        ("POST", "/api/appeal", {"text": "I was polite."}),
    ],
)
async def test_every_http_call_is_a_sign_of_life_even_a_refused_one(
    autojump_clock, method, path, body
):
    async with open_world() as world:
        ana = await world.sign_up("ana", **WOMAN)
        await ana.call("POST", "/api/spin")
        for _ in range(3):
            await trio.sleep(6)
            with suppress(CallRefused):
                await ana.call(method, path, body)
        assert (await ana.call("GET", "/api/match/status"))["state"] == "waiting"
        assert world.audit() == []
