"""Scenario 3: the six outcomes of a vote, and the seventh ending, the cancelled match."""

from __future__ import annotations

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
    status,
    told,
)
from tests.scenarios.talker import Talker
from yoked_actor.client import CommandRefused
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.testing import open_world


def iso(at: Instant) -> str:
    return to_datetime(at).isoformat().replace("+00:00", "Z")


OUTCOMES = [
    # ana's vote, ben's vote, outcome, then for each: next, credit, why idle
    ("yes", "yes", "both_yes", ("idle", 0, "date"), ("idle", 0, "date")),
    ("yes", "pass", "yes_pass", ("waiting", 10, None), ("waiting", 0, None)),
    ("pass", "yes", "yes_pass", ("waiting", 0, None), ("waiting", 10, None)),
    ("pass", "pass", "pass_pass", ("waiting", 0, None), ("waiting", 0, None)),
    ("yes", None, "yes_idle", ("waiting", 10, None), ("idle", 0, "idle_vote")),
    (None, "yes", "yes_idle", ("idle", 0, "idle_vote"), ("waiting", 10, None)),
    ("pass", None, "pass_idle", ("waiting", 0, None), ("idle", 0, "idle_vote")),
    (None, "pass", "pass_idle", ("idle", 0, "idle_vote"), ("waiting", 0, None)),
    (None, None, "idle_idle", ("idle", 0, "idle_vote"), ("idle", 0, "idle_vote")),
]


@pytest.mark.parametrize(("hers", "his", "outcome", "for_her", "for_him"), OUTCOMES)
async def test_every_outcome_changes_credits_and_is_sent_to_both(
    autojump_clock, hers, his, outcome, for_her, for_him
):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await trio.sleep(30)
        match_id = await open_voting(ana, ben)
        opened_at = world.now()
        await trio.sleep(1)
        for client, vote in ((ana, hers), (ben, his)):
            if vote is not None:
                await client.vote(match_id, vote)
        if hers is None or his is None:
            await trio.sleep(8.9)
            assert await news(ana) == await news(ben) == []
            await trio.sleep(0.1)
            decided_at = opened_at + 10_000_000
        else:
            decided_at = opened_at + 1_000_000
        for client, user_id, (state, credit, why_idle) in (
            (ana, "ana", for_her),
            (ben, "ben", for_him),
        ):
            first, second, *more = await news(client)
            assert first.type == "outcome"
            assert (first.match_id, first.outcome) == (match_id, outcome)
            assert (first.next, first.credit, first.at) == (state, credit, iso(decided_at))
            if state == "waiting":
                assert (second.type, second.reason) == ("waiting", "requeued")
                # A fresh place: the thirty seconds before the match no longer count.
                assert second.since == iso(decided_at)
            else:
                assert (second.type, second.reason) == ("idle", why_idle)
            assert [event.type for event in more] == (
                ["date_started"] if outcome == "both_yes" else []
            )
            snapshot = await status(world, user_id)
            assert (snapshot["state"], snapshot["credit"]) == (state, credit)
            assert snapshot["last_outcome"] == outcome
            assert "match" not in snapshot
            assert ("date" in snapshot) == (outcome == "both_yes")
        assert world.audit() == []


async def test_the_reply_to_a_vote_comes_before_what_it_causes(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        (ana, _), (ben, _) = await Talker.greet(world, "ana"), await Talker.greet(world, "ben")
        assert (await ana.ask("spin"))["state"] == "waiting"
        assert (await ana.hear())["type"] == "waiting"

        spun = await ben.ask("spin")
        matched = await ben.hear()
        assert (spun["type"], spun["state"], spun["match_id"]) == ("ok", "matched", "m1")
        # Paired in the same step, so there is no `waiting` in between.
        assert (matched["type"], matched["seq"], matched["match_id"]) == ("matched", 1, "m1")

        first = await ana.hear()
        assert (first["type"], first["seq"]) == ("matched", 2)
        assert "vote_by" not in await ana.ask("acknowledge", match_id="m1")
        opened = await ben.ask("acknowledge", match_id="m1")
        voting = await ben.hear()
        assert (voting["type"], voting["seq"]) == ("voting", 2)
        assert opened["vote_by"] == voting["vote_by"] == (await ana.hear())["vote_by"]

        assert "outcome" not in await ana.ask("vote", match_id="m1", vote="yes")
        voted = await ben.ask("vote", match_id="m1", vote="pass")
        assert voted["outcome"] == "yes_pass"
        assert [m["type"] for m in await ben.news()] == ["outcome", "waiting"]
        assert [m["type"] for m in await ana.news()] == ["outcome", "waiting"]


async def test_two_yeses_open_a_date_with_one_initiator(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "yes"))
        hers, his = await ana.wait_for("date_started"), await ben.wait_for("date_started")
        assert hers.date_id == his.date_id
        assert {hers.initiator, his.initiator} == {True, False}
        assert (hers.partner["user_id"], his.partner["user_id"]) == ("ben", "ana")
        assert hers.ends_at == iso(world.now() + 300_000_000)
        assert isinstance(hers.ice_servers, list)
        with pytest.raises(CommandRefused) as refusal:
            await ana.spin()
        assert refusal.value.code == "on_a_date"

        assert (await ana.end_date(hers.date_id)).type == "ok"
        assert told(await news(ana)) == [("date_ended", "ended")]
        assert told(await news(ben)) == [("date_ended", "partner_ended")]
        assert (await ana.spin()).state == "waiting"
        assert (await ben.spin()).state == "waiting"


async def test_a_date_ends_when_its_time_is_up(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "yes"))
        await ana.wait_for("date_started")
        await trio.sleep(299.9)
        assert await news(ana) == []
        await trio.sleep(0.1)
        assert told(await news(ana)) == [("date_ended", "time_up")]
        assert told(await news(ben)) == [
            ("idle", "date"),
            ("date_started",),
            ("date_ended", "time_up"),
        ]


async def test_credit_adds_up_to_fifty_and_two_yeses_spend_it(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        credits = []
        for n in range(6):
            he = await world.join(f"ben{n}", **MAN)
            await settle(ana, he, ("yes", "pass"))
            await he.leave()
            credits.append((await status(world, "ana"))["credit"])
        assert credits == [10, 20, 30, 40, 50, 50]
        last = await world.join("carl", **MAN)
        await settle(ana, last, ("yes", "yes"))
        assert (await status(world, "ana"))["credit"] == 0


async def test_a_user_who_passes_keeps_the_credit(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        for vote, expected in (("yes", 10), ("pass", 10)):
            he = await world.join(f"he-who-gets-{vote}", **MAN)
            await settle(ana, he, (vote, "pass"))
            await he.leave()
            assert (await status(world, "ana"))["credit"] == expected


async def test_votes_are_sealed_and_the_first_is_final(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        assert "outcome" not in (await ana.vote(match_id, "yes")).fields
        assert await news(ben) == []
        his = (await status(world, "ben"))["match"]
        assert (his["voted"], his["acknowledged"]) == (False, True)
        assert (await status(world, "ana"))["match"]["voted"] is True

        assert (await ana.vote(match_id, "yes")).type == "ok"
        with pytest.raises(CommandRefused) as refusal:
            await ana.vote(match_id, "pass")
        assert refusal.value.code == "already_voted"
        assert (await ben.vote(match_id, "pass")).outcome == "yes_pass"
        # The same vote again, after the outcome, is the same vote.
        assert (await ana.vote(match_id, "yes")).outcome == "yes_pass"
        with pytest.raises(CommandRefused) as refusal:
            await ana.vote(match_id, "pass")
        assert refusal.value.code == "already_voted"


async def test_a_late_vote_is_refused_and_changes_nothing(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await trio.sleep(10)
        await ana.wait_for("outcome")
        with pytest.raises(CommandRefused) as refusal:
            await ana.vote(match_id, "yes")
        assert refusal.value.code == "vote_closed"
        assert (await status(world, "ana"))["last_outcome"] == "idle_idle"


async def test_a_vote_before_both_have_acknowledged_is_out_of_place(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        await ana.acknowledge(match_id)
        with pytest.raises(CommandRefused) as refusal:
            await ana.vote(match_id, "yes")
        assert refusal.value.code == "wrong_state"


# The seventh ending


async def test_a_user_who_does_not_acknowledge_is_idle_and_the_other_keeps_the_old_place(
    autojump_clock,
):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        await trio.sleep(20)
        await ben.spin()
        match_id = (await ana.wait_for("matched")).match_id
        await ana.acknowledge(match_id)
        await trio.sleep(4.9)
        assert await news(ana) == []
        await trio.sleep(0.1)
        cancelled, waiting = await news(ana)
        assert told([cancelled]) == [("match_cancelled", "not_acknowledged", "waiting")]
        assert (waiting.type, waiting.reason, waiting.since) == (
            "waiting",
            "not_acknowledged",
            since,
        )
        assert told(await news(ben)) == [
            ("nudge",),
            ("matched",),
            ("match_cancelled", "not_acknowledged", "idle"),
            ("idle", "not_acknowledged"),
        ]
        for client in (ana, ben):
            with pytest.raises(CommandRefused) as refusal:
                await client.acknowledge(match_id)
            assert refusal.value.code == "unknown_match"


async def test_nobody_acknowledges_and_both_are_idle(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        await trio.sleep(5)
        for client in (ana, ben):
            assert told(await news(client)) == [
                ("match_cancelled", "not_acknowledged", "idle"),
                ("idle", "not_acknowledged"),
            ]


async def test_a_user_who_leaves_a_match_is_idle_and_the_partner_keeps_the_old_place(
    autojump_clock,
):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        await trio.sleep(20)
        await ben.spin()
        await ana.wait_for("matched")
        await ben.wait_for("matched")
        assert (await ben.leave()).state == "idle"
        assert told(await news(ben)) == [("match_cancelled", "you_left", "idle"), ("idle", "left")]
        cancelled, waiting = await news(ana)
        assert told([cancelled]) == [("match_cancelled", "partner_left", "waiting")]
        assert (waiting.reason, waiting.since) == ("partner_left", since)


async def test_a_user_who_leaves_a_vote_counts_as_idle_when_the_other_has_voted(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.vote(match_id, "yes")
        await ben.leave()
        assert told(await news(ana)) == [
            ("outcome", "yes_idle", "waiting"),
            ("waiting", "requeued"),
        ]
        assert told(await news(ben)) == [
            ("outcome", "you_left", "yes_idle", "idle"),
            ("idle", "left"),
        ]
        assert (await status(world, "ana"))["credit"] == 10


async def test_a_vote_is_void_when_its_user_leaves(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        await trio.sleep(3)
        match_id = await open_voting(ana, ben)
        await ben.vote(match_id, "yes")
        await ben.leave()
        cancelled, waiting = await news(ana)
        assert told([cancelled]) == [("match_cancelled", "partner_left", "waiting")]
        assert (waiting.reason, waiting.since) == ("partner_left", since)
        with pytest.raises(CommandRefused) as refusal:
            await ana.vote(match_id, "yes")
        assert refusal.value.code == "vote_closed"


async def test_a_spin_during_a_vote_is_a_pass_and_starts_a_new_wait(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.vote(match_id, "yes")
        await trio.sleep(2)
        assert (await ben.spin()).state == "waiting"
        assert told(await news(ana)) == [
            ("outcome", "yes_pass", "waiting"),
            ("waiting", "requeued"),
        ]
        ended, waiting = await news(ben)
        assert told([ended]) == [("outcome", "you_left", "yes_pass", "waiting")]
        assert told([waiting]) == [("waiting", "spun")]
        assert waiting.since == iso(world.now())


async def test_a_second_press_before_acknowledging_is_answered_with_the_match(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        again = await ana.spin()
        assert (again.state, again.match_id) == ("matched", match_id)
        assert await news(ana) == await news(ben) == []


async def test_a_block_in_a_match_sends_both_back_and_hides_who_did_it(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        assert (await ana.block("ben")).type == "ok"
        hers, his = await news(ana), await news(ben)
        assert told(hers) == [("match_cancelled", "blocked", "waiting"), ("waiting", "requeued")]
        assert told(his) == [
            ("match_cancelled", "partner_left", "waiting"),
            ("waiting", "partner_left"),
        ]
        assert hers[0].match_id == his[0].match_id == match_id
        assert world.audit() == []
