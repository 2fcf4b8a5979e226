"""A step of the clock changes no decision of the lobby, only the instants."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from tests.domain.crowds import man, woman
from tests.domain.evening import Evening
from yoked_actor.domain.lobby import State, Vote
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.rules import PolicyName, Rules
from yoked_actor.domain.time import MICROSECONDS, after

PEOPLE = [woman("ana"), woman("eve"), woman("ida"), man("ben"), man("carl"), man("dan")]
HOUR = 3600 * MICROSECONDS


class SteppedEvening(Evening):
    """An evening whose clock can be set."""

    ahead = 0

    def step(self, by: int) -> None:
        """Set the clock as the matchmaker does: move the instants, then store them."""
        self.ahead += by
        self.now += by
        self.lobby.step_clock(by, self.now)
        self.lobby.restate()
        self._close_round([])

    def all_told(self) -> list[Any]:
        """All output since then, with the instants of a clock that was not set."""
        notices = [(one.user_id, self.told(one.user_id)) for one in PEOPLE]
        return [self._unset(msgspec.to_builtins(notices, enc_hook=str))]

    def _unset(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._unset(one) for one in value]
        if isinstance(value, dict):
            return {key: self._unset(one) for key, one in value.items()}
        if isinstance(value, int) and value > HOUR:
            return value - self.ahead
        return value


def act(evening: Evening, random: Random) -> None:
    """One random action of a user."""
    user_id = random.choice(PEOPLE).user_id
    if user_id not in evening.floor.seats.rows:
        evening.enter(next(one for one in PEOPLE if one.user_id == user_id))
    seat = evening.seat(user_id)
    chance = random.random()
    if chance < 0.1:
        evening.silent ^= {user_id}
    elif chance < 0.2:
        evening.detach(user_id)
    elif chance < 0.3:
        evening.attach(user_id)
    elif seat.date_id is not None:
        evening.do(ev.EndDate(user_id, seat.date_id))
    elif seat.state is State.IDLE:
        evening.spin(user_id)
    elif seat.state is State.MATCHED:
        evening.leave(user_id) if chance < 0.4 else evening.acknowledge(user_id)
    elif seat.state is State.VOTING:
        evening.vote(user_id, random.choice([Vote.YES, Vote.PASS]))
    else:
        evening.do(ev.Explain(user_id))


@pytest.mark.parametrize("policy", ["fair_queue", "weighted"])
@pytest.mark.parametrize("seed", range(12))
def test_an_evening_goes_on_as_if_the_clock_had_not_been_stepped(
    seed: int, policy: PolicyName
) -> None:
    random, steps = Random(seed), Random(seed)
    rules = Rules(policy=policy, starvation_after_s=20.0)
    plain, stepped = SteppedEvening(rules), SteppedEvening(rules)
    for _ in range(120):
        if steps.random() < 0.2:
            # Never over midnight: ages would change.
            stepped.step(steps.randrange(-HOUR, HOUR) - stepped.ahead)
        seconds, chance = random.choice([0.0, 0.3, 2.0, 4.9, 9.0, 61.0]), random.random()
        for evening in (plain, stepped):
            act(evening, Random(chance))
            evening.advance(seconds)
        assert stepped.all_told() == plain.all_told()
        if chance > 0.95:
            for evening in (plain, stepped):
                evening.restart()
                for one in PEOPLE:  # what is not in memory is not moved by a step
                    if one.user_id in evening.store.people:
                        evening.attach(one.user_id)
            assert stepped.all_told() == plain.all_told()
    assert plain.store.matches.keys() == stepped.store.matches.keys()


def test_a_place_from_the_future_is_one_from_now_and_the_order_stays() -> None:
    evening = Evening()
    evening.enter(woman("ana"), woman("eve"))
    evening.spin("eve")
    evening.advance(5)
    evening.spin("ana")
    evening.now = after(evening.now, -86_400)
    evening.restart()
    assert evening.seat("ana").waiting_since == evening.now
    assert evening.seat("eve").waiting_since == after(evening.now, -5)


def test_a_bar_from_the_future_lasts_no_longer_than_a_bar() -> None:
    evening = Evening()
    evening.pair(woman("ana"), man("ben"))
    evening.leave("ana")
    evening.now = after(evening.now, -86_400)
    evening.restart()
    evening.attach("ana")
    evening.attach("ben")
    evening.spin("ana", "ben")
    assert evening.state("ana") is State.WAITING
    evening.advance(60)
    assert evening.partner_of("ana") == "ben"


def test_a_place_that_a_step_has_moved_is_stored_when_voting_opens_in_the_same_round() -> None:
    evening = SteppedEvening()
    match_id = evening.pair(PEOPLE[0], PEOPLE[3])
    evening.acknowledge("ana")
    since = evening.store.seat("ben").waiting_since
    assert since is not None
    evening.now += HOUR
    evening.lobby.step_clock(HOUR, evening.now)
    evening.lobby.handle(ev.Acknowledge("ben", match_id), evening.now)
    evening.lobby.restate()
    evening.store.save(evening.lobby.changes())
    assert evening.store.seat("ben").state is State.VOTING
    assert evening.store.seat("ben").waiting_since == since + HOUR
