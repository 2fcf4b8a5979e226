"""What a signal may carry: whatever every client can read."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.wire.lobby import problem_with
from yoked_actor.wire.lobby.signal_data import DEEPEST

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
    max_leaves=20,
)


@given(_VALUES)
def test_any_json_will_do(value: object) -> None:
    assert problem_with(msgspec.Raw(json.dumps(value).encode())) is None


@pytest.mark.parametrize(
    "data", [b"1e999", b"-1e999", b"9" * 5000, b'{"a": [1e400]}', b'"\\ud800"', b'"\xff"']
)
def test_what_some_clients_cannot_read_is_refused(data: bytes) -> None:
    assert "not every client" in (problem_with(msgspec.Raw(data)) or "")


@pytest.mark.parametrize("inside", [b"", b"1"])
def test_data_is_nested_so_deep_at_most(inside: bytes) -> None:
    def nested(depth: int) -> msgspec.Raw:
        return msgspec.Raw(b"[" * depth + inside + b"]" * depth)

    assert problem_with(nested(DEEPEST)) is None
    assert "deeper" in (problem_with(nested(DEEPEST + 1)) or "")
    assert problem_with(nested(4000)) is not None


def test_objects_are_as_deep_as_lists() -> None:
    data = b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1)
    assert "deeper" in (problem_with(msgspec.Raw(data)) or "")
