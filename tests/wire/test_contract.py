"""The contract: it names all that there is, it is valid, and what is really said keeps to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.actors.morning import store_offers
from tests.wire.captured import Client, Message, connect, open_house, profile
from yoked_actor.domain.lobby import Code
from yoked_actor.edge.http.pages import ADDRESSES, CONSOLE
from yoked_actor.edge.net import WEBSOCKET_PATH
from yoked_actor.edge.ws import handshake
from yoked_actor.settings import Settings
from yoked_actor.wire.close_codes import CLOSE_CODES, CloseCode
from yoked_actor.wire.contract import (
    CALLS,
    ERRORS,
    EVENT_EXAMPLES,
    EXCHANGES,
    SOCKET_PATH,
    SUBPROTOCOL,
    asyncapi,
    openapi,
)
from yoked_actor.wire.contract.openapi import PROBLEM
from yoked_actor.wire.lobby import Event, decode_command, encode
from yoked_actor.wire.lobby.commands import COMMANDS
from yoked_actor.wire.lobby.events import EVENTS
from yoked_actor.wire.ops import Status
from yoked_actor.wire.problems import STATUS

HTTP = openapi()
SOCKET = asyncapi()
MESSAGES = SOCKET["components"]["messages"]

# What the pages are made of is not part of the contract.
PAGES = {*ADDRESSES, CONSOLE, "/yoked.js", "/app/<path:name>", "/admin/<path:name>"}


def check(value: Any, schema: Message, document: Message) -> None:
    """Raise unless a value keeps to a schema of a document."""
    whole = {**schema, "components": document["components"]}
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.Draft202012Validator(whole, format_checker=checker).validate(value)


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def lookup(document: Message, ref: str) -> Any:
    found: Any = document
    for key in ref.removeprefix("#/").split("/"):
        found = found[key]
    return found


# It names all that there is


async def test_every_route_is_in_the_contract_and_every_call_has_a_route(
    mock_clock: Any,
) -> None:
    async with open_house(mock_clock=mock_clock) as (server, _):
        routes = {
            (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
            for rule in server.edge.app.url_map.iter_rules()
            for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
            if rule.rule not in PAGES
        }
    assert routes == {(call.method, call.path) for call in CALLS}
    assert routes == {
        (method.upper(), path) for path, methods in HTTP["paths"].items() for method in methods
    }


async def test_calls_for_ones_own_machine_are_not_there_otherwise() -> None:
    async with open_house(dev=False) as (server, _):
        rules = {rule.rule for rule in server.edge.app.url_map.iter_rules()}
    for call in CALLS:
        if "{" not in call.path:
            assert (call.path in rules) == (call.only == "always"), call.path


def test_every_command_has_one_exchange() -> None:
    assert [type(exchange.command) for exchange in EXCHANGES] == list(COMMANDS)
    names = {str(kind.__struct_config__.tag) for kind in COMMANDS}
    assert {key[8:] for key in MESSAGES if key.startswith("command.")} == names
    assert {n for n, o in SOCKET["operations"].items() if o["action"] == "receive"} == names


def test_every_event_is_told() -> None:
    told: set[type[Event]] = {*EVENTS, Status}  # To users, and to operators.
    assert {type(event) for event in EVENT_EXAMPLES} == told
    assert len(EVENT_EXAMPLES) == len(told)
    assert {key[6:] for key in MESSAGES if key.startswith("event.")} == {
        kind.__struct_config__.tag for kind in told
    }


def test_every_error_code_has_a_status_and_a_meaning() -> None:
    assert set(ERRORS) == set(STATUS) == set(Code)
    for document in (HTTP, SOCKET):
        rows = {row["code"]: row["status"] for row in document["x-error-codes"]}
        assert rows == {code.value: status for code, status in STATUS.items()}


def test_every_close_code_of_the_server_is_in_the_contract() -> None:
    others = {CloseCode.GOING_AWAY, CloseCode.ABNORMAL_CLOSURE}
    assert set(CloseCode) - others == set(CLOSE_CODES)
    assert set(CLOSE_CODES) == {1003, 1007, 1009, 1011, 4000, 4001, 4003, 4008, 4009, 4010, 4011}
    assert {row["code"] for row in SOCKET["x-close-codes"]} == set(CLOSE_CODES)


def test_path_and_subprotocol_are_those_of_the_handshake() -> None:
    assert handshake.SUBPROTOCOL == SUBPROTOCOL == SOCKET["x-subprotocol"]
    assert WEBSOCKET_PATH.decode() == SOCKET_PATH
    assert SOCKET["channels"]["socket"]["address"] == SOCKET_PATH


def test_the_limits_are_those_of_the_settings() -> None:
    settings = Settings.model_validate({"edge": {"commands_per_s": 7.0, "max_body_bytes": 2048}})
    assert asyncapi(settings)["x-limits"]["commands_per_s"] == 7.0
    assert openapi(settings)["x-limits"]["calls_per_s"] == 7.0
    assert openapi(settings)["x-limits"]["max_body_bytes"] == 2048
    assert SOCKET["x-limits"]["commands_per_s"] == 20.0
    assert SOCKET["x-limits"]["commands_burst"] == 100


# It is valid


def test_the_openapi_document_is_valid() -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(HTTP).iter_errors()] == []
    ids = [call["operationId"] for path in HTTP["paths"].values() for call in path.values()]
    assert len(set(ids)) == len(ids) == len(CALLS)


def test_the_asyncapi_document_has_the_shape_of_version_3() -> None:
    assert SOCKET["asyncapi"] == "3.0.0"
    assert set(SOCKET["info"]) >= {"title", "version"}
    [channel] = SOCKET["channels"].values()
    assert set(channel["messages"]) == set(MESSAGES)
    for key, message in MESSAGES.items():
        assert re.fullmatch(r"[A-Za-z0-9._-]+", key)
        assert {"name", "summary", "payload", "examples"} <= set(message)
    for name, operation in SOCKET["operations"].items():
        assert operation["action"] in ("send", "receive")
        assert lookup(SOCKET, operation["channel"]["$ref"]) is channel
        used = [*operation["messages"], *operation.get("reply", {}).get("messages", ())]
        # A message of an operation must be one of its channel's, not of the components.
        assert all(m["$ref"].startswith("#/channels/socket/messages/") for m in used), name
        assert ("reply" in operation) == (operation["action"] == "receive")


@pytest.mark.parametrize("document", [HTTP, SOCKET], ids=["openapi", "asyncapi"])
def test_every_reference_leads_somewhere(document: Message) -> None:
    found = set(references(document))
    assert found
    for ref in found:
        assert lookup(document, ref), ref
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("key", MESSAGES)
def test_every_message_has_an_example_that_keeps_to_its_schema(key: str) -> None:
    message = MESSAGES[key]
    for example in message["examples"]:
        check(example["payload"], message["payload"], SOCKET)
        if key.startswith("command."):
            command = decode_command(encode(example["payload"]))
            assert command.__struct_config__.tag == key[8:]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.method} {call.path}")
def test_every_call_shows_a_body_and_an_answer_that_keep_to_their_schemas(call: Any) -> None:
    operation = HTTP["paths"][call.path][call.method.lower()]
    parts = [operation["responses"][str(call.status)], operation.get("requestBody")]
    for part in filter(None, parts):
        for content in part.get("content", {}).values():
            if "example" in content:
                check(content["example"], content["schema"], HTTP)
    assert (call.body is None) == ("requestBody" not in operation)
    assert operation["security"] == ([{"token": []}] if call.token else [])


# What is really said keeps to it


def check_conversation(client: Client) -> set[str]:
    """Check all that was said on a socket; returns which messages of the contract that were."""
    commands = {message["id"]: message["type"] for message in client.sent}
    seen = set()
    for message in client.sent:
        seen.add(f"command.{message['type']}")
        check(message, MESSAGES[f"command.{message['type']}"]["payload"], SOCKET)
    for message in client.heard:
        if message["type"] == "error":
            key = "reply.error"
        elif message["type"] == "ok":
            key = f"reply.{commands[message['re']]}"
            # Fields may be added one day, but then they must be written down.
            assert set(message) <= set(MESSAGES[key]["payload"]["properties"])
        else:
            key = f"event.{message['type']}"
        seen.add(key)
        check(message, MESSAGES[key]["payload"], SOCKET)
    return seen


async def test_what_is_said_on_real_sockets_keeps_to_the_contract() -> None:
    edges = {"tier2_after_s": 0.05, "tier3_after_s": 0.1, "forced_after_s": 0.1}
    # It closes within a minute, and not during the test.
    soon = (datetime.now(UTC) + timedelta(seconds=55)).isoformat()
    rooms: dict[str, dict[str, object]] = {"soon": {"closes_at": soon}}
    async with (
        open_house(matching=edges, date={"touch_after_s": 0.0}, rooms=rooms) as (server, address),
        connect(address) as ana,
        connect(address) as ben,
        connect(address) as carl,
        connect(address) as root,
    ):
        http = server.edge.app.test_client()
        people = {
            "ana": (ana, profile("Ana", "woman", "man")),
            "ben": (ben, profile("Ben", "man", "woman")),
            "carl": (carl, profile("Carl", "man", "woman")),
        }
        for user_id, (client, whole) in people.items():
            answer = await http.post("/api/dev/login", json={"user_id": user_id, "profile": whole})
            await client.say("hello", token=(await answer.get_json())["token"])
        await carl.say("enter_room", room="soon")
        await carl.event("room_closing")
        await carl.say("enter_room", room="main")
        await store_offers(server)
        server.delivery.wake(["ana", "ben"])
        connection_id = None
        for client, other in ((ana, "ben"), (ben, "ana")):
            offers = (await client.event("offers"))["offers"]
            [offer_id] = [o["offer_id"] for o in offers if o["candidate"]["user_id"] == other]
            reply = await client.say("answer_offer", offer_id=offer_id, answer="accept")
            connection_id = reply.get("connection_id")
        for client in (ana, ben):
            await client.event("connection")
        for caller, callee, end in (
            (ana, ben, "decline_call"),
            (ana, ana, "cancel_call"),
            (ana, ben, "accept_call"),
        ):
            call_id = (await caller.say("start_date", connection_id=connection_id))["call_id"]
            await ben.event("call")
            await callee.say(end, call_id=call_id)
            await ana.event("call_ended")
        date_id = (await ana.event("date_started"))["date_id"]
        await ana.say("end_date", date_id=date_id)
        await ben.event("date_ended")
        await ana.say("heartbeat")
        token = server.edge.tokens.sign("ana", server.base.clock.now(), 7 * 86_400.0)
        await ana.say("hello", token=token)
        await ana.say("leave")
        await ana.say("spin")
        await ana.event("waiting")
        await ana.event("tier")
        await ben.event("nudge")
        await ana.say("explain")
        await ben.say("spin")
        match_id = (await ben.event("matched"))["match_id"]
        for client in (ana, ben):
            await client.say("acknowledge", match_id=match_id)
        for client in (ana, ben):
            await client.event("voting")
            await client.say("vote", match_id=match_id, vote="yes")
        date_id = (await ana.event("date_started"))["date_id"]
        await ana.say("signal", date_id=date_id, data={"candidate": None})
        await ben.event("signal")
        await ana.say("end_date", date_id=date_id)
        await ben.event("date_ended")
        await ana.say("stay_in_touch", date_id=date_id, answer="no")
        await ana.say("spin")
        await carl.say("spin")
        await ana.say("leave")
        await carl.event("match_cancelled")
        await ben.say("report", user_id="ana", reason="too charming", match_id=match_id)
        await ben.say("block", user_id="ana")
        now = server.base.clock.now()
        await root.say("watch", token=server.edge.tokens.sign("root", now, 60, admin=True))
        await root.event("status")
        signed = server.edge.tokens.sign("root", now, 60, admin=True)
        for what, body in (("warn", {"text": "be kind"}), ("suspend", {"reason": "rude"})):
            await http.post(
                f"/api/admin/users/carl/{what}",
                json=body,
                headers={"Authorization": f"Bearer {signed}"},
            )
            await carl.event("warning" if what == "warn" else "suspended")
        server.drain()
        await ben.event("draining")
        seen = set().union(*(check_conversation(client) for client in (ana, ben, carl, root)))
    assert seen == set(MESSAGES)


def undescribed(schema: Any, where: str) -> list[str]:
    """The fields of a schema, and of those inside it, that say nothing of themselves."""
    found = []
    for name, field in schema.get("properties", {}).items():
        if len(field.get("description", "").split()) < 2:
            found.append(f"{where}.{name}")
    return found


@pytest.mark.parametrize("document", [HTTP, SOCKET], ids=["openapi", "asyncapi"])
def test_every_field_is_described(document: Any) -> None:
    """A new field needs a row in `yoked_actor/wire/contract/descriptions.py`."""
    found = []
    for name, schema in document["components"]["schemas"].items():
        found += undescribed(schema, name)
    for name, message in document["components"].get("messages", {}).items():
        found += undescribed(message["payload"], name)
    for path, methods in document.get("paths", {}).items():
        for method, call in methods.items():
            for one in call.get("parameters", ()):
                if not one.get("description"):
                    found.append(f"{method} {path} {one['name']}")
    assert found == []


async def test_what_is_answered_over_http_keeps_to_the_contract(mock_clock: Any) -> None:
    bodies: dict[str, Message] = {
        "/api/profile": profile("Ana", "woman", "man"),
        "/api/dev/login": {"user_id": "ana", "profile": profile("Ana", "woman", "man")},
        "/api/places/near": {"lat": 48.2, "lon": 16.4},
        "/api/match/acknowledge": {"match_id": "m404"},
        "/api/vote": {"match_id": "m404", "vote": "yes"},
        "/api/date/end": {"date_id": "d404"},
        "/api/blocks": {"user_id": "mallory"},
        "/api/reports": {"user_id": "mallory", "reason": "rude"},
        "/api/dev/clock/advance": {"seconds": 1},
        "/api/appeal": {"text": "sorry"},
        "/api/rooms/{room}/enter": {"code": "come-in"},
        "/api/admin/rooms/{room}": {"name": "Friday evening", "capacity": 100},
        "/api/admin/users/{user_id}/suspend": {"reason": "rude"},
        "/api/admin/users/{user_id}/warn": {"text": "be kind"},
        "/api/admin/reports/{number}/resolve": {"resolution": "suspended"},
        "/api/offers/{offer_id}/answer": {"answer": "accept"},
        "/api/dates/{date_id}/stay_in_touch": {"answer": "yes"},
        "/api/admin/jobs/requeue": {"type": "test"},
        "/api/admin/jobs/bulk": {"action": "requeue"},
        "/api/admin/jobs/pause": {"type": "jobs.prune", "reason": "known"},
        "/api/admin/jobs/resume": {"type": "jobs.prune"},
        "/api/admin/matches/{match_id}/end": {"reason": "known"},
        "/api/admin/jobs/{job_id}/dismiss": {"reason": "known"},
        "/api/admin/users/{user_id}/block": {"user_id": "mallory"},
        "/api/admin/offers/run": {"zone": "Europe/Berlin", "date": "2026-01-01"},
        "/api/admin/offers/refreeze": {"zone": "Europe/Berlin", "date": "2026-01-01"},
    }
    done = set()
    async with open_house(mock_clock=mock_clock) as (server, _):
        http = server.edge.app.test_client()
        token = server.edge.tokens.sign("ana", server.base.clock.now(), 3600)
        admin = server.edge.tokens.sign("root", server.base.clock.now(), 3600, admin=True)
        # The login that is not first would be a profile that is not missing.
        for call in sorted(CALLS, key=lambda call: call.path != "/api/dev/login"):
            given = admin if call.is_admin else token
            headers = {"Authorization": f"Bearer {given}"} if call.token else {}
            answer = await http.open(
                re.sub(
                    r"{\w+}",
                    "1",
                    call.path.replace("{user_id}", "ana" if call.is_admin else "mallory"),
                ),
                method=call.method,
                headers=headers,
                json=bodies[call.path] if call.body is not None else None,
            )
            operation = HTTP["paths"][call.path][call.method.lower()]
            response = operation["responses"][str(answer.status_code)]
            if answer.status_code == 204:
                assert (await answer.get_data(), "content" in response) == (b"", False)
                continue
            content = response["content"]
            schema = content[answer.mimetype]["schema"]
            assert answer.mimetype in (call.media, PROBLEM)
            if answer.mimetype in ("application/json", PROBLEM):
                body = await answer.get_json()
                check(body, schema, HTTP)
                if answer.status_code == call.status and call.answer is not None:
                    done.add(call.path)
                    known = set(
                        HTTP["components"]["schemas"][type(call.answer).__name__].get(
                            "properties", ()
                        )
                    )
                    assert set(body) <= known, call.path
    refused = {
        "/api/places",
        "/api/match/acknowledge",
        "/api/vote",
        "/api/date/end",
        "/api/offers/{offer_id}/answer",
        "/api/connections/{connection_id}/date",
        "/api/appeal",
        "/api/rooms/{room}/enter",
        "/api/admin/matches/{match_id}",
        "/api/admin/matches/{match_id}/end",
        "/api/warnings/{warning_id}/seen",
        "/api/calls/{call_id}/accept",
        "/api/calls/{call_id}/decline",
        "/api/calls/{call_id}/cancel",
        "/api/dates/{date_id}/stay_in_touch",
        "/api/admin/jobs/{job_id}/cancel",
        "/api/admin/jobs/{job_id}/requeue",
        "/api/admin/jobs/{job_id}/dismiss",
        "/api/admin/offers/verify",
    }
    assert done == {call.path for call in CALLS if call.answer is not None} - refused


@pytest.mark.parametrize("call", [c for c in CALLS if c.is_admin], ids=lambda call: call.path)
async def test_what_is_for_the_operator_is_for_nobody_else(call: Any, mock_clock: Any) -> None:
    async with open_house(mock_clock=mock_clock) as (server, _):
        http = server.edge.app.test_client()
        token = server.edge.tokens.sign("ana", server.base.clock.now(), 3600)
        headers = {"Authorization": f"Bearer {token}"}
        answer = await http.open(call.path, method=call.method, headers=headers, json=None)
        assert answer.status_code == 403
        assert (await answer.get_json())["code"] == "forbidden"


@pytest.mark.parametrize("call", [c for c in CALLS if c.token], ids=lambda call: call.summary)
async def test_without_a_token_there_is_no_answer(call: Any, mock_clock: Any) -> None:
    async with open_house(mock_clock=mock_clock) as (server, _):
        http = server.edge.app.test_client()
        answer = await http.open(call.path, method=call.method, json={})
        assert answer.status_code == 401
        check(await answer.get_json(), HTTP["components"]["schemas"]["Problem"], HTTP)
