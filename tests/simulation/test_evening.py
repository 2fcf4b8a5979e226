"""Whole evenings: the guarantee holds in every round, and most users are matched at once."""

from __future__ import annotations

import pytest

from yoked_actor.settings import load_settings
from yoked_actor.simulation.evening import Report, simulate


async def _evening(people: int, hours: float, seed: int, policy: str = "fair_queue") -> Report:
    settings = load_settings(
        None, {}, {"matching": {"policy": policy}, "matchmaker": {"audit": "raise"}}
    )
    return await simulate(settings, people=people, hours=hours, seed=seed)


async def test_two_thousand_people_have_a_good_evening(autojump_clock):
    report = await _evening(2_000, 2.0, seed=1)
    assert report.violations == []
    assert report.matches > 20_000
    assert report.within_5_s >= 0.90
    # Most meet within their own limits; the forced are the exception.
    assert report.tiers[1] > 0.8 * sum(report.tiers.values())
    assert report.tiers[99] < 0.1 * sum(report.tiers.values())
    assert {row.group for row in report.rows[:2]} == {"man seeking woman", "woman seeking man"}
    assert all(row.matched > 0.8 * row.waits for row in report.rows)


@pytest.mark.parametrize("policy", ["fair_queue", "weighted"])
async def test_a_small_evening_keeps_the_guarantee_under_either_policy(autojump_clock, policy):
    report = await _evening(150, 0.3, seed=3, policy=policy)
    assert report.violations == []
    assert report.matches > 200
    assert report.policy == policy


async def test_the_same_seed_gives_the_same_evening(autojump_clock):
    first = await _evening(60, 0.1, seed=5)
    again = await _evening(60, 0.1, seed=5)
    other = await _evening(60, 0.1, seed=6)
    assert first == again
    assert first != other
