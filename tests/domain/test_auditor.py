"""The auditor finds broken invariants: each test breaks one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from tests.domain.crowds import man, person, woman
from tests.domain.evening import Evening
from yoked_actor.domain.lobby import Floor, MatchStatus, State, audit_floor, audit_users
from yoked_actor.domain.matching import Ticket

ANA, BEN, CLEO = woman("ana"), man("ben"), woman("cleo")


@pytest.fixture
def evening() -> Evening:
    """Ana and Ben are matched; Cleo waits."""
    evening = Evening()
    evening.pair(ANA, BEN)
    evening.enter(CLEO)
    evening.spin("cleo")
    return evening


def _spoil_seat(user_id: str, **changes: Any) -> Callable[[Floor], None]:
    def spoil(floor: Floor) -> None:
        floor.seats.rows[user_id] = replace(floor.seat(user_id), **changes)

    return spoil


def _spoil_match(**changes: Any) -> Callable[[Floor], None]:
    def spoil(floor: Floor) -> None:
        floor.matches.rows["m1"] = replace(floor.matches.rows["m1"], **changes)

    return spoil


def _give_ticket(floor: Floor) -> None:
    floor.pool.put(Ticket(ANA, 0, 0), 0)


def _add_compatible_ticket(floor: Floor) -> None:
    floor.pool.put(Ticket(person("zoe", "man", "woman"), 0, 0), 0)


def test_a_floor_in_order_gives_nothing_to_find(evening: Evening) -> None:
    assert audit_floor(evening.floor, evening.now) == []


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (_spoil_seat("ana", match_id="m9"), "not an open match"),
        (_spoil_seat("ana", state=State.VOTING), "the partner is not"),
        (_spoil_seat("ana", state=State.WAITING), "has the match"),
        (_spoil_seat("ana", waiting_since=None), "waiting_since"),
        (_spoil_seat("cleo", match_id="m1"), "has the match"),
        (_spoil_seat("cleo", state=State.IDLE), "with waiting_since"),
        (_spoil_seat("cleo", state=State.MATCHED, match_id="m1"), "between ana and ben"),
        (_spoil_seat("cleo", date_id="d9"), "not an open date"),
        (_spoil_match(ended_at=1), "not an open match"),
        (_spoil_match(status=MatchStatus.VOTING), "is voting"),
        (_spoil_match(closes_at=None), "no window"),
        (_spoil_match(a="ben", b="ana"), "between ben and ana"),
        (lambda floor: floor.pool.discard("cleo"), "without one"),
        (_give_ticket, "does not wait"),
        (_add_compatible_ticket, "could meet"),
        (lambda floor: floor._timed.pop("cleo"), "no deadline"),
    ],
)
def test_what_is_spoiled_is_found(evening: Evening, spoil, word: str) -> None:
    spoil(evening.floor)
    assert any(word in problem for problem in audit_floor(evening.floor, evening.now))


def test_an_open_match_that_is_not_its_users_match_is_found(evening: Evening) -> None:
    for user_id in ("ana", "ben"):
        _spoil_seat(user_id, state=State.IDLE, match_id=None, waiting_since=None)(evening.floor)
    assert audit_floor(evening.floor, evening.now) == [
        "m1: open, but not the match of both its users"
    ]


def test_the_cheap_audit_looks_only_at_whom_it_is_given(evening: Evening) -> None:
    _spoil_seat("ana", waiting_since=None)(evening.floor)
    assert audit_users(evening.floor, ["cleo", "nobody"]) == []
    assert len(audit_users(evening.floor, ["ana", "cleo"])) == 1
