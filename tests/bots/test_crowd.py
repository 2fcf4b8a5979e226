"""A crowd of bots in a world on a mock clock."""

from __future__ import annotations

from random import Random

import pytest
import trio

from yoked_actor.bots import PERSONAS, Bot, Crowd, Tally
from yoked_actor.bots.bot import Phase
from yoked_actor.bots.people import make_person
from yoked_actor.client import Event
from yoked_actor.domain.lobby import Outcome
from yoked_actor.testing import World, open_world
from yoked_actor.testing.world import URL

LONGEST_S = {
    Phase.IDLE: 5.0,
    Phase.WAITING: 80.0,
    Phase.MATCHED: 10.0,
    Phase.VOTING: 20.0,
    Phase.DATE: 10.0,
}
"""How long a bot can be in a phase; beyond that, and what it slept through, it is stuck."""
AWAY_S = 45.0


class Log(Tally):
    """A tally that remembers who saw what."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[float, str, str]] = []
        self.users: set[str] = set()
        self.matched: set[str] = set()

    def saw(self, bot: Bot, event: Event) -> None:
        super().saw(bot, event)
        self.users.add(bot.user_id)
        self.seen.append((trio.current_time(), bot.user_id, event.type))
        if event.type == "matched":
            self.matched.add(bot.user_id)


async def run_crowd(world: World, persona: str, users: int, seconds: float, seed: int) -> Log:
    log = Log()
    crowd = Crowd(
        URL, users=users, persona=persona, seed=seed, ramp=10, tally=log, dial=world.dial()
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(crowd.run)
        for _ in range(round(seconds)):
            await trio.sleep(1)
            assert world.audit() == []
            assert stuck(log) == []
        crowd.stop()
    return log


def stuck(tally: Tally) -> list[str]:
    now = trio.current_time()
    return [
        f"{bot.user_id} is {bot.phase} for {now - bot.phase_at:.0f} s"
        for bot in tally.bots.values()
        if now - bot.phase_at > LONGEST_S[bot.phase] + AWAY_S
    ]


async def test_thirty_mixed_bots_play_for_ten_minutes_and_nobody_is_stuck(autojump_clock):
    async with open_world(seed=3) as world:
        log = await run_crowd(world, "mix", users=30, seconds=600, seed=3)
        assert log.errors == {}
        assert log.matches > 200
        assert {"both_yes", "yes_pass", "pass_pass"} <= set(log.outcomes)
        assert log.dates > 10
        assert log.reconnects > 10
        assert log.guests > 30, "those who had nobody left to meet made room"
        assert len(log.matched) > len(log.users) / 2


@pytest.mark.parametrize("persona", list(PERSONAS))
async def test_every_persona_meets_its_like(persona, autojump_clock):
    async with open_world(seed=5) as world:
        log = await run_crowd(world, persona, users=12, seconds=120, seed=5)
        assert log.errors == {}
        assert log.matches > 5
        assert sum(log.outcomes.values()) + sum(log.cancelled.values()) > 3


async def test_yes_makes_dates_and_picky_mostly_does_not(autojump_clock):
    async with open_world(seed=6) as world:
        kind = await run_crowd(world, "yes", users=12, seconds=120, seed=6)
    async with open_world(seed=6) as world:
        choosy = await run_crowd(world, "picky", users=12, seconds=120, seed=6)
    assert set(kind.outcomes) <= {"both_yes", "yes_idle"}
    assert kind.outcomes["both_yes"] > 5
    assert choosy.outcomes["both_yes"] < choosy.outcomes["pass_pass"]


async def test_idle_often_does_not_vote(autojump_clock):
    async with open_world(seed=7) as world:
        log = await run_crowd(world, "idle", users=12, seconds=180, seed=7)
        assert log.outcomes["idle_idle"] > 0
        assert log.outcomes["yes_idle"] > 0


async def test_the_same_seed_gives_the_same_evening(autojump_clock):
    evenings = []
    for _ in range(2):
        start = trio.current_time()
        async with open_world(seed=8) as world:
            log = await run_crowd(world, "mix", users=12, seconds=90, seed=8)
        evenings.append([(round(at - start, 6), *what) for at, *what in log.seen])
    assert evenings[0]
    assert evenings[0] == evenings[1]


async def test_bots_take_up_where_they_were_after_a_crash(autojump_clock, tmp_path):
    async with open_world(seed=9, database=tmp_path / "yoked.db") as world:
        log = Log()
        crowd = Crowd(URL, users=20, persona="mix", seed=9, ramp=10, tally=log, dial=world.dial())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crowd.run)
            for _ in range(6):
                await trio.sleep(20)
                await world.crash()
                await trio.sleep(2)
                await world.start()
            before = log.matches
            await trio.sleep(60)
            assert world.audit() == []
            assert stuck(log) == []
            crowd.stop()
        assert log.errors == {}
        assert log.matches > before


def test_a_seed_makes_a_person_and_the_crowd_is_varied():
    people = [make_person(Random(number)) for number in range(300)]
    assert people[7] == make_person(Random(7))
    assert {person["gender"] for person in people} == {"woman", "man", "nonbinary"}
    assert len({person["display_name"] for person in people}) > 150
    assert len({person["time_zone"] for person in people}) > 3


async def test_bots_spread_over_rooms_and_meet_only_there(autojump_clock):
    async with open_world(seed=4, settings={"rooms": {"jazz": {}, "rock": {}}}) as world:
        log = Log()
        rooms = ("jazz", "rock")
        crowd = Crowd(
            URL,
            users=20,
            persona="yes",
            seed=4,
            ramp=10,
            tally=log,
            dial=world.dial(),
            rooms=rooms,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crowd.run)
            await trio.sleep(5)
            here = {room: one.users for room, one in world.server.live.rooms.counts().items()}
            assert here == {"main": 0, "jazz": 10, "rock": 10}
            await trio.sleep(60)
            assert world.audit() == []
            crowd.stop()
        assert log.errors == {}
        read = world.server.base.metrics.registry.get_sample_value
        made = {
            room: sum(
                read("yoked_outcomes_total", {"room": room, "outcome": outcome.value}) or 0
                for outcome in Outcome
            )
            for room in ("main", *rooms)
        }
        assert made.pop("main") == 0
        assert min(made.values()) > 3


async def test_a_bot_that_is_not_let_into_its_room_is_counted_as_an_error(autojump_clock):
    async with open_world(settings={"rooms": {"jazz": {"capacity": 1}}}) as world:
        log = Log()
        crowd = Crowd(
            URL,
            users=3,
            persona="yes",
            seed=4,
            tally=log,
            dial=world.dial(),
            rooms=("jazz", "nowhere"),
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crowd.run)
            await trio.sleep(3)
            crowd.stop()
        assert log.errors == {"unknown_room": 1, "room_full": 1}
