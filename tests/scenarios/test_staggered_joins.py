"""Scenario 1: people join one after the other."""

from __future__ import annotations

import trio

from yoked_actor.testing import open_world


async def test_two_compatible_users_are_paired_at_once_and_the_third_waits(autojump_clock):
    async with open_world(seed=1) as world:
        ana = await world.join("ana", gender="woman", seeking=["man"])
        ben = await world.join("ben", gender="man", seeking=["woman"])
        carl = await world.join("carl", gender="man", seeking=["woman"])

        assert (await ana.spin()).state == "waiting"
        assert (await ana.wait_for("waiting")).reason == "spun"
        await trio.sleep(1)
        spun = await ben.spin()
        assert spun.state == "matched"
        matched = await ana.wait_for("matched")
        assert matched.match_id == spun.match_id
        assert matched.partner["user_id"] == "ben"
        assert (await ben.wait_for("matched")).partner["user_id"] == "ana"

        await trio.sleep(3)
        assert (await carl.spin()).state == "waiting"
        await trio.sleep(20)
        # His limits open, and still there is nobody but those who are with each other.
        told = [(event.type, event.fields.get("tier")) for event in carl.pending_events()]
        assert told == [("waiting", None), ("tier", 2), ("tier", 99)]
        assert (await world.api("carl").call("GET", "/api/match/status"))["state"] == "waiting"
