"""Nudges: the right idle users, with a rate limit, and each in turn."""

from __future__ import annotations

from datetime import date

import pytest

from tests.domain.crowds import START, man, woman
from tests.domain.evening import Evening
from yoked_actor.domain.lobby import Vote
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.machine.nudges import MOST_CHECKED, MOST_NUDGED
from yoked_actor.domain.lobby.notices import Nudge
from yoked_actor.domain.matching import Idlers
from yoked_actor.domain.people import Person
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import after, seconds_between

FAR = {"lat": 48.1, "lon": 11.6}


def nudges(evening: Evening, *user_ids: str) -> dict[str, list[float]]:
    """The users nudged since the last call, and how long each nudge is valid."""
    found = {
        user_id: [
            seconds_between(evening.now, notice.expires_at)
            for notice in evening.told(user_id)
            if isinstance(notice, Nudge)
        ]
        for user_id in user_ids
    }
    return {user_id: times for user_id, times in found.items() if times}


def waiting_in_tier_3(evening: Evening, who: Person) -> None:
    """A user comes, spins, and has just reached tier 3."""
    evening.enter(who)
    evening.spin(who.user_id)
    evening.advance(evening.rules.tier3_after_s)


def test_an_idle_user_who_would_suit_is_nudged_when_tier_3_finds_nobody() -> None:
    evening = Evening()
    evening.enter(man("ben"), woman("eva"), man("carl", **FAR))
    evening.enter(woman("ana"))
    evening.spin("ana")
    evening.advance(9.9)
    assert nudges(evening, "ana", "ben", "eva", "carl") == {}
    evening.advance(0.1)
    assert nudges(evening, "ana", "ben", "eva", "carl") == {"ben": [60.0]}


def test_a_nudged_user_who_spins_is_paired_with_the_one_who_waits() -> None:
    evening = Evening()
    evening.enter(man("ben"))
    waiting_in_tier_3(evening, woman("ana"))
    evening.spin("ben")
    assert evening.partner_of("ben") == "ana"


def test_nobody_is_nudged_while_somebody_acceptable_waits() -> None:
    evening = Evening()
    evening.enter(man("ben"), man("carl"))
    evening.enter(woman("ana", min_age=34))
    evening.spin("carl")
    evening.advance(2.0)
    evening.spin("ana")
    # At her tier 3 she takes Carl, who waits.
    evening.advance(10.0)
    assert evening.partner_of("ana") == "carl"
    assert nudges(evening, "ben") == {}


def test_the_limits_are_those_of_tier_3_on_both_sides() -> None:
    evening = Evening()
    # Ana is 30. Five years are added at both ends, and half of the distance.
    evening.enter(
        man("suits", min_age=35),
        man("too_choosy", min_age=36),
        man("too_old", birth_date=date(1984, 6, 15)),
        man("old_enough", birth_date=date(1985, 6, 15)),
        man("reaches", lat=53.1, lon=13.4, max_distance_km=44.0),
        man("does_not", lat=53.1, lon=13.4, max_distance_km=42.0),
        man("homebody", lat=53.2, lon=13.4, max_distance_km=500.0),
    )
    waiting_in_tier_3(evening, woman("ana", max_age=35, max_distance_km=45.0))
    everybody = ("suits", "too_choosy", "too_old", "old_enough", "reaches", "does_not", "homebody")
    assert set(nudges(evening, *everybody)) == {"suits", "old_enough", "reaches"}


@pytest.mark.parametrize("blocker", ["ana", "ben"])
def test_nobody_is_nudged_for_one_they_blocked_or_who_blocked_them(blocker: str) -> None:
    evening = Evening()
    evening.enter(man("ben"), man("carl"), woman("ana"))
    evening.do(ev.Block(blocker, "ben" if blocker == "ana" else "ana"))
    evening.spin("ana")
    evening.advance(10.0)
    assert set(nudges(evening, "ben", "carl")) == {"carl"}


def test_nobody_is_nudged_for_one_they_have_met() -> None:
    evening = Evening()
    evening.open_voting(woman("ana"), man("ben"))
    evening.vote("ana", Vote.PASS)
    evening.vote("ben", Vote.PASS)
    evening.leave("ben")
    evening.advance(10.0)
    assert nudges(evening, "ben") == {}


def test_nobody_is_nudged_for_one_they_are_barred_from() -> None:
    evening = Evening()
    evening.pair(woman("ana"), man("ben"))
    evening.leave("ben")
    evening.advance(10.0)
    assert nudges(evening, "ben") == {}


def test_only_those_are_nudged_who_are_connected_idle_and_not_on_a_date() -> None:
    evening = Evening()
    evening.open_voting(woman("eva"), man("dating"))
    evening.vote("eva", Vote.YES)
    evening.vote("dating", Vote.YES)
    evening.enter(man("away"), man("idle"))
    evening.detach("away")
    evening.do(ev.Called("caller"))
    evening.do(ev.ProfileChanged("caller", man("caller")))
    evening.attach("blank")
    waiting_in_tier_3(evening, woman("ana"))
    assert set(nudges(evening, "dating", "away", "caller", "blank", "idle")) == {"idle"}


def test_each_is_nudged_once_in_ten_minutes_however_many_wait() -> None:
    evening = Evening()
    evening.enter(man("ben"))
    waiting_in_tier_3(evening, woman("ana"))
    assert set(nudges(evening, "ben")) == {"ben"}
    waiting_in_tier_3(evening, woman("eva"))
    assert nudges(evening, "ben") == {}
    evening.advance(580.0)
    waiting_in_tier_3(evening, woman("ida"))
    assert set(nudges(evening, "ben")) == {"ben"}


def test_an_attempt_nudges_a_few_and_the_next_one_others() -> None:
    evening = Evening()
    names = [f"m{number}" for number in range(3 * MOST_NUDGED)]
    evening.enter(*(man(name) for name in names))
    nudged: list[str] = []
    for number in range(3):
        waiting_in_tier_3(evening, woman(f"w{number}"))
        found = nudges(evening, *names)
        assert len(found) == MOST_NUDGED
        nudged += found
    assert sorted(nudged) == sorted(names)


def test_a_look_is_bounded_and_everybody_gets_a_turn() -> None:
    idlers = Idlers()
    crowd = [man(f"m{number}") for number in range(2 * MOST_CHECKED + 50)]
    for who in crowd:
        idlers.put(who)
        idlers.put(who)
    ana = woman("ana")
    seen: list[str] = []
    for _ in range(3):
        turn = list(idlers.next_for(ana, MOST_CHECKED))
        assert len(turn) == MOST_CHECKED
        seen += turn
    assert set(seen) == {who.user_id for who in crowd}


def test_idlers_are_asked_only_of_kinds_that_suit_and_leave_when_they_change() -> None:
    idlers = Idlers()
    idlers.put(man("ben"))
    idlers.put(woman("eva"))
    assert list(idlers.next_for(woman("ana"), 10)) == ["ben"]
    idlers.put(woman("ben"))
    assert list(idlers.next_for(woman("ana"), 10)) == []
    assert list(idlers.next_for(man("carl"), 10)) == ["eva", "ben"]
    idlers.discard("ben")
    idlers.discard("eva")
    idlers.discard("nobody")
    assert (len(idlers), "ben" in idlers) == (0, False)


def test_a_nudge_that_could_not_be_stored_with_its_round_was_never_given() -> None:
    evening = Evening()
    evening.enter(man("ben"), woman("ana"))
    evening.spin("ana")
    at = after(START, 10)
    evening.do(ev.SignOfLife("ana"))
    for _ in range(2):
        told = evening.lobby.wake(at)
        assert ("ben", Nudge(after(at, 60))) in told
        evening.lobby.undo()
    assert evening.floor.nudged_at.rows == {}


def test_what_is_known_of_nudges_is_forgotten_with_the_user() -> None:
    evening = Evening()
    evening.enter(man("ben"))
    waiting_in_tier_3(evening, woman("ana"))
    assert "ben" in evening.floor.nudged_at.rows
    evening.detach("ben")
    assert evening.lobby.forget("ben")
    assert evening.floor.nudged_at.rows == {}
    assert "ben" not in evening.floor.idlers


def test_how_often_and_how_long_are_rules() -> None:
    evening = Evening(Rules(nudge_every_s=30.0, nudge_good_for_s=7.0))
    evening.enter(man("ben"))
    waiting_in_tier_3(evening, woman("ana"))
    assert nudges(evening, "ben") == {"ben": [7.0]}
    evening.advance(20.0)
    waiting_in_tier_3(evening, woman("eva"))
    assert nudges(evening, "ben") == {"ben": [7.0]}
