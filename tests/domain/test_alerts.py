"""Alerts: each at its limit, past it, and cleared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.domain.ops import (
    Alert,
    AlertChange,
    AlertState,
    Limits,
    Numbers,
    RaisedAlert,
    judge,
    readings,
)
from yoked_actor.domain.ops.alerts import Reading
from yoked_actor.domain.statistics import percentile
from yoked_actor.domain.time import MICROSECONDS

PAST = Reading(Alert.DEPTH, 1200, 1000, True)
WITHIN = Reading(Alert.DEPTH, 900, 1000, False)


def past(numbers: Numbers, limits: Limits | None = None) -> list[Reading]:
    return [one for one in readings(numbers, limits or Limits()) if one.is_past]


def second(number: float) -> int:
    return round(number * MICROSECONDS)


@pytest.mark.parametrize(
    ("still_well", "too_much", "alert"),
    [
        (Numbers(completed=99, dead=1), Numbers(completed=98, dead=1), Alert.FAILURE_RATE),
        (Numbers(duration_p95_s=300.0), Numbers(duration_p95_s=300.001), Alert.DURATION),
        (Numbers(depth=1000), Numbers(depth=1001), Alert.DEPTH),
        (Numbers(duplicate_offers=0), Numbers(duplicate_offers=1), Alert.DUPLICATES),
        (Numbers(loop_lag_s=0.25), Numbers(loop_lag_s=0.251), Alert.LOOP_LAG),
        (Numbers(commit_failures=5), Numbers(commit_failures=6), Alert.COMMIT_FAILURES),
        (Numbers(audit_violations=0), Numbers(audit_violations=1), Alert.AUDIT_VIOLATIONS),
        (Numbers(lost_files=0), Numbers(lost_files=1), Alert.DATABASE_LOST),
        (Numbers(disk_free_share=0.05), Numbers(disk_free_share=0.049), Alert.DISK),
    ],
)
def test_a_number_is_past_its_limit_and_not_at_it(still_well, too_much, alert) -> None:
    assert past(still_well) == []
    [one] = past(too_much)
    assert one.alert is alert


def test_nothing_counted_is_nothing_wrong() -> None:
    assert past(Numbers()) == []
    assert [one.alert for one in readings(Numbers(), Limits())] == [
        alert for alert in Alert if alert is not Alert.DEAD_LETTER
    ]


def test_all_that_is_wrong_is_said_at_once() -> None:
    found = past(Numbers(0, 1, 301.0, 5000, 2, 1.0, 9, 1, 1, 0.0, lost_files=1))
    assert [one.alert for one in found] == [one for one in Alert if one is not Alert.DEAD_LETTER]


def test_limits_can_be_moved() -> None:
    moved = Limits(failure_rate=0.5, depth=4)
    assert [one.alert for one in past(Numbers(1, 1, depth=5), moved)] == [Alert.DEPTH]


def test_an_alert_is_raised_once_and_cleared_once_when_its_number_has_been_within_for_a_while():
    standing: dict[Alert, RaisedAlert] = {}
    told = []
    looks = [(0, WITHIN), (10, PAST), (20, PAST), (30, WITHIN), (80, WITHIN), (90, WITHIN)]
    for at, found in [*looks, (100, WITHIN)]:
        standing, changes = judge(standing, [found], second(at), 60.0)
        told += changes
    assert told == [
        AlertChange(Alert.DEPTH, AlertState.RAISED, 1200, 1000, second(10), second(10)),
        AlertChange(Alert.DEPTH, AlertState.CLEARED, 900, 1000, second(90), second(10)),
    ]
    assert standing == {}
    assert len({change.key for change in told}) == 2


def test_a_number_that_sways_around_its_limit_makes_one_alert() -> None:
    standing: dict[Alert, RaisedAlert] = {}
    told = []
    for at in range(0, 600, 15):
        standing, changes = judge(standing, [WITHIN if at % 45 else PAST], second(at), 60.0)
        told += changes
    assert [change.state for change in told] == [AlertState.RAISED]
    assert standing[Alert.DEPTH].raised_at == 0


def test_what_could_not_be_read_stays_as_it_was() -> None:
    before = {Alert.DEPTH: RaisedAlert(Alert.DEPTH, 1200, 1000, second(5), second(7))}
    assert judge(before, [], second(1000), 60.0) == (before, [])


@given(
    st.lists(st.tuples(st.booleans(), st.integers(1, 50)), max_size=60),
    st.sampled_from([0.0, 10.0, 60.0]),
)
def test_raises_and_clears_take_turns_whatever_is_seen(looks, clear_after_s) -> None:
    standing: dict[Alert, RaisedAlert] = {}
    told, now, last_past = [], 0, 0
    for is_past, later in looks:
        now += later
        last_past = now if is_past else last_past
        found = PAST if is_past else WITHIN
        standing, changes = judge(standing, [found], second(now), clear_after_s)
        told += changes
        for change in changes:
            if change.state is AlertState.CLEARED:
                assert now - last_past >= clear_after_s
    states = [change.state for change in told]
    assert states == [AlertState.RAISED, AlertState.CLEARED] * (len(states) // 2) + (
        [AlertState.RAISED] if len(states) % 2 else []
    )
    assert bool(standing) == bool(len(states) % 2)
    assert len({change.key for change in told}) == len(told)


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([], 0.95) == 0.0
    assert percentile([7.0], 0.95) == 7.0
    assert percentile([float(n) for n in range(100, 0, -1)], 0.95) == 95.0
    assert percentile([1.0] * 19 + [9.0], 0.95) == 1.0
    assert percentile([1.0] * 18 + [9.0] * 2, 0.95) == 9.0
