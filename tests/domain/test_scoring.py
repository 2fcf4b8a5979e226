"""Scores of two people: the documented formulas, their bounds, and the reasons."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.domain.offers import ONE, Facts
from yoked_actor.domain.offers.scoring import (
    POINT,
    SCORERS,
    ContentScorer,
    ReciprocalScorer,
    chance,
    content,
    likeness,
    reasons,
    terms,
)

NOBODY = np.zeros(0, np.bool_)
counts = st.integers(0, 60).flatmap(lambda cast: st.tuples(st.integers(0, cast), st.just(cast)))
histories = st.lists(
    st.tuples(counts, counts).map(lambda two: (*two[0], *two[1])), min_size=2, max_size=6
)


@given(st.integers(0, 80), st.floats(-1, 1), st.floats(0, 1))
def test_points_are_those_of_the_written_formula(gap, alike, far):
    written = min(100.0, max(0.0, 60 - 4 * min(gap, 10) + 40 * alike - 10 * far))
    points = int(content(gap, round(alike * ONE), round(far * ONE)))
    assert points / POINT == pytest.approx(written, abs=0.0003)
    assert 0 <= points <= ONE


def test_points_of_many_are_the_points_of_each():
    gaps, alike, far = np.array([0, 3, 50]), np.array([0, ONE, -ONE]), np.array([0, 5, ONE])
    each = [int(content(*three)) for three in zip(gaps, alike, far, strict=True)]
    assert content(gaps, alike, far).tolist() == each


@given(st.frozensets(st.sampled_from("abcdefgh")), st.frozensets(st.sampled_from("abcdefgh")))
def test_likeness_is_the_shared_part_of_all_that_either_named(a, b):
    alike = likeness(len(a & b), len(a), len(b))
    assert alike == likeness(len(a & b), len(b), len(a))
    assert alike / ONE == pytest.approx(len(a & b) / (len(a | b) + 2), abs=1e-6)


def test_one_tag_in_common_says_less_than_five():
    assert likeness(1, 1, 1) < likeness(5, 5, 5) < ONE


@given(st.integers(-9_000_000, 9_000_000))
def test_a_chance_is_the_logistic_function(logit):
    bounded = max(-8.388608, min(8.388608, logit / ONE))
    assert chance(np.array([logit]))[0] / 1e9 == pytest.approx(1 / (1 + exp(-bounded)), abs=2e-6)


def test_a_greater_logit_never_has_a_smaller_chance():
    logits = np.arange(-8_400_000, 8_400_000, 997)
    assert (np.diff(chance(logits)) >= 0).all()


def written_v2(votes: list[tuple[int, int, int, int]], a: int, b: int, points: float) -> float:
    """The formula of v2 as the documents give it, in floats."""
    yes, cast = sum(row[0] for row in votes), sum(row[1] for row in votes)
    base = (yes + 42) / (cast + 100)

    def logit(rate: float) -> float:
        return log(rate / (1 - rate))

    def shift(said: int, of: int) -> float:
        return logit((said + 4 * base) / (of + 4)) - logit(base)

    def says(i: int, j: int) -> float:
        given_by, got_by = shift(*votes[i][:2]), shift(*votes[j][2:])
        return 1 / (1 + exp(-(logit(base) + given_by + got_by + 0.01 * (points - 54))))

    return says(a, b) * says(b, a)


@given(histories, st.integers(0, 100))
def test_v2_is_the_written_formula(votes, points):
    scorer = ReciprocalScorer(np.array(votes))
    score = scorer.scores(0, np.array([1]), np.array([points * POINT]), NOBODY)
    assert score[0] / ONE == pytest.approx(written_v2(votes, 0, 1, points), abs=1e-5)


@pytest.mark.parametrize("version", SCORERS)
@given(votes=histories, points=st.integers(0, ONE))
def test_a_score_is_a_whole_number_and_the_same_both_ways_round(version, votes, points):
    scorer = SCORERS[version](np.array(votes))
    given_points = np.array([points])
    there = scorer.scores(0, np.array([1]), given_points, NOBODY)
    back = scorer.scores(1, np.array([0]), given_points, NOBODY)
    assert there.dtype == np.int64
    assert there.tolist() == back.tolist()
    assert 0 <= there[0] <= ONE


def test_few_votes_move_a_score_less_than_many_of_the_same_kind():
    votes = [(0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 2, 2), (0, 0, 20, 20), (0, 0, 0, 20)]
    scores = ReciprocalScorer(np.array(votes)).scores(
        0, np.array([1, 2, 3, 4]), np.full(4, 54 * POINT), NOBODY
    )
    assert scores[3] < scores[0] < scores[1] < scores[2]


def test_a_user_who_has_accepted_has_the_probability_one():
    scorer = ReciprocalScorer(np.array([(0, 0, 0, 0)] * 3))
    points = np.full(2, 54 * POINT)
    known, unknown = scorer.scores(0, np.array([1, 2]), points, np.array([True, False]))
    assert known / ONE == pytest.approx((unknown / ONE) ** 0.5, abs=1e-5)


def test_known_scores_never_change():
    """An old set must verify: other numbers need a new version."""
    rows = [(5, 8, 2, 9), (1, 9, 8, 9), (0, 0, 0, 0), (30, 40, 3, 41)]
    votes = np.array(rows)
    others, points = np.array([1, 2, 3]), np.array([120_000, 540_000, 1_000_000])
    written = [written_v2(rows, 0, n, at) for n, at in ((1, 12), (2, 54), (3, 100))]
    assert [score / ONE for score in V2_SCORES] == pytest.approx(written, abs=2e-6)
    assert ContentScorer(votes).scores(0, others, points, NOBODY).tolist() == points.tolist()
    assert ReciprocalScorer(votes).scores(0, others, points, NOBODY).tolist() == V2_SCORES


V2_SCORES = [60_928, 178_590, 142_555]


def test_terms_add_up_to_the_points():
    facts = Facts(years_apart=3, shared=("jazz",), likeness=333_333, km=4, nearness_lost=77_777)
    total = sum(term.units for term in terms(facts))
    assert total == content(facts.years_apart, facts.likeness, facts.nearness_lost)
    assert [term.name for term in terms(facts)] == ["start", "age", "interests", "distance"]


def facts_of(years: int, *shared: str) -> Facts:
    return Facts(years, shared, 0, 4, 0)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        (facts_of(0), ["the same age", "within 5 km"]),
        (facts_of(1, "jazz"), ["you both like jazz", "1 year apart", "within 5 km"]),
        (
            facts_of(2, "climbing", "jazz"),
            ["you both like climbing and jazz", "2 years apart", "within 5 km"],
        ),
        (facts_of(2, "a", "b", "c"), ["you both like a, b and c", "2 years apart", "within 5 km"]),
        (
            facts_of(2, "a", "b", "c", "d", "e"),
            ["you both like a, b, c and 2 more", "2 years apart", "within 5 km"],
        ),
    ],
)
def test_reasons_say_what_the_two_have_in_common(facts, said):
    assert list(reasons(facts, 5)) == said


def test_a_candidate_from_outside_the_limits_is_told_as_such():
    assert reasons(facts_of(2), 5, widened=True)[-1].startswith(
        "a little outside the limits you set"
    )
