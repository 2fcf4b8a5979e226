"""No text from outside makes a call fail by our fault: paths, queries, bodies."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest

from yoked_actor.client import Api
from yoked_actor.testing import World, open_world
from yoked_actor.wire.contract import CALLS, Call

URL = "http://world.test"
HOSTILE = (
    "9" * 5000,
    "9223372036854775808",
    "-1",
    "0",
    "1e400",
    "NaN",
    "inf",
    "\N{ARABIC-INDIC DIGIT THREE}",
    "\N{SUPERSCRIPT TWO}",
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31",
    "0001-01-01",
    "2026-W01-1",
    "2026-02-30",
    "\0",
    "\ud800",
    "\N{PILE OF POO}" * 100,
    "",
)


def operator(world: World) -> Api:
    return Api(URL, world.token("root", admin=True), dial=world.dial())


def quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def targets(call: Call, text: str) -> list[str]:
    """The addresses of a call with a text in the place of each of its parameters."""
    names = re.findall(r"{(\w+)}", call.path)
    plain = re.sub(r"{\w+}", "1", call.path)
    found = [call.path.replace(f"{{{name}}}", quoted(text)) for name in names]
    others = {"zone": "Asia/Tokyo", "date": "2026-01-01"}
    for query in call.query:
        given = {one.name: others[one.name] for one in call.query if one.name in others}
        given[query.name] = text
        found.append(plain + "?" + "&".join(f"{k}={quoted(v)}" for k, v in given.items()))
    return found


def has_parameters(call: Call) -> bool:
    return bool(call.query) or "{" in call.path


@pytest.mark.parametrize(
    "call",
    [one for one in CALLS if has_parameters(one)],
    ids=lambda one: f"{one.method} {one.path}",
)
async def test_no_parameter_of_a_call_can_crash_it(mock_clock, call):
    generous = {"edge": {"commands_per_s": 10_000.0, "commands_burst": 10_000}}
    async with open_world(settings=generous) as world:
        api = operator(world)
        for text in HOSTILE:
            for target in targets(call, text):
                answer = await api.request(call.method, target, call.body)
                assert answer.status < 500, (call.method, target[:200], answer.body)


@pytest.mark.parametrize(
    ("since", "from_when"),
    [
        ("9999-12-31T23:59:59-23:59", "2026-01-01T08:00:00Z"),
        ("0001-01-01T00:00:00+23:59", "2025-12-01T08:00:00Z"),
    ],
)
async def test_a_moment_beyond_the_calendar_is_taken_for_the_nearest_that_counts(
    mock_clock, since, from_when
):
    async with open_world() as world:
        path = "/api/admin/quality?since=" + quoted(since)
        assert (await operator(world).call("GET", path))["since"] == from_when


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
@pytest.mark.parametrize("at", ["09:00", "23:59"])
@pytest.mark.parametrize("day", ["0001-01-01", "0001-01-02", "2024-12-30", "9999-12-31"])
async def test_no_run_is_started_for_a_date_that_is_far_away(mock_clock, zone, day, at):
    async with open_world(settings={"offers": {"at": at}}) as world:
        body = {"zone": zone, "date": day}
        answer = await operator(world).request("POST", "/api/admin/offers/run", body)
        assert answer.status == 409, answer.body
        runs = await operator(world).call("GET", "/api/admin/jobs?type=offers.zone_run")
        assert runs == {"jobs": []}
