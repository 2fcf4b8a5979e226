"""The commands that a client may send over the socket, and their decoding.

A message that is not a JSON object is a protocol error and ends the connection. An object that is
not a known command gets an error reply, and has no other effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from yoked_actor.domain.people import USER_ID, check_text
from yoked_actor.wire.surrogates import LONE_SURROGATE, without_lone_surrogates

CommandId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
SubjectId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
RoomId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
InvitationCode = Annotated[str, msgspec.Meta(max_length=200)]
UserId = Annotated[str, msgspec.Meta(pattern=USER_ID)]


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
    room: RoomId | None = None
    code: InvitationCode | None = None


class Watch(Command, frozen=True, kw_only=True, tag="watch"):
    """For an operator: first and in place of `hello`, on a socket that only watches."""

    token: str


class Heartbeat(Command, frozen=True, tag="heartbeat"):
    """A sign of life."""


class Explain(Command, frozen=True, tag="explain"):
    """Ask why nobody has come yet."""


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


class Signal(Command, frozen=True, kw_only=True, tag="signal"):
    """Say something to the partner of the video date; the server does not look at `data`."""

    date_id: SubjectId
    data: msgspec.Raw


class EndDate(Command, frozen=True, kw_only=True, tag="end_date"):
    """Hang up."""

    date_id: SubjectId


class AnswerOffer(Command, frozen=True, kw_only=True, tag="answer_offer"):
    """Answer an offer of the day. The first answer is final."""

    offer_id: SubjectId
    answer: Literal["accept", "decline"]


class StartDate(Command, frozen=True, kw_only=True, tag="start_date"):
    """Call a connection who is online, for a video date. It rings on the other side."""

    connection_id: SubjectId


class AcceptCall(Command, frozen=True, kw_only=True, tag="accept_call"):
    """Accept a call: the video date opens. For the callee."""

    call_id: SubjectId


class DeclineCall(Command, frozen=True, kw_only=True, tag="decline_call"):
    """Decline a call. For the callee."""

    call_id: SubjectId


class CancelCall(Command, frozen=True, kw_only=True, tag="cancel_call"):
    """Stop a call that rings. For the caller."""

    call_id: SubjectId


class StayInTouch(Command, frozen=True, kw_only=True, tag="stay_in_touch"):
    """Say whether to stay in touch with the partner of a date. The first answer is final."""

    date_id: SubjectId
    answer: Literal["yes", "no"]


class EnterRoom(Command, frozen=True, kw_only=True, tag="enter_room"):
    """Go into another room. Only while you are idle."""

    room: RoomId
    code: InvitationCode | None = None


class Block(Command, frozen=True, kw_only=True, tag="block"):
    """Never meet that user (again)."""

    user_id: UserId


class Report(Command, frozen=True, kw_only=True, tag="report"):
    """Report a user to the operator."""

    user_id: UserId
    reason: Reason
    match_id: SubjectId | None = None

    def __post_init__(self) -> None:
        check_text("reason", self.reason)


AnyCommand = (
    Hello
    | Heartbeat
    | Spin
    | Explain
    | Leave
    | Acknowledge
    | Vote
    | EndDate
    | AnswerOffer
    | StartDate
    | AcceptCall
    | DeclineCall
    | CancelCall
    | Signal
    | StayInTouch
    | EnterRoom
    | Block
    | Report
    | Watch
)

COMMANDS: tuple[type[Command], ...] = AnyCommand.__args__


class NotAnObject(Exception):
    """The message is not a JSON object: a protocol error."""


class BadCommand(Exception):
    """The message is an object but not a command. `id` is None when it has no valid one."""

    def __init__(self, message: str, given: Mapping[str, str | None]) -> None:
        super().__init__(message)
        id = given.get("id")
        self.id = id if id is not None and 1 <= len(id) <= 64 else None
        self.message = message
        self.type = given.get("type")
        self.has_token = given.get("token") is not None


_decoder: msgspec.json.Decoder[Command] = msgspec.json.Decoder(AnyCommand)
# Values are not decoded: a number out of range must not hide the id that the error needs.
_loose_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_MOST_SAID = 200
_NAMED = ("id", "type", "token")


def decode_command(text: bytes) -> Command:
    """Decode one command. Raises `NotAnObject` or `BadCommand`."""
    try:
        return _decoder.decode(text)
    except msgspec.ValidationError as error:
        # It may quote the input, and replies are stored.
        problem = _clip(str(error))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        replaced = without_lone_surrogates(text)
        if replaced is None:
            raise NotAnObject("the message is not JSON") from None
        problem, text = LONE_SURROGATE, replaced
    try:
        fields = _loose_decoder.decode(text)
    except msgspec.ValidationError:
        raise NotAnObject("the message is not a JSON object") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise NotAnObject("the message is not JSON") from None
    raise BadCommand(problem, {name: _text_of(fields.get(name)) for name in _NAMED})


def _clip(message: str) -> str:
    return message if len(message) <= _MOST_SAID else f"{message[:_MOST_SAID]}..."


def _text_of(value: msgspec.Raw | None) -> str | None:
    """The text in a field; None for any other value."""
    try:
        return None if value is None else msgspec.json.decode(value, type=str)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
