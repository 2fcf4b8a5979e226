"""The four alerts: each at its limit, over it, and none without a reason."""

from __future__ import annotations

import pytest

from yoked_actor.domain.alerts import Alert, Limits, Numbers, alerts, percentile


@pytest.mark.parametrize(
    ("still_well", "too_much", "alert"),
    [
        (Numbers(completed=99, dead=1), Numbers(completed=98, dead=1), Alert.FAILURE_RATE),
        (Numbers(duration_p95_s=300.0), Numbers(duration_p95_s=300.001), Alert.DURATION),
        (Numbers(depth=1000), Numbers(depth=1001), Alert.DEPTH),
        (Numbers(duplicate_offers=0), Numbers(duplicate_offers=1), Alert.DUPLICATES),
    ],
)
def test_an_alert_is_raised_above_its_limit_and_not_at_it(still_well, too_much, alert) -> None:
    assert alerts(still_well, Limits()) == []
    [raised] = alerts(too_much, Limits())
    assert raised.alert is alert
    assert raised.value > raised.limit


def test_nothing_counted_is_nothing_wrong() -> None:
    assert alerts(Numbers(), Limits()) == []


def test_all_that_is_wrong_is_said_at_once() -> None:
    raised = alerts(Numbers(0, 1, 301.0, 5000, 2), Limits())
    assert [one.alert for one in raised] == list(Alert)


def test_limits_can_be_moved() -> None:
    assert alerts(Numbers(completed=1, dead=1, depth=5), Limits(failure_rate=0.5, depth=4)) != []
    assert alerts(Numbers(completed=1, dead=1), Limits(failure_rate=0.5)) == []


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([], 0.95) == 0.0
    assert percentile([7.0], 0.95) == 7.0
    assert percentile([float(n) for n in range(100, 0, -1)], 0.95) == 95.0
    assert percentile([1.0] * 19 + [9.0], 0.95) == 1.0
    assert percentile([1.0] * 18 + [9.0] * 2, 0.95) == 9.0
