"""Commands and events of the socket, and the live loop over HTTP."""

from __future__ import annotations

from yoked_actor.wire.lobby import commands, events, http, rendering
from yoked_actor.wire.lobby.commands import (
    BadCommand,
    Command,
    Hello,
    InvitationCode,
    NotAnObject,
    Reason,
    SubjectId,
    UserId,
    Watch,
    decode_command,
)
from yoked_actor.wire.lobby.encoding import encode
from yoked_actor.wire.lobby.events import Draining, Ending, Event, IceServers, OfferPart, Welcome
from yoked_actor.wire.lobby.rendering import event_of, offer_parts
from yoked_actor.wire.lobby.replies import moved_error, ok_reply, refusal_error, suspended_error
from yoked_actor.wire.lobby.reply_messages import Error, Ok, OkAt, OkMessage
from yoked_actor.wire.lobby.signal_data import problem_with

__all__ = [
    "BadCommand",
    "Command",
    "Draining",
    "Ending",
    "Error",
    "Event",
    "Hello",
    "IceServers",
    "InvitationCode",
    "NotAnObject",
    "OfferPart",
    "Ok",
    "OkAt",
    "OkMessage",
    "Reason",
    "SubjectId",
    "UserId",
    "Watch",
    "Welcome",
    "commands",
    "decode_command",
    "encode",
    "event_of",
    "events",
    "http",
    "moved_error",
    "offer_parts",
    "ok_reply",
    "problem_with",
    "refusal_error",
    "rendering",
    "suspended_error",
]
