"""Requests made from the contract, against a real server: what it says is what is done.

Schemathesis makes requests that the contract calls valid, and others that it calls invalid. A valid
one may only be refused for what the request cannot know (a match that is not there, a state); an
invalid one must be refused; and every answer must be one that the contract lists.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode

from tests.process.server import ServerProcess, running_server
from yoked_actor.edge.auth import Tokens
from yoked_actor.wire.contract import openapi

pytestmark = pytest.mark.process

PLENTY = 1_000_000
# These would end the server, or the user who asks.
ENDING = ("/api/admin/drain", "/api/me")
# What a value is refused for though its schema allows it: JSON Schema has no words for these.
BEYOND_WORDS = (
    "min_age <= max_age",
    "give hours or since, not both",
    "you cannot block yourself",
    "until is past",
    "printable characters",
    "must not contain",
    "combining marks in a row",
    "is blank",
    "surrogate pair",
    "Expected `int`, got `float`",  # 18.0 is an integer there
    "Expected `int | null`, got `float`",  # the same rule, for a field that may be null
)


def operations(document: dict[str, Any]) -> dict[str, Any]:
    """The calls of a contract, by their names."""
    schema = schemathesis.openapi.from_dict(document)
    # Unknown parameters are ignored, as unknown fields of bodies are.
    schema.config.generation.update(allow_extra_parameters=False)
    found = [cast(Any, one).ok() for one in schema.get_all_operations()]
    return {one.label: one for one in found if one.path not in ENDING}


def narrowed() -> dict[str, Any]:
    """The contract, with values for what depends on the day, on tzdata and on a setting."""
    document = openapi(only=["always", "dev"])
    profile = document["components"]["schemas"]["Profile"]["properties"]
    profile["birth_date"] = {"enum": ["1950-02-28", "1990-01-01", "2000-02-29"]}
    profile["time_zone"] = {"enum": ["Europe/Berlin", "Asia/Tokyo", "UTC"]}
    profile["interests"]["maxItems"] = document["x-limits"]["max_interests"]
    # The contract does not state the bounds of a room, nor which of its fields go together.
    room = document["components"]["schemas"]["RoomDefinition"]
    room["properties"] = {
        "name": {"enum": ["Jazz", "Friday evening"]},
        "capacity": {"enum": [2, 100, None]},
        "vote_window_s": {"enum": [5.0, 20.0, None]},
        "date_length_s": {"enum": [60.0, 600.0, None]},
    }
    room["additionalProperties"] = False
    return document


VALID = operations(narrowed())
INVALID = {
    label: one
    for label, one in operations(openapi(only=["always", "dev"])).items()
    if one.body or one.query or one.path_parameters
}


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("contract")
    with running_server(
        folder / "data",
        edge__commands_per_s=PLENTY,
        edge__commands_burst=PLENTY,
        privacy__export_every_s=0.001,
        matching__max_blocks=PLENTY,
    ) as server:
        yield server
        assert "request_crashed" not in server.log


def call(server: ServerProcess, case: Case[Any]) -> None:
    secret = (server.data_dir / "dev-secret").read_text()
    now = time.time_ns() // 1000
    token = Tokens("HS256", secret).sign("root", now, 3600.0, admin=True)
    response = case.call(server.url, headers={"Authorization": f"Bearer {token}"})
    excluded: list[Any] = []
    if response.status_code == 400 and any(rule in response.text for rule in BEYOND_WORDS):
        excluded.append(schemathesis.checks.CHECKS.get_one("positive_data_acceptance"))
    case.validate_response(response, excluded_checks=excluded)


# The same few examples every time: this is about the contract, not about chance.
few = settings(
    max_examples=8,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("label", VALID)
def test_what_the_contract_allows_is_taken(server, label):
    @few
    @given(case=VALID[label].as_strategy(generation_mode=GenerationMode.POSITIVE))
    def check(case: Case[Any]) -> None:
        call(server, case)

    check()


@pytest.mark.parametrize("label", INVALID)
def test_what_the_contract_does_not_allow_is_refused(server, label):
    @few
    @given(case=INVALID[label].as_strategy(generation_mode=GenerationMode.NEGATIVE))
    def check(case: Case[Any]) -> None:
        call(server, case)

    check()
