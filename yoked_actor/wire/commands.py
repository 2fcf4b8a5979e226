"""What a client may say over the socket, and how bytes become a command.

A message that is not a JSON object breaks the protocol and ends the connection. An object that is
not a command we know gets an error reply, and nothing else happens.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

CommandId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
SubjectId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class Command(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """A client's command. The same `id` again gets the same reply and has no second effect."""

    id: CommandId


class Resume(msgspec.Struct, frozen=True):
    """Which session a client wants back, and the last event it has seen."""

    session: str
    seq: Annotated[int, msgspec.Meta(ge=0)]


class Hello(Command, frozen=True, kw_only=True, tag="hello"):
    """Must be the first message. Answered by the event `welcome`."""

    token: str
    resume: Resume | None = None


class Heartbeat(Command, frozen=True, tag="heartbeat"):
    """A sign of life."""


class Spin(Command, frozen=True, tag="spin"):
    """Get in line."""


class Leave(Command, frozen=True, tag="leave"):
    """Get out of line, or out of the match."""


class Acknowledge(Command, frozen=True, kw_only=True, tag="acknowledge"):
    """The match is on the screen."""

    match_id: SubjectId


class Vote(Command, frozen=True, kw_only=True, tag="vote"):
    """Vote on the partner. The first vote is final."""

    match_id: SubjectId
    vote: Literal["yes", "pass"]


class EndDate(Command, frozen=True, kw_only=True, tag="end_date"):
    """Hang up."""

    date_id: SubjectId


class Block(Command, frozen=True, kw_only=True, tag="block"):
    """Never meet that user (again)."""

    user_id: SubjectId


class Report(Command, frozen=True, kw_only=True, tag="report"):
    """Report a user to the operator."""

    user_id: SubjectId
    reason: Reason
    match_id: SubjectId | None = None


AnyCommand = Hello | Heartbeat | Spin | Leave | Acknowledge | Vote | EndDate | Block | Report

COMMANDS: tuple[type[Command], ...] = AnyCommand.__args__


class NotAnObject(Exception):
    """The message is not a JSON object: the protocol is broken."""


class BadCommand(Exception):
    """The message is an object, but not a command. `id` is None when it has no usable one."""

    def __init__(self, message: str, given: dict[str, Any]) -> None:
        super().__init__(message)
        id = given.get("id")
        self.id = id if isinstance(id, str) and 1 <= len(id) <= 64 else None
        self.message = message
        self.type = given.get("type")
        self.has_token = isinstance(given.get("token"), str)


_decoder: msgspec.json.Decoder[Command] = msgspec.json.Decoder(AnyCommand)


def decode_command(text: bytes) -> Command:
    """Read one command, or raise `NotAnObject` or `BadCommand`."""
    try:
        return _decoder.decode(text)
    except msgspec.ValidationError as error:
        problem = str(error)
    except (msgspec.DecodeError, RecursionError):
        raise NotAnObject("the message is not JSON") from None
    loose: Any = msgspec.json.decode(text)
    if not isinstance(loose, dict):
        raise NotAnObject("the message is not a JSON object")
    raise BadCommand(problem, loose)
