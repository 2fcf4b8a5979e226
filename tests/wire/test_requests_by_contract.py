"""Requests made from the contract, against a real server: what it says is what is done.

Schemathesis makes requests that the contract calls valid, and others that it calls invalid. A valid
one may only be refused for what the request cannot know (a match that is not there, a state); an
invalid one must be refused; and every answer must be one that the contract lists.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode

from tests.process.house import House, open_house
from yoked_actor.edge.auth import Tokens
from yoked_actor.wire.contract import openapi

pytestmark = pytest.mark.process

PLENTY = 1_000_000
# These would end the server, or the user who asks.
ENDING = ("/api/admin/drain", "/api/me")

contract = schemathesis.openapi.from_dict(openapi(only=["always", "dev"]))
OPERATIONS = {
    found.ok().label: found.ok()
    for found in contract.get_all_operations()
    if found.ok().path not in ENDING
}


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("contract")
    with open_house(
        folder / "data",
        edge__commands_per_s=PLENTY,
        edge__commands_burst=PLENTY,
        privacy__export_every_s=0.001,
        matching__max_blocks=PLENTY,
    ) as house:
        yield house
        assert "request_crashed" not in house.log


@pytest.mark.parametrize("mode", GenerationMode)
@pytest.mark.parametrize("label", OPERATIONS)
def test_a_call_does_what_the_contract_says(house, label, mode):
    secret = (house.data_dir / "dev-secret").read_text()
    now = time.time_ns() // 1000
    token = Tokens("HS256", secret).sign("root", now, 3600.0, admin=True)

    @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
    @settings(
        max_examples=25,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    def check(case: schemathesis.Case) -> None:
        case.call_and_validate(house.url, headers={"Authorization": f"Bearer {token}"})

    check()
