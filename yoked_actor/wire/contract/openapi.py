"""The HTTP calls as an OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Collection

from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Role
from yoked_actor.domain.people import USER_ID
from yoked_actor.settings import Settings
from yoked_actor.wire.call import NUMBER, Call, Condition
from yoked_actor.wire.contract.calls import CALLS, PROBLEM_EXAMPLE
from yoked_actor.wire.contract.descriptions import PARAMETERS, describe
from yoked_actor.wire.contract.exchanges import example_of
from yoked_actor.wire.contract.schemas import JSON, Document, Schemas, error_codes, info
from yoked_actor.wire.problems import STATUS, Problem

PROBLEM = "application/problem+json"
_SUBJECT = {"type": "string", "minLength": 1, "maxLength": 64}
_PATH_PARAMETERS: dict[str, dict[str, object]] = {
    "user_id": {"type": "string", "pattern": USER_ID},
    "job_id": NUMBER,
    "number": NUMBER,
    "offer_id": _SUBJECT,
    "match_id": _SUBJECT,
    "room": {"type": "string", "pattern": "^[a-z0-9_-]{1,32}$"},
    "warning_id": _SUBJECT,
    "connection_id": _SUBJECT,
    "call_id": _SUBJECT,
    "date_id": _SUBJECT,
}
_CONDITIONS: dict[Condition, str] = {
    "always": "",
    "dev": "Only with `--dev`.",
    "mock_clock": "Only with `--dev --mock-clock`.",
}


def openapi(
    settings: Settings | None = None, only: Collection[Condition] = tuple(_CONDITIONS)
) -> Document:
    """The HTTP calls that a server under these conditions offers, as an OpenAPI 3.1 document."""
    settings = settings or Settings()
    edge = settings.edge
    calls = [call for call in CALLS if call.only in only]
    examples = [example for call in calls for example in (call.body, call.answer)]
    schemas = Schemas([Problem, *(type(e) for e in examples if e is not None)])
    _name_genders(schemas.components, settings.matching.genders)
    describe(schemas.components)
    paths: dict[str, Document] = {}
    for call in calls:
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(call, schemas)
    return {
        "openapi": "3.1.0",
        "info": info(
            "yoked-actor over HTTP",
            "JSON in and out. A call counts as a sign of life, and `POST /api/heartbeat` keeps a"
            " client alive that has nothing else to say. Failures are problem documents (RFC 9457)"
            " with a stable `code`.",
        ),
        "servers": [{"url": "/"}],
        "tags": [{"name": group} for group in dict.fromkeys(call.group for call in calls)],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "A JWT whose `sub` is the user id; it must have an `exp`. The"
                    " token of an operator has a `role`: `viewer`, `moderator` or `admin`.",
                }
            },
        },
        "x-error-codes": error_codes(),
        "x-limits": {
            "calls_per_s": edge.commands_per_s,
            "calls_burst": edge.commands_burst,
            "connections_per_s": edge.connections_per_s,
            "connections_burst": edge.connections_burst,
            "max_body_bytes": edge.max_body_bytes,
            "max_interests": settings.matching.max_interests,
            "max_blocks": settings.matching.max_blocks,
        },
    }


def _name_genders(components: Document, genders: Collection[str]) -> None:
    """Put the genders of the settings into the schemas: the types do not have them."""
    if "Profile" in components:
        components["Profile"]["properties"]["gender"] = {"enum": list(genders)}
        seeking = components["Preferences"]["properties"]["seeking"]
        seeking["items"] = {"enum": list(genders)}


def _operation(call: Call, schemas: Schemas) -> Document:
    words = re.findall(r"\w+", call.path.removeprefix("/api"))
    operation: Document = {
        "operationId": "_".join([call.method.lower(), *words]),
        "tags": [call.group],
        "summary": call.summary,
        "security": [{"token": []}] if call.token else [],
        "responses": _responses(call, schemas),
    }
    operation["x-problems"] = [
        {"status": status, "code": code.value}
        for status, codes in sorted(_problems(call).items())
        for code in codes
    ]
    if call.only != "always":
        operation["description"] = _CONDITIONS[call.only]
    if call.needs is not None:
        operation["description"] = f"Needs a token with the role {_roles(call.needs)}."
        operation["x-role"] = call.needs.value
    if names := re.findall(r"{(\w+)}", call.path):
        operation["parameters"] = [
            {
                "name": name,
                "in": "path",
                "required": True,
                "description": PARAMETERS[name],
                "schema": _PATH_PARAMETERS[name],
            }
            for name in names
        ]
    for query in call.query:
        operation.setdefault("parameters", []).append(
            {"name": query.name, "in": "query", "description": query.meaning}
            | ({"required": True} if query.required else {})
            | {"schema": query.schema}
        )
    if call.body is not None:
        content = {"schema": schemas.ref(type(call.body)), "example": example_of(call.body)}
        operation["requestBody"] = {"required": True, "content": {JSON: content}}
    return operation


def _roles(needed: Role) -> str:
    return " or ".join(f"`{role}`" for role in Role if role.includes(needed))


def _responses(call: Call, schemas: Schemas) -> Document:
    if call.answer is None:
        shape = {"type": "object"} if call.media == JSON else {"type": "string"}
        content: Document = {"schema": shape}
    else:
        content = {"schema": schemas.ref(type(call.answer)), "example": example_of(call.answer)}
    done: Document = {"description": "Done.", "content": {call.media: content}}
    if call.status == 204:
        del done["content"]
    responses: Document = {str(call.status): done}
    if call.path == "/readyz":
        responses["503"] = {**done, "description": "Not now."}
    for status, codes in sorted(_problems(call).items()):
        responses[str(status)] = {
            "description": ", ".join(f"`{code}`" for code in codes),
            "content": {PROBLEM: {"schema": schemas.ref(Problem)}},
        }
    if "307" in responses:
        responses["307"]["headers"] = {
            "Location": {
                "description": "The same call at the node that serves the user's room.",
                "schema": {"type": "string"},
            }
        }
    if "404" in responses and Code.UNKNOWN_MATCH in call.refusals:
        responses["404"]["content"][PROBLEM]["example"] = example_of(PROBLEM_EXAMPLE)
    return responses


def _problems(call: Call) -> dict[int, list[Code]]:
    """The error codes of a call, by status: its own, and the common ones."""
    if not call.is_api:
        return {}
    codes = list(call.refusals)
    if call.body is not None or call.group == "Safety":
        codes.append(Code.BAD_REQUEST)
    if call.body is not None:
        codes.append(Code.TOO_LARGE)
    if call.token:
        codes += [Code.UNAUTHORIZED, Code.FORBIDDEN]
    if call.token or call.only == "dev":
        codes.append(Code.RATE_LIMITED)
        if call.needs is None:
            codes.append(Code.MOVED)
    codes.append(Code.INTERNAL)
    found: dict[int, list[Code]] = {}
    for code in dict.fromkeys(codes):
        found.setdefault(STATUS[code], []).append(code)
    # The store is unavailable or the mailbox full: also the server's fault, but a retry may work.
    found.setdefault(503, []).append(Code.INTERNAL)
    return found
