"""What a node makes of the rows of nodes and leases: whom it names, and when it looks again."""

from __future__ import annotations

import pytest

from yoked_actor.actors.nodes import Directory
from yoked_actor.domain.nodes import HeldLease, Node

LEASE_S = 6.0
EVERY_S = 2.0
ROOMS = {"main", "jazz"}


def directory(*leases: HeldLease, silent_s: float = 0.5) -> Directory:
    seen = Directory("a", LEASE_S)
    nodes = [Node("a", "http://a.test", 1, 0.0), Node("b", "http://b.test", 2, silent_s)]
    seen.update(nodes, leases, 100.0)
    return seen


def mine(left_s: float = 6.0) -> HeldLease:
    return HeldLease("main", "a", 1, left_s)


def theirs(left_s: float, here: int = 0) -> HeldLease:
    return HeldLease("jazz", "b", 1, left_s, here)


@pytest.mark.parametrize(
    ("left_s", "silent_s", "looks_after_s"),
    [
        (5.9, 0.5, 2.0),  # all is well
        (4.5, 1.5, 1.52),  # its node would be doubted before the next look
        (2.5, 3.5, 0.5),  # doubted: clients wait for what becomes of it
        (0.3, 5.7, 0.32),  # the lease expires before the next look
        (1.5, 5.8, 0.22),  # the node counts as gone before the next look
        (-0.1, 6.1, 0.5),  # no node has the room
    ],
)
def test_the_next_look_is_when_something_changes_if_the_other_node_stays_silent(
    left_s: float, silent_s: float, looks_after_s: float
) -> None:
    seen = directory(mine(), theirs(left_s), silent_s=silent_s)
    assert seen.next_look_s(ROOMS) == pytest.approx(looks_after_s)


def test_a_room_that_never_had_a_node_is_looked_for_often() -> None:
    assert directory(mine()).next_look_s(ROOMS) == EVERY_S / 4
    assert directory(mine()).next_look_s({"main"}) == EVERY_S


def test_a_lease_of_a_room_that_nobody_wants_does_not_matter() -> None:
    assert directory(mine(), theirs(0.5)).next_look_s({"main"}) == EVERY_S


def test_a_node_that_missed_a_renewal_is_not_named_to_clients() -> None:
    assert directory(theirs(3.9)).url_of("jazz") == "http://b.test"
    assert directory(theirs(2.9)).url_of("jazz") is None
    assert directory(theirs(-1.0)).url_of("jazz") is None
    assert directory(mine()).url_of("main") is None
    # Its room is its own all the same.
    assert directory(theirs(2.9)).owners == {"jazz": "b"}


def test_the_users_of_a_room_count_while_its_lease_is_valid() -> None:
    assert directory(theirs(4.0, here=7)).here("jazz") == 7
    assert directory(theirs(-1.0, here=7)).here("jazz") == 0
    assert directory(theirs(4.0, here=7)).here("nowhere") == 0


def test_a_room_that_had_no_node_for_longer_than_a_look_is_an_orphan() -> None:
    assert directory(theirs(-2.4)).orphans == set()
    assert directory(theirs(-2.6)).orphans == {"jazz"}


def test_a_room_is_taken_by_a_node_that_has_renewed_in_time() -> None:
    assert directory(silent_s=2.9).prompt == {"a", "b"}
    assert directory(silent_s=3.1).prompt == {"a"}
    # It counts as live all the same: its rooms are its own.
    assert directory(silent_s=3.1).live == {"a", "b"}
