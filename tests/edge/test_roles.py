"""Every call for operators, with every role: it is open from the role in the contract on."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from tests.scenarios.meeting import join_pair
from tests.scenarios.talker import Talker
from yoked_actor.client import Api
from yoked_actor.domain.ops import Role
from yoked_actor.testing import World, open_world
from yoked_actor.wire.contract import CALLS, Call, openapi

URL = "http://world.test"
ADMIN_CALLS = [call for call in CALLS if call.path.startswith("/api/admin/")]
ENDING = "/api/admin/drain"
READS = {"GET"}


def bearer(world: World, role: Role | None) -> Api:
    name = "user" if role is None else role.value
    return Api(URL, world.token(name, role=role), dial=world.dial())


async def ask(api: Api, call: Call) -> Any:
    path = re.sub(r"{user_id}", "ana", call.path)
    path = re.sub(r"{\w+}", "1", path)
    given = {query.name: "2026-01-01" for query in call.query if query.required}
    if given:
        path += "?" + "&".join(f"{name}={value}" for name, value in given.items())
    body = None if call.body is None else msgspec.json.decode(msgspec.json.encode(call.body))
    return await api.request(call.method, path, body)


def test_every_call_for_operators_states_its_role():
    assert len(ADMIN_CALLS) > 20
    for call in CALLS:
        assert (call.needs is not None) == (call in ADMIN_CALLS), call.path
    for call in ADMIN_CALLS:
        if call.method in READS:
            assert call.needs is Role.VIEWER, call.path
        else:
            assert call.needs is not Role.VIEWER, call.path
    for path, methods in openapi()["paths"].items():
        for method, operation in methods.items():
            role = operation.get("x-role")
            assert (role is not None) == path.startswith("/api/admin/"), (method, path)
            assert role is None or f"`{role}`" in operation["description"]


async def test_each_call_is_open_from_its_role_on(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        for call in sorted(ADMIN_CALLS, key=lambda one: one.path == ENDING):
            assert call.needs is not None
            for role in (None, *Role):
                answer = await ask(bearer(world, role), call)
                problem = answer.json()
                if role is not None and role.includes(call.needs):
                    assert answer.status != 403, (call.path, role, problem)
                    assert answer.status != 401
                    continue
                assert (answer.status, problem["code"]) == (403, "forbidden"), (call.path, role)
                if role is not None:
                    assert f"needs the role {call.needs}" in problem["detail"]
                    assert f"the role {role}" in problem["detail"]


async def test_what_is_refused_has_no_effect(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        for call in ADMIN_CALLS:
            for role in (None, *Role):
                if role is None or not role.includes(call.needs or Role.ADMIN):
                    await ask(bearer(world, role), call)
        admin = bearer(world, Role.ADMIN)
        assert (await admin.call("GET", "/api/admin/audit"))["entries"] == []
        assert (await world.api("ana").call("GET", "/api/match/status"))["state"] == "idle"


@pytest.mark.parametrize("role", [None, *Role])
async def test_every_operator_may_watch_and_nobody_else(autojump_clock, role):
    async with open_world() as world:
        talker = await Talker.dial(world)
        await talker.say({"type": "watch", "id": "w", "token": world.token("olga", role=role)})
        told = await talker.hear()
        if role is None:
            assert (told["type"], told["code"]) == ("error", "forbidden")
            assert (await talker.hung_up()).code == 4003
        else:
            assert (told["type"], told["re"]) == ("ok", "w")
