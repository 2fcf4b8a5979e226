"""How bytes become a command: what is taken, what is refused, and what ends the connection."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.wire.lobby import BadCommand, NotAnObject, decode_command
from yoked_actor.wire.lobby import commands as cmd

GOOD: list[tuple[dict[str, Any], cmd.Command]] = [
    ({"type": "hello", "token": "t"}, cmd.Hello(id="1", token="t")),
    (
        {"type": "hello", "token": "t", "resume": {"session": "1-1", "seq": 0}},
        cmd.Hello(id="1", token="t", resume=cmd.Resume("1-1", 0)),
    ),
    ({"type": "hello", "token": "t", "resume": None}, cmd.Hello(id="1", token="t")),
    ({"type": "heartbeat"}, cmd.Heartbeat(id="1")),
    ({"type": "spin"}, cmd.Spin(id="1")),
    ({"type": "explain"}, cmd.Explain(id="1")),
    ({"type": "leave"}, cmd.Leave(id="1")),
    ({"type": "acknowledge", "match_id": "m1"}, cmd.Acknowledge(id="1", match_id="m1")),
    (
        {"type": "vote", "match_id": "m1", "vote": "yes"},
        cmd.Vote(id="1", match_id="m1", vote="yes"),
    ),
    (
        {"type": "vote", "match_id": "m1", "vote": "pass"},
        cmd.Vote(id="1", match_id="m1", vote="pass"),
    ),
    (
        {"type": "signal", "date_id": "d1", "data": {"a": [1, None]}},
        cmd.Signal(id="1", date_id="d1", data=msgspec.Raw(b'{"a": [1, null]}')),
    ),
    ({"type": "end_date", "date_id": "d1"}, cmd.EndDate(id="1", date_id="d1")),
    (
        {"type": "answer_offer", "offer_id": "o1", "answer": "decline"},
        cmd.AnswerOffer(id="1", offer_id="o1", answer="decline"),
    ),
    ({"type": "start_date", "connection_id": "c1"}, cmd.StartDate(id="1", connection_id="c1")),
    ({"type": "accept_call", "call_id": "r1-2"}, cmd.AcceptCall(id="1", call_id="r1-2")),
    ({"type": "decline_call", "call_id": "r1-2"}, cmd.DeclineCall(id="1", call_id="r1-2")),
    ({"type": "cancel_call", "call_id": "r1-2"}, cmd.CancelCall(id="1", call_id="r1-2")),
    (
        {"type": "stay_in_touch", "date_id": "d1", "answer": "no"},
        cmd.StayInTouch(id="1", date_id="d1", answer="no"),
    ),
    ({"type": "enter_room", "room": "jazz"}, cmd.EnterRoom(id="1", room="jazz")),
    (
        {"type": "enter_room", "room": "jazz", "code": "open"},
        cmd.EnterRoom(id="1", room="jazz", code="open"),
    ),
    ({"type": "block", "user_id": "ben"}, cmd.Block(id="1", user_id="ben")),
    (
        {"type": "report", "user_id": "ben", "reason": "rude"},
        cmd.Report(id="1", user_id="ben", reason="rude"),
    ),
    (
        {"type": "report", "user_id": "ben", "reason": "rude", "match_id": "m1"},
        cmd.Report(id="1", user_id="ben", reason="rude", match_id="m1"),
    ),
    ({"type": "watch", "token": "t"}, cmd.Watch(id="1", token="t")),
]

HUGE = ["9" * 5000, "1e400", "-1e400", "1" + "0" * 400 + ".5"]


def text(message: Any) -> bytes:
    return json.dumps(message).encode()


@pytest.mark.parametrize(("fields", "command"), GOOD)
def test_a_good_command_is_read(fields: dict[str, Any], command: cmd.Command) -> None:
    assert decode_command(text({**fields, "id": "1"})) == command


def test_every_kind_of_command_is_among_the_good_ones() -> None:
    assert {type(command) for _, command in GOOD} == set(cmd.COMMANDS)


def test_the_type_may_come_last_and_unknown_fields_are_ignored() -> None:
    message = b'{"id": "1", "mood": {"deep": [1, 2]}, "type": "spin"}'
    assert decode_command(message) == cmd.Spin(id="1")


@pytest.mark.parametrize("id", ["1", "x" * 64, "💘" * 64, " ", "\u0000"])
def test_an_id_has_1_to_64_characters_of_any_kind(id: str) -> None:
    assert decode_command(text({"type": "spin", "id": id})).id == id


@pytest.mark.parametrize("id", ["", "x" * 65, 1, None, ["1"], {}, True, 1.5])
def test_an_id_of_another_kind_cannot_be_replied_to(id: Any) -> None:
    with pytest.raises(BadCommand) as caught:
        decode_command(text({"type": "spin", "id": id}))
    assert caught.value.id is None


def test_a_command_without_an_id_cannot_be_replied_to() -> None:
    with pytest.raises(BadCommand, match="id") as caught:
        decode_command(b'{"type": "spin"}')
    assert caught.value.id is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"type": "dance"},
        {"type": "SPIN"},
        {"type": ""},
        {"type": None},
        {"type": 7},
        {"type": ["spin"]},
        {"type": "welcome"},
        {"type": "acknowledge"},
        {"type": "acknowledge", "match_id": ""},
        {"type": "acknowledge", "match_id": "m" * 65},
        {"type": "acknowledge", "match_id": 1},
        {"type": "vote", "match_id": "m1"},
        {"type": "vote", "match_id": "m1", "vote": "idle"},
        {"type": "vote", "match_id": "m1", "vote": "YES"},
        {"type": "vote", "match_id": "m1", "vote": True},
        {"type": "report", "user_id": "ben"},
        {"type": "report", "user_id": "ben", "reason": ""},
        {"type": "report", "user_id": "ben", "reason": "x" * 1001},
        {"type": "hello", "token": 1},
        {"type": "hello", "token": "t", "resume": {"session": "1-1"}},
        {"type": "hello", "token": "t", "resume": {"session": "1-1", "seq": -1}},
        {"type": "hello", "token": "t", "resume": {"session": "1-1", "seq": 0.5}},
        {"type": "hello", "token": "t", "resume": []},
    ],
)
def test_an_object_that_is_no_command_is_refused_by_its_id(fields: dict[str, Any]) -> None:
    with pytest.raises(BadCommand) as caught:
        decode_command(text({**fields, "id": "mine"}))
    assert caught.value.id == "mine"
    assert caught.value.message
    assert (caught.value.type == "hello") == (fields.get("type") == "hello")


def test_a_refused_hello_tells_whether_it_had_a_token() -> None:
    with pytest.raises(BadCommand) as caught:
        decode_command(b'{"type": "hello", "id": "1"}')
    assert not caught.value.has_token
    with pytest.raises(BadCommand) as caught:
        decode_command(b'{"type": "hello", "id": 1, "token": "t"}')
    assert caught.value.has_token


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b" ",
        b"spin",
        b"{",
        b'{"type": "spin", "id": "1"',
        b'{"type": "spin", "id": "1"}{}',
        b"{'type': 'spin'}",
        b'{"type": "spin", "id": "\xff"}',
        b'{"type": "spin", "id": NaN}',
        b"\x00",
        b"null",
        b"[]",
        b'"spin"',
        b"7",
        b"true",
    ],
)
def test_what_is_not_a_json_object_breaks_the_protocol(message: bytes) -> None:
    with pytest.raises(NotAnObject):
        decode_command(message)


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_nesting_without_end_breaks_the_protocol_and_nothing_else(opening: bytes) -> None:
    with pytest.raises(NotAnObject):
        decode_command(opening * 8000)


def test_an_unknown_field_that_is_too_deep_breaks_the_protocol_and_nothing_else() -> None:
    deep = b"[" * 5000 + b"]" * 5000
    with pytest.raises(NotAnObject):
        decode_command(b'{"type": "spin", "id": "1", "deep": ' + deep + b"}")


@pytest.mark.parametrize("number", ["1e-9999", "0." + "1" * 5000, *HUGE])
def test_numbers_of_any_size_get_an_answer(number: str) -> None:
    resume = f'{{"session": "s", "seq": {number}}}'
    for message in (
        f'{{"type": "hello", "id": "1", "token": "t", "resume": {resume}}}',
        f'{{"type": {number}, "id": "1"}}',
        f'{{"type": "dance", "id": "1", "odds": {number}}}',
    ):
        with pytest.raises(BadCommand) as caught:
            decode_command(message.encode())
        assert caught.value.id == "1"
    unknown = f'{{"type": "spin", "id": "1", "odds": {number}}}'
    assert decode_command(unknown.encode()) == cmd.Spin(id="1")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
tags = st.sampled_from([str(kind.__struct_config__.tag) for kind in cmd.COMMANDS]) | st.text()
near_misses = st.fixed_dictionaries(
    {"type": tags | json_values},
    optional=dict.fromkeys(
        ("id", "token", "resume", "match_id", "vote", "user_id", "reason", "date_id"), json_values
    ),
)


@given(st.binary(max_size=200) | near_misses.map(text) | json_values.map(text))
def test_whatever_comes_is_a_command_or_refused(message: bytes) -> None:
    try:
        command = decode_command(message)
    except (BadCommand, NotAnObject):
        return
    assert isinstance(command, cmd.COMMANDS)
    # What was taken is the same when it is said again.
    assert decode_command(msgspec.json.encode(command)) == command
