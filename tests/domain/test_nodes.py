"""Which node serves which room, and how long a lease is valid."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.domain.nodes import HeldLease, Moves, Node, moves_of, renew_every_s, spread

NODES = ("a", "b", "c")
ROOMS = ("blue", "green", "main", "red", "violet")


def owned(of: dict[str, str]) -> Counter[str]:
    return Counter(of.values())


def moved(before: dict[str, str], after: dict[str, str], nodes: tuple[str, ...]) -> int:
    return sum(node in nodes and after[room] != node for room, node in before.items())


@given(
    st.dictionaries(st.sampled_from(ROOMS), st.sampled_from(NODES)),
    st.sets(st.sampled_from(NODES), min_size=1),
)
def test_the_spread_is_even_and_no_other_even_spread_moves_fewer_rooms(owners, nodes):
    placed = spread(ROOMS, nodes, owners)
    counts = [owned(placed)[node] for node in nodes]
    assert set(placed) == set(ROOMS)
    assert set(placed.values()) <= nodes
    assert max(counts) - min(counts) <= 1
    fewest = min(
        moved(owners, dict(zip(ROOMS, choice, strict=True)), tuple(nodes))
        for choice in product(sorted(nodes), repeat=len(ROOMS))
        if max(c := [choice.count(node) for node in nodes]) - min(c) <= 1
    )
    assert moved(owners, placed, tuple(nodes)) == fewest


@given(
    st.permutations(ROOMS),
    st.permutations(NODES),
    st.dictionaries(st.sampled_from(ROOMS), st.sampled_from(NODES)),
)
def test_every_node_computes_the_same_spread(rooms, nodes, owners):
    shuffled = dict(sorted(owners.items(), reverse=True))
    assert spread(rooms, nodes, shuffled) == spread(ROOMS, NODES, owners)


def test_a_spread_stays_as_it_is_when_nothing_changes():
    placed = spread(ROOMS, NODES, {})
    assert spread(ROOMS, NODES, placed) == placed


def test_the_rooms_of_a_node_that_has_gone_are_shared_by_the_others():
    before = spread(ROOMS, NODES, {})
    after = spread(ROOMS, ("a", "c"), before)
    assert all(after[room] == node for room, node in before.items() if node != "b")
    assert sorted(owned(after).values()) == [2, 3]


def test_a_new_node_gets_its_share_and_no_room_moves_between_the_others():
    before = spread(ROOMS, ("a", "b"), {})
    after = spread(ROOMS, NODES, before)
    changed = {room for room in ROOMS if before[room] != after[room]}
    assert {after[room] for room in changed} == {"c"}
    assert len(changed) == 1


def test_without_nodes_no_room_is_served():
    assert spread(ROOMS, (), {}) == {}


def test_with_one_room_one_node_serves_it_and_the_others_stand_by():
    assert moves_of("a", ["main"], NODES, {}) == Moves(("main",), ())
    assert moves_of("b", ["main"], NODES, {}) == Moves((), ())
    # Node a has gone, and its lease has expired.
    assert moves_of("b", ["main"], ("b", "c"), {}) == Moves(("main",), ())
    # Node a is back: the room stays where it is.
    assert moves_of("a", ["main"], NODES, {"main": "b"}) == Moves((), ())
    assert moves_of("b", ["main"], NODES, {"main": "b"}) == Moves((), ())


def test_a_room_whose_lease_is_valid_is_not_taken_from_a_silent_node():
    owners = {"main": "a"}
    assert moves_of("b", ["main"], ("b",), owners) == Moves((), ())


def test_a_node_gives_a_room_only_to_another_live_node():
    owners = dict.fromkeys(("blue", "green"), "a")
    assert moves_of("a", owners, ("a",), owners) == Moves((), ())
    assert moves_of("a", owners, ("a", "b"), owners) == Moves((), ("green",))
    # A node that is not live itself gives nothing: nobody is there to take it.
    assert moves_of("a", owners, (), owners) == Moves((), ())


def test_two_renewals_may_fail_before_a_lease_expires():
    assert renew_every_s(6.0) == 2.0


@pytest.mark.parametrize(("left_s", "valid"), [(0.1, True), (0.0, False), (-3.0, False)])
def test_a_lease_is_valid_until_it_expires(left_s, valid):
    assert HeldLease("main", "a", 7, left_s).is_valid is valid


def test_a_node_is_live_while_it_was_heard_within_the_life_of_a_lease():
    assert Node("a", "http://a", 1, 5.9).is_live(6.0)
    assert not Node("a", "http://a", 1, 6.0).is_live(6.0)


def test_a_room_that_the_right_node_does_not_take_is_taken_by_any_other():
    owners = {"main": "a", "red": "c"}
    [right] = {node for node in NODES if "blue" in moves_of(node, ROOMS, NODES, owners).take}
    for node in NODES:
        taken = moves_of(node, ROOMS, NODES, owners, {"blue"}).take
        assert "blue" in taken
        assert set(taken) - {"blue"} == set(moves_of(node, ROOMS, NODES, owners).take) - {"blue"}
    # A room with a valid lease is nobody else's.
    taken = moves_of("b", ROOMS, NODES, {**owners, "blue": right}, {"blue"}).take
    assert "blue" not in taken
