"""What a run computes for many receivers at once, compared with one receiver after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.domain.geometry import angles_of
from yoked_actor.domain.matching import Limits
from yoked_actor.domain.offers import ONE, candidates, columns, packed, tags
from yoked_actor.domain.offers.blocks import Block, Ranges
from yoked_actor.domain.offers.breathing import breathing
from yoked_actor.domain.offers.frozen_pool import Pairs
from yoked_actor.domain.offers.keys import best_keys, keys_of, read_key
from yoked_actor.domain.offers.scoring import content, distance_cost

RANGES = st.lists(
    st.builds(
        lambda start, length, every: range(start, start + length, every),
        st.integers(0, 200),
        st.integers(0, 100),
        st.integers(1, 5),
    ),
    max_size=12,
)


def checked_in(block: Block, ranges: Ranges) -> list[tuple[int, set[int]]]:
    """The receivers of a block, and the places that each of them checks."""
    places = range(block.places.start, block.places.stop, block.places.step)
    assert len(places) == block.width
    found = []
    for member in range(block.members.start, block.members.stop):
        first, last = int(ranges.firsts[member]), int(ranges.lasts[member])
        mine = places[first - block.first : last - block.first]
        found.append((int(ranges.order[member]), set(mine)))
    return found


@given(RANGES, st.integers(1, 500))
def test_every_receiver_is_in_one_block_with_the_places_that_are_checked(
    given_ranges: list[range], most: int
) -> None:
    columns = [(one.start, one.stop, one.step) for one in given_ranges]
    starts, stops, every = np.array(columns, np.int64).reshape(-1, 3).T
    ranges = Ranges(starts, stops, every)
    found = []
    for block in ranges.blocks(most):
        members = checked_in(block, ranges)
        assert len(members) == 1 or len(members) * block.width <= most
        found += members
    assert sorted(position for position, _ in found) == list(range(len(given_ranges)))
    assert all(places == set(given_ranges[position]) for position, places in found)


def test_receivers_who_check_the_same_places_share_a_block() -> None:
    starts, stops = np.array([3, 9, 4, 3]), np.array([60, 60, 60, 30])
    blocks = list(Ranges(starts, stops, np.array([3, 3, 3, 3])).blocks(1_000))
    # 3 and 9 are of one phase, 4 is not.
    assert [block.members.stop - block.members.start for block in blocks] == [3, 1]


@given(
    st.lists(st.integers(18, 90), max_size=80),
    st.lists(
        st.tuples(st.integers(18, 120), st.integers(18, 32_000), st.integers(0, 2**64 - 1)),
        min_size=1,
        max_size=8,
    ),
    st.integers(1, 30),
)
def test_many_check_what_each_of_them_checks_alone(
    ages: list[int], receivers: list[tuple[int, int, int]], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "MOST_CHECKED", most)
        listed = candidates.Listed(np.arange(len(ages)), np.array(ages, np.int16))
        young, old, seeds = zip(*receivers, strict=True)
        columns = listed.all_checked(np.array(young), np.array(old), np.array(seeds, np.uint64))
        for (min_age, max_age, seed), start, stop, every in zip(
            receivers, *(column.tolist() for column in columns), strict=True
        ):
            alone = listed.checked(Limits(min_age, max_age, 1.0), seed)
            assert range(start, stop, every) == range(alone.start, alone.stop, alone.step)


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9))), st.lists(st.integers(0, 9)))
def test_the_pairs_of_many_people_are_those_of_each(
    pairs: set[tuple[int, int]], people: list[int]
) -> None:
    packed = np.array(sorted(a << 32 | b for a, b in pairs), np.int64)
    found = Pairs(packed, 10)
    which, others = found.of_all(np.array(people, np.int64))
    expected = [
        (position, other) for position, one in enumerate(people) for other in found[one].tolist()
    ]
    assert list(zip(which.tolist(), others.tolist(), strict=True)) == expected
    assert {(one, other) for one in range(10) for other in found[one].tolist()} == pairs


@given(
    st.lists(st.sets(st.integers(0, 150), max_size=12), min_size=2, max_size=20),
    st.sampled_from((2, 64, 256)),
    st.data(),
)
def test_likeness_and_shared_tags_are_those_of_the_sets(
    people: list[set[int]], common: int, data: st.DataObject
) -> None:
    named = [tuple(sorted(f"t{tag}" for tag in one)) for one in people]
    numbers = st.integers(0, len(people) - 1)
    ones = data.draw(st.lists(numbers, min_size=1, max_size=4))
    drawn = st.tuples(st.integers(0, len(ones) - 1), numbers)
    # Nobody is compared with themselves: a tag that one person has is not looked at.
    pairs = st.lists(drawn.filter(lambda pair: ones[pair[0]] != pair[1]), max_size=30)
    which, others = np.array(sorted(data.draw(pairs)), np.int64).reshape(-1, 2).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags, "_COMMON_TAGS", common)
        made = tags.Tags(named)
    rows = np.array(ones, np.int64)
    mine = rows[which]
    expected = [set(named[a]) & set(named[b]) for a, b in zip(mine, others, strict=True)]
    counts = np.bincount(which, minlength=len(ones))
    both = made.words.take(mine, axis=1)
    both &= made.words.take(others, axis=1)
    found = packed._count_bits(both)
    found += made.rare(rows, counts, others)
    assert found.tolist() == [len(one) for one in expected]
    assert made.counts.tolist() == [len(one) for one in named]
    assert made.shared(mine, others) == [tuple(sorted(one)) for one in expected]


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 2**31)), unique=True, max_size=50),
    st.integers(1, 40),
)
def test_the_best_keys_are_the_highest_scores_and_then_the_lowest_numbers(
    pairs: list[tuple[int, int]], count: int
) -> None:
    scores, numbers = np.array(pairs, np.int64).reshape(-1, 2).T
    keys = best_keys(keys_of(scores, numbers), count)
    best = sorted((-score, number) for score, number in pairs)[:count]
    assert [read_key(key) for key in keys.tolist()] == [(number, -score) for score, number in best]


@given(st.lists(st.tuples(st.floats(-90, 90), st.floats(-180, 180)), max_size=30), st.booleans())
def test_positions_on_the_globe_are_those_of_math(
    positions: list[tuple[float, float]], all_unsure: bool
) -> None:
    exact = [angles_of(*position) for position in positions]
    angles = np.array(exact, np.float64).reshape(-1, 3)
    if all_unsure:
        # The angles of NumPy would be wrong: each position is computed again.
        angles = angles + 1e-12
    with pytest.MonkeyPatch.context() as patch:
        if all_unsure:
            patch.setattr(columns, "_UNSURE", 1.0)
        found = columns._spots(angles, np.array(positions, np.float64).reshape(-1, 2))
    assert found.tolist() == [list(columns._on_globe(*one)) for one in exact]


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, ONE), st.integers(0, 120)), max_size=50))
def test_the_cost_of_a_distance_is_that_of_content(pairs: list[tuple[float, int, int]]) -> None:
    shares = np.array([share for share, _, _ in pairs], np.float64)
    alike = np.array([alike for _, alike, _ in pairs], np.int64)
    years = np.array([years for _, _, years in pairs], np.int64)
    lost = np.minimum(shares * ONE, ONE).astype(np.int64)
    expected = content(years, alike, lost)
    assert (content(years, alike, 0) - distance_cost(shares)).tolist() == expected.tolist()


def test_values_stay_the_same_and_there_are_pauses_between_them() -> None:
    pauses: list[int] = []
    given_out: list[int] = []
    for value in breathing(range(1000), lambda: pauses.append(len(given_out))):
        given_out.append(value)
    assert given_out == list(range(1000))
    assert pauses == list(range(0, 1000, 128))
