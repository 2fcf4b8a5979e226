"""The WebSocket protocol as an AsyncAPI document."""

from __future__ import annotations

from typing import Any

import msgspec

from yoked_actor.settings import Settings
from yoked_actor.wire.close_codes import CLOSE_CODES
from yoked_actor.wire.contract.descriptions import describe
from yoked_actor.wire.contract.exchanges import (
    EVENT_EXAMPLES,
    EXCHANGES,
    REFUSAL_EXAMPLE,
    Exchange,
    example_of,
)
from yoked_actor.wire.contract.schemas import JSON, Document, Schemas, error_codes, info
from yoked_actor.wire.lobby import Error, Ok, Welcome

SUBPROTOCOL = "yoked.v1"
SOCKET_PATH = "/ws"
_CHANNEL = "#/channels/socket"


def asyncapi(settings: Settings | None = None) -> Document:
    """The WebSocket protocol as an AsyncAPI 3.0 document, from the view of the server."""
    settings = settings or Settings()
    commands = [type(exchange.command) for exchange in EXCHANGES]
    events = [type(event) for event in EVENT_EXAMPLES]
    schemas = Schemas([*commands, *events, Ok, Error])
    describe(schemas.components)
    messages = _messages(schemas)
    return {
        "asyncapi": "3.0.0",
        "info": info(
            "yoked-actor over WebSocket",
            "Text frames, one JSON object each. `hello` comes first and is answered by `welcome`;"
            " every other command gets exactly one reply, `ok` or `error`, whose `re` is the"
            " command's `id`, before the events that it causes. The same `id` sent again gets the"
            " same reply and has no second effect.",
        ),
        "defaultContentType": JSON,
        "channels": {
            "socket": {
                "address": SOCKET_PATH,
                "title": "The one socket of a client",
                "messages": {key: {"$ref": f"#/components/messages/{key}"} for key in messages},
                "bindings": {"ws": _handshake()},
            }
        },
        "operations": _operations(),
        "components": {"messages": messages, "schemas": schemas.components},
        "x-subprotocol": SUBPROTOCOL,
        "x-close-codes": [
            {"code": int(c), "meaning": meaning} for c, meaning in CLOSE_CODES.items()
        ],
        "x-error-codes": error_codes(),
        "x-limits": _socket_limits(settings),
    }


def _handshake() -> Document:
    protocol = {"type": "string", "const": SUBPROTOCOL}
    return {
        "method": "GET",
        "headers": {"type": "object", "properties": {"Sec-WebSocket-Protocol": protocol}},
        "bindingVersion": "0.1.0",
    }


def _socket_limits(settings: Settings) -> Document:
    edge = settings.edge
    return {
        "commands_per_s": edge.commands_per_s,
        "commands_burst": edge.commands_burst,
        "frames_per_s": edge.frames_per_s,
        "frames_burst": edge.frames_burst,
        "connections_per_s": edge.connections_per_s,
        "connections_burst": edge.connections_burst,
        "max_message_bytes": edge.max_message_bytes,
        "signals_per_s": settings.date.signals_per_s,
        "signals_burst": settings.date.signals_burst,
        "max_signal_bytes": settings.date.max_signal_bytes,
        "hello_timeout_s": edge.hello_timeout_s,
        "heartbeat_every_s": settings.matching.heartbeat_every_s,
        "liveness_s": settings.matching.liveness_s,
        "kept_events": settings.session.kept_events,
        "kept_replies": settings.session.kept_replies,
    }


def _messages(schemas: Schemas) -> Document:
    messages: Document = {}
    for exchange in EXCHANGES:
        command = exchange.command
        name, schema = _tag(command), schemas.of(type(command))
        messages[f"command.{name}"] = _message(name, schemas.ref(type(command)), command, schema)
        reply = exchange.on_open_socket or exchange.reply
        if isinstance(reply, Ok):
            payload = _reply_schema(exchange, schemas)
            messages[f"reply.{name}"] = _message("ok", payload, reply, payload)
    error = schemas.of(Error)
    messages["reply.error"] = _message("error", schemas.ref(Error), REFUSAL_EXAMPLE, error)
    for event in EVENT_EXAMPLES:
        name, schema = _tag(event), schemas.of(type(event))
        messages[f"event.{name}"] = _message(name, schemas.ref(type(event)), event, schema)
    return messages


def _message(name: str, payload: Document, example: Any, schema: Document) -> Document:
    return {
        "name": name,
        "title": name,
        "summary": schema.get("description", ""),
        "contentType": JSON,
        "payload": payload,
        "examples": [{"name": name, "payload": example_of(example)}],
    }


def _reply_schema(exchange: Exchange, schemas: Schemas) -> Document:
    """The schema of `ok` as the reply to this command: only the fields that it has."""
    whole = schemas.of(Ok)
    names = ["type", "re", *(name.rstrip("?") for name in exchange.carries)]
    always = ["type", "re", *(name for name in exchange.carries if not name.endswith("?"))]
    return {
        "title": f"Ok to {_tag(exchange.command)}",
        "description": f"`{_tag(exchange.command)}` was carried out.",
        "type": "object",
        "properties": {name: _given(whole["properties"][name]) for name in names},
        "required": always,
    }


def _given(schema: Document) -> Document:
    """The schema of a field that is present: without null where null is only the default."""
    if "default" not in schema:
        return schema
    options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
    if len(options) != 1:
        return schema
    given: Document = dict(options[0])
    if "description" in schema:
        given["description"] = schema["description"]
    return given


def _operations() -> Document:
    def message(key: str) -> Document:
        return {"$ref": f"{_CHANNEL}/messages/{key}"}

    channel = {"$ref": _CHANNEL}
    operations: Document = {}
    for exchange in EXCHANGES:
        name = _tag(exchange.command)
        replies = ["event.welcome"] if isinstance(exchange.reply, Welcome) else []
        if exchange.on_open_socket is not None or not replies:
            replies.append(f"reply.{name}")
        operations[name] = {
            "action": "receive",
            "channel": channel,
            "messages": [message(f"command.{name}")],
            "reply": {
                "channel": channel,
                "messages": [*map(message, replies), message("reply.error")],
            },
            "x-error-codes": [code.value for code in exchange.refusals],
        }
    operations["tell"] = {
        "action": "send",
        "channel": channel,
        "summary": "What the user is told, numbered by `seq` and in order.",
        "messages": [message(f"event.{_tag(event)}") for event in EVENT_EXAMPLES],
    }
    return operations


def _tag(message: msgspec.Struct) -> str:
    return str(message.__struct_config__.tag)
