"""Objectives: the counts of each window, and the burn rate."""

from __future__ import annotations

import pytest

from yoked_actor.domain.ops import Tally
from yoked_actor.domain.ops.objectives import KEPT_S, EventCounts


def test_a_window_has_what_happened_in_it_and_no_more() -> None:
    tally = Tally()
    tally.count(10, 0, 0.0)
    tally.count(3, 2, 1000.0)
    tally.count(0, 1, 1010.0)
    assert tally.since(300.0, 1100.0) == EventCounts(3, 3)
    assert tally.since(3600.0, 1100.0) == EventCounts(13, 3)
    assert tally.since(300.0, 2000.0) == EventCounts(0, 0)


def test_what_is_older_than_six_hours_is_forgotten() -> None:
    tally = Tally()
    for minute in range(10_000):
        tally.count(1, 0, 60.0 * minute)
    assert len(tally._slices) <= KEPT_S / 60 + 2
    assert tally.since(1e9, 600_000.0).good == pytest.approx(360, abs=2)


def test_a_burn_of_one_uses_up_the_budget_exactly() -> None:
    assert EventCounts(99, 1).burn(0.99) == pytest.approx(1.0)
    assert EventCounts(0, 5).burn(0.9) == pytest.approx(10.0)
    assert EventCounts().burn(0.9) == 0.0
    assert (EventCounts(3, 1).ratio, EventCounts().ratio) == (0.75, None)
