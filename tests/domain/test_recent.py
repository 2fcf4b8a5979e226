"""The counts of the last hour by the minute."""

from __future__ import annotations

from yoked_actor.domain.lobby import CancelReason, Changes, Match, MatchStatus, Outcome, Quality
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.ops import RecentMinutes
from yoked_actor.domain.ops.recent import MINUTE, MINUTES

START = 29_000_000 * MINUTE


def made(a_tier: Tier, b_tier: Tier, a_wait_s: float = 0.0, b_wait_s: float = 0.0) -> Quality:
    sides = (a_tier, b_tier, a_wait_s, b_wait_s, "a", "b")
    return Quality("m1", "fair_queue", 0, 1.0, 1.0, 3.0, *sides, START)


def ended(outcome: Outcome | None = None, reason: CancelReason | None = None) -> Match:
    status = MatchStatus.COMPLETED if outcome else MatchStatus.CANCELLED
    return Match(
        "m1", "a", "b", status, START, None, outcome=outcome, cancelled_for=reason, ended_at=START
    )


def test_a_match_counts_in_its_minute_by_the_wider_tier_and_with_both_waits() -> None:
    recent = RecentMinutes()
    recent.count(Changes(quality=[made(Tier.EXACT, Tier.WIDEST, 1.0, 6.0)]), 3, START)
    recent.count(Changes(quality=[made(Tier.EXACT, Tier.EXACT, 2.0, 0.0)]), 1, START + MINUTE - 1)
    [minute] = recent.since(START)
    assert minute.starts_at == START
    assert minute.tiers == {Tier.WIDEST: 1, Tier.EXACT: 1}
    assert (minute.matches, minute.wait_s, minute.waiting) == (2, 9.0, 3)


def test_outcomes_and_cancellations_are_counted_and_open_matches_are_not() -> None:
    recent = RecentMinutes()
    still_open = Match("m2", "a", "b", MatchStatus.VOTING, START, START)
    lost = ended(reason=CancelReason.PARTNER_LOST)
    recent.count(Changes(matches=[ended(Outcome.BOTH_YES), lost, still_open]), 0, START)
    [minute] = recent.since(START)
    assert minute.outcomes == {Outcome.BOTH_YES: 1}
    assert minute.cancelled == {CancelReason.PARTNER_LOST: 1}


def test_a_minute_begins_with_those_who_waited_at_the_end_of_the_one_before() -> None:
    recent = RecentMinutes()
    recent.count(Changes(), 9, START)
    recent.count(Changes(), 7, START + 1)
    recent.count(Changes(), 2, START + 5 * MINUTE)
    assert [minute.waiting for minute in recent.since(START + 5 * MINUTE)] == [9, 7]


def test_an_hour_is_all_that_is_kept_and_shown() -> None:
    recent = RecentMinutes()
    for number in range(3 * MINUTES):
        recent.count(Changes(), number, START + number * MINUTE)
    now = START + (3 * MINUTES - 1) * MINUTE
    shown = recent.since(now)
    assert [minute.waiting for minute in shown] == list(range(2 * MINUTES, 3 * MINUTES))
    later = recent.since(now + 59 * MINUTE)
    assert [minute.starts_at for minute in later] == [now, now + 59 * MINUTE]
    assert [minute.waiting for minute in later] == [3 * MINUTES - 1] * 2
    assert recent.since(now + 60 * MINUTE)[:-1] == later[1:]


def test_a_step_of_the_clock_moves_what_was_counted() -> None:
    for by in (-25 * 60 * MINUTE - 7, 25 * 60 * MINUTE + 7):
        recent = RecentMinutes()
        recent.count(Changes(quality=[made(Tier.EXACT, Tier.EXACT)]), 2, START)
        recent.count(Changes(quality=[made(Tier.EXACT, Tier.EXACT)]), 2, START + MINUTE)
        recent.shift(by)
        recent.count(Changes(quality=[made(Tier.EXACT, Tier.EXACT)]), 2, START + 3 * MINUTE + by)
        assert [minute.matches for minute in recent.since(START + 3 * MINUTE + by)] == [1, 1, 1]
