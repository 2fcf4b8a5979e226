"""What a client does over HTTP, call by call and refusal by refusal."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match, settle
from yoked_actor.client import Api, CallRefused
from yoked_actor.testing import make_profile, open_world

URL = "http://world.test"


async def refusal(api: Api, method: str, path: str, body: Any = None) -> tuple[int, str]:
    """The problem a call is answered with, checked for its form."""
    answer = await api.request(method, path, body)
    assert answer.headers["content-type"] == "application/problem+json", answer
    problem = answer.json()
    assert problem["status"] == answer.status
    assert isinstance(problem["title"], str)
    assert isinstance(problem["detail"], str)
    return answer.status, problem["code"]


CALLS = [
    ("PUT", "/api/profile"),
    ("GET", "/api/profile"),
    ("POST", "/api/spin"),
    ("POST", "/api/leave"),
    ("GET", "/api/match/status"),
    ("POST", "/api/match/acknowledge"),
    ("POST", "/api/vote"),
    ("POST", "/api/heartbeat"),
    ("POST", "/api/blocks"),
    ("GET", "/api/blocks"),
    ("DELETE", "/api/blocks/ben"),
    ("POST", "/api/reports"),
]


# Who calls


@pytest.mark.parametrize(("method", "path"), CALLS)
async def test_every_call_wants_a_token(autojump_clock, method, path):
    async with open_world() as world:
        stranger = Api(URL, dial=world.dial())
        assert await refusal(stranger, method, path) == (401, "unauthorized")
        answer = await stranger.request(method, path)
        assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_bad_or_expired_token_opens_nothing(autojump_clock):
    async with open_world() as world:
        for token in ("nonsense", world.token("ana", ttl_s=0)):
            caller = Api(URL, token, dial=world.dial())
            assert await refusal(caller, "GET", "/api/match/status") == (401, "unauthorized")
        brief = Api(URL, world.token("ana", ttl_s=10), dial=world.dial())
        await brief.call("GET", "/api/match/status")
        await trio.sleep(10)
        assert await refusal(brief, "GET", "/api/match/status") == (401, "unauthorized")


# Profiles


async def test_a_profile_is_read_as_it_was_written(autojump_clock):
    async with open_world() as world:
        ana = world.api("ana")
        assert await refusal(ana, "GET", "/api/profile") == (404, "not_found")
        profile = make_profile("Ana", interests=["climbing", "jazz"], min_age=24, max_age=36)
        assert await ana.call("PUT", "/api/profile", profile) == profile
        assert await ana.call("GET", "/api/profile") == profile
        changed = profile | {"display_name": "Änne"}
        await ana.call("PUT", "/api/profile", changed)
        assert await ana.call("GET", "/api/profile") == changed


async def test_what_is_answered_is_what_was_stored(autojump_clock):
    async with open_world() as world:
        ana = world.api("ana")
        untidy = make_profile("  Ana ", interests=["jazz", "jazz"], seeking=["woman", "man"])
        stored = await ana.call("PUT", "/api/profile", untidy)
        assert (stored["display_name"], stored["interests"]) == ("Ana", ["jazz"])
        assert await ana.call("GET", "/api/profile") == stored


PREFERENCES = make_profile()["preferences"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"birth_date": "2008-01-02"}, (422, "underage")),
        ({"birth_date": "2026-01-02"}, (400, "bad_request")),
        ({"birth_date": "1870-01-01"}, (400, "bad_request")),
        ({"birth_date": "yesterday"}, (400, "bad_request")),
        ({"gender": "robot"}, (400, "bad_request")),
        ({"display_name": ""}, (400, "bad_request")),
        ({"display_name": "   "}, (400, "bad_request")),
        ({"display_name": None}, (400, "bad_request")),
        ({"location": {"lat": 91, "lon": 0}}, (400, "bad_request")),
        ({"location": {"lat": 0, "lon": -181}}, (400, "bad_request")),
        ({"location": {"lat": "north", "lon": 0}}, (400, "bad_request")),
        ({"location": {}}, (400, "bad_request")),
        ({"time_zone": "Mars/Olympus"}, (400, "bad_request")),
        ({"time_zone": "localtime"}, (400, "bad_request")),  # of the system, not of the package
        ({"interests": [f"tag{n}" for n in range(33)]}, (400, "bad_request")),
        ({"interests": "jazz"}, (400, "bad_request")),
        ({"preferences": PREFERENCES | {"seeking": []}}, (400, "bad_request")),
        ({"preferences": PREFERENCES | {"seeking": ["robot"]}}, (400, "bad_request")),
        ({"preferences": PREFERENCES | {"min_age": 17}}, (400, "bad_request")),
        ({"preferences": PREFERENCES | {"min_age": 40, "max_age": 39}}, (400, "bad_request")),
        ({"preferences": PREFERENCES | {"max_distance_km": 0}}, (400, "bad_request")),
        ({"preferences": PREFERENCES | {"strict": ["height"]}}, (400, "bad_request")),
        ({"preferences": PREFERENCES | {"strict": ["age", "age"]}}, (400, "bad_request")),
        ({"preferences": PREFERENCES | {"strict": "age"}}, (400, "bad_request")),
        ({"preferences": PREFERENCES | {"strict": None}}, (400, "bad_request")),
        ({"preferences": {}}, (400, "bad_request")),
    ],
)
async def test_a_profile_that_cannot_be_is_refused_and_changes_nothing(
    autojump_clock, change, expected
):
    async with open_world() as world:
        ana = await world.sign_up("ana")
        before = await ana.call("GET", "/api/profile")
        assert await refusal(ana, "PUT", "/api/profile", make_profile() | change) == expected
        assert await ana.call("GET", "/api/profile") == before


async def test_on_the_eighteenth_birthday_one_may_come_in(autojump_clock):
    async with open_world() as world:
        await world.api("ana").call("PUT", "/api/profile", make_profile(birth_date="2008-01-01"))


async def test_a_partner_sees_a_card_and_never_a_position_or_birth_date(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN, interests=["jazz"], lat=52.52, lon=13.40)
        await world.sign_up("ben", **MAN, lat=52.40, lon=13.05)
        await world.api("ana").call("POST", "/api/spin")
        await world.api("ben").call("POST", "/api/spin")
        snapshot = await world.api("ben").call("GET", "/api/match/status")
        card = snapshot["match"]["partner"]
        km = card.pop("distance_km")
        assert card == {
            "user_id": "ana",
            "display_name": "Ana",
            "age": 27,
            "gender": "woman",
            "interests": ["jazz"],
        }
        assert km in (25, 50)  # 27.2 km, between shown places


async def test_a_new_profile_counts_at_once(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await world.api("ben").call("PUT", "/api/profile", make_profile("Ben", gender="woman"))
        assert (await ben.spin()).state == "waiting"
        await world.api("ben").call(
            "PUT", "/api/profile", make_profile("Ben", gender="man", seeking=["woman"])
        )
        assert (await ben.wait_for("matched")).partner["user_id"] == "ana"


# Spin, acknowledge, vote


async def test_two_who_only_call_meet_and_vote(autojump_clock):
    async with open_world() as world:
        ana, ben = await world.sign_up("ana", **WOMAN), await world.sign_up("ben", **MAN)
        assert await ana.call("POST", "/api/spin") == {
            "success": True,
            "state": "waiting",
            "matched": False,
        }
        spun = await ben.call("POST", "/api/spin")
        match_id = spun["match_id"]
        assert spun == {"success": True, "state": "matched", "matched": True, "match_id": match_id}
        snapshot = await ana.call("GET", "/api/match/status")
        assert (snapshot["state"], snapshot["match"]["match_id"]) == ("matched", match_id)
        assert snapshot["match"]["acknowledge_by"] == "2026-01-01T08:00:05Z"
        assert (snapshot["match"]["acknowledged"], snapshot["match"]["voted"]) == (False, False)

        body = {"match_id": match_id}
        assert await ana.call("POST", "/api/match/acknowledge", body) == {"state": "matched"}
        opened = await ben.call("POST", "/api/match/acknowledge", body)
        assert opened == {"state": "voting", "vote_by": "2026-01-01T08:00:10Z"}
        again = await ana.call("POST", "/api/match/acknowledge", body)
        assert again == opened

        voted = await ana.call("POST", "/api/vote", body | {"vote": "yes"})
        assert voted == {"outcome": None, "waiting_for_partner": True}
        assert (await ana.call("GET", "/api/match/status"))["match"]["voted"] is True
        voted = await ben.call("POST", "/api/vote", body | {"vote": "yes"})
        assert voted == {"outcome": "both_yes", "waiting_for_partner": False}
        snapshot = await ana.call("GET", "/api/match/status")
        assert (snapshot["state"], snapshot["last_outcome"]) == ("idle", "both_yes")
        assert set(snapshot["date"]) == {
            "date_id",
            "partner",
            "initiator",
            "ends_at",
            "ice_servers",
        }


async def test_a_caller_and_a_socket_meet_as_equals(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        ben = await world.sign_up("ben", **MAN)
        await ana.spin()
        match_id = (await ben.call("POST", "/api/spin"))["match_id"]
        await ana.acknowledge(match_id)
        await ben.call("POST", "/api/match/acknowledge", {"match_id": match_id})
        await ben.call("POST", "/api/vote", {"match_id": match_id, "vote": "pass"})
        assert (await ana.vote(match_id, "yes")).outcome == "yes_pass"
        assert (await ben.call("GET", "/api/match/status"))["state"] == "waiting"


async def test_a_spin_again_is_the_same_place(autojump_clock):
    async with open_world() as world:
        ana = await world.sign_up("ana", **WOMAN)
        await ana.call("POST", "/api/spin")
        since = (await ana.call("GET", "/api/match/status"))["waiting_since"]
        await trio.sleep(5)
        assert (await ana.call("POST", "/api/spin"))["state"] == "waiting"
        assert (await ana.call("GET", "/api/match/status"))["waiting_since"] == since


async def test_leaving_is_for_those_who_are_in_line(autojump_clock):
    async with open_world() as world:
        ana = await world.sign_up("ana", **WOMAN)
        assert await refusal(ana, "POST", "/api/leave") == (409, "wrong_state")
        await ana.call("POST", "/api/spin")
        assert await ana.call("POST", "/api/leave") == {"state": "idle"}


async def test_a_heartbeat_tells_the_time(autojump_clock):
    async with open_world() as world:
        ana = await world.sign_up("ana", **WOMAN)
        await trio.sleep(1.5)
        assert await ana.call("POST", "/api/heartbeat") == {"at": "2026-01-01T08:00:01.500000Z"}


async def test_a_user_who_has_no_profile_cannot_spin(autojump_clock):
    async with open_world() as world:
        caller = world.api("nobody")
        assert await refusal(caller, "POST", "/api/spin") == (409, "profile_incomplete")
        assert (await caller.call("GET", "/api/match/status")) == {
            "state": "idle",
            "credit": 0,
            "room": "main",
        }


async def test_the_wrong_match_is_unknown(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        carl = await world.sign_up("carl", **MAN)
        # Of somebody else, and of nobody.
        for match_id in ("m1", "m99", "x"):
            body = {"match_id": match_id}
            path = "/api/match/acknowledge"
            assert await refusal(carl, "POST", path, body) == (404, "unknown_match")
            body |= {"vote": "yes"}
            assert await refusal(carl, "POST", "/api/vote", body) == (404, "unknown_match")


async def test_refusals_of_a_vote(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        caller = world.api("ana")
        yes, no = ({"match_id": match_id, "vote": vote} for vote in ("yes", "pass"))
        assert await refusal(caller, "POST", "/api/vote", yes) == (409, "wrong_state")
        await ana.acknowledge(match_id)
        await ben.acknowledge(match_id)
        await caller.call("POST", "/api/vote", yes)
        assert await refusal(caller, "POST", "/api/vote", no) == (409, "already_voted")
        await trio.sleep(10)
        late = world.api("ben")
        assert await refusal(late, "POST", "/api/vote", yes) == (409, "vote_closed")


async def test_a_date_is_to_be_ended_before_the_next_spin(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "yes"))
        caller = world.api("ana")
        assert await refusal(caller, "POST", "/api/spin") == (409, "on_a_date")
        date_id = (await caller.call("GET", "/api/match/status"))["date"]["date_id"]
        wrong = {"date_id": "d99"}
        assert await refusal(caller, "POST", "/api/date/end", wrong) == (404, "not_found")
        await caller.call("POST", "/api/date/end", {"date_id": date_id})
        assert (await caller.call("POST", "/api/spin"))["state"] == "waiting"
        assert (await ben.wait_for("date_ended")).reason == "partner_ended"


# Blocks and reports


async def test_a_block_keeps_two_apart_until_it_is_lifted(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        caller = world.api("ana")
        await caller.call("POST", "/api/blocks", {"user_id": "ben"})
        await caller.call("POST", "/api/blocks", {"user_id": "ben"})
        assert await caller.call("GET", "/api/blocks") == {
            "blocks": [{"user_id": "ben", "at": "2026-01-01T08:00:00Z", "display_name": "Ben"}]
        }
        assert await world.api("ben").call("GET", "/api/blocks") == {"blocks": []}
        await ana.spin()
        assert (await ben.spin()).state == "waiting"
        await caller.call("DELETE", "/api/blocks/ben")
        assert (await ben.wait_for("matched")).partner["user_id"] == "ana"
        assert await refusal(caller, "DELETE", "/api/blocks/ben") == (404, "not_found")


@pytest.mark.parametrize("user_id", ["ana", "", "not an id", "x" * 65, 7, None])
async def test_nobody_blocks_themselves_or_what_is_no_user(autojump_clock, user_id):
    async with open_world() as world:
        ana = await world.sign_up("ana")
        body = {"user_id": user_id}
        assert await refusal(ana, "POST", "/api/blocks", body) == (400, "bad_request")
        assert await ana.call("GET", "/api/blocks") == {"blocks": []}


async def test_a_report_is_kept_for_the_operator(autojump_clock):
    async with open_world() as world:
        ana = await world.sign_up("ana")
        body = {"user_id": "ben", "reason": "rude", "match_id": "m1"}
        answer = await ana.request("POST", "/api/reports", body)
        assert (answer.status, answer.json()) == (201, {})
        for wrong in (
            {"user_id": "ben"},
            {"user_id": "ben", "reason": ""},
            {"user_id": "not an id", "reason": "rude"},
            {"user_id": "ben", "reason": "x" * 1001},
        ):
            assert await refusal(ana, "POST", "/api/reports", wrong) == (400, "bad_request")


# Bodies made to hurt


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b"null",
        b'{"match_id": 7, "vote": "yes"}',
        b'{"match_id": "m1"}',
        b'{"match_id": "m1", "vote": "maybe"}',
        b'{"match_id": "", "vote": "yes"}',
        b'{"match_id": "\xff\xfe", "vote": "yes"}',
        b'{"match_id": "\\ud800", "vote": "yes"}',
        b"\xff\xfe\x00",
        b"[" * 10_000,
        b'{"match_id": "m1", "vote": "yes"',
        b'{"a":' * 2_000,
    ],
)
async def test_a_body_that_is_not_what_is_documented_is_a_bad_request(autojump_clock, body):
    async with open_world() as world:
        ana = await world.sign_up("ana")
        assert await refusal(ana, "POST", "/api/vote", body) == (400, "bad_request")


async def test_a_body_that_is_too_large_is_not_read(autojump_clock):
    async with open_world() as world:
        ana = await world.sign_up("ana")
        body = b'{"match_id": "' + b"x" * 20_000 + b'"}'
        assert await refusal(ana, "POST", "/api/vote", body) == (413, "too_large")


async def test_fields_that_we_do_not_know_are_let_be(autojump_clock):
    async with open_world() as world:
        ana = await world.sign_up("ana")
        await ana.call("POST", "/api/blocks", {"user_id": "ben", "mood": "angry"})


async def test_what_is_not_there_is_not_found_and_the_wrong_method_is_said(autojump_clock):
    async with open_world() as world:
        ana = await world.sign_up("ana")
        assert await refusal(ana, "GET", "/api/nothing") == (404, "not_found")
        assert await refusal(ana, "GET", "/api/spin") == (405, "bad_request")
        assert (await ana.request("GET", "/api/spin")).headers["allow"] == "POST"


# Limits


async def test_a_user_who_calls_too_often_is_slowed_down(autojump_clock):
    async with open_world(settings={"edge": {"commands_burst": 5}}) as world:
        ana = world.api("ana")
        for _ in range(5):
            await ana.call("GET", "/api/match/status")
        assert await refusal(ana, "GET", "/api/match/status") == (429, "rate_limited")
        answer = await ana.request("GET", "/api/match/status")
        assert int(answer.headers["retry-after"]) >= 1
        # Each user has a rate of their own, and it comes back with time.
        await world.api("ben").call("GET", "/api/match/status")
        await trio.sleep(1)
        await ana.call("GET", "/api/match/status")


async def test_the_socket_and_the_calls_of_a_user_share_one_rate(autojump_clock):
    async with open_world(settings={"edge": {"commands_burst": 6}}) as world:
        ana = await world.join("ana")
        await trio.sleep(2.9)
        for _ in range(6):
            await ana.heartbeat()
        with pytest.raises(CallRefused) as refused:
            await world.api("ana").call("GET", "/api/match/status")
        assert refused.value.code == "rate_limited"


async def test_a_draining_server_takes_no_spins(autojump_clock):
    async with open_world() as world:
        ana = await world.sign_up("ana")
        world.server.drain()
        assert await refusal(ana, "POST", "/api/spin") == (503, "draining")
        assert (await ana.call("GET", "/api/match/status"))["state"] == "idle"


# Headers


async def test_answers_are_json_and_not_to_be_kept(autojump_clock):
    async with open_world() as world:
        ana = await world.sign_up("ana")
        answer = await ana.request("GET", "/api/match/status")
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
