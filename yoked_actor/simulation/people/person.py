"""A person: days in a town, with evenings in the lobby and mornings with offers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time, timedelta
from random import Random

import msgspec
import trio

from yoked_actor.domain.time import MICROSECONDS, Instant, from_datetime, to_datetime
from yoked_actor.simulation.people.api import Api
from yoked_actor.simulation.people.company import Company
from yoked_actor.simulation.people.evening import Evening
from yoked_actor.simulation.people.morning import Morning, answer_offers, see_met, see_offers
from yoked_actor.simulation.people.profiles import (
    ZONES,
    Habits,
    make_habits,
    make_preferences,
    make_profile,
    near,
)
from yoked_actor.simulation.rooms import fashion
from yoked_actor.simulation.zones import zone_of

_EVENING = time(20, 0)
Errand = Callable[[], Awaitable[None]]


class Cast(msgspec.Struct, frozen=True):
    """Who comes: a number, random numbers of one's own, and the first zone."""

    number: int
    seed: int
    zone: str
    zones: tuple[str, ...]
    start_at: Instant


class Person:
    """Lives through the run, perhaps under several ids: an erased person may come back."""

    def __init__(self, company: Company, cast: Cast) -> None:
        self._company = company
        self._cast = cast
        self._random = Random(f"person {cast.seed} {cast.number}")
        self._zone = cast.zone
        self._habits: Habits = make_habits(self._random)
        self._lives = 0
        self._is_gone = False
        self._begin_life()

    async def live(self) -> None:
        """Live until the run ends."""
        await trio.sleep(self._random.uniform(0, 1800))
        await self._sign_up()
        while True:
            # The day's plan is drawn first, so that it does not depend on what happens.
            for at, errand in sorted(self._plan(), key=lambda one: one[0]):
                await self._company.stage.wall.sleep_until(at)
                if self._is_gone:
                    await self._come_back()
                await errand()
            await self._company.stage.wall.sleep_until(self._local(time(3, 0), days=1))

    # The day

    def _plan(self) -> list[tuple[Instant, Errand]]:
        random, habits = self._random, self._habits
        plan: list[tuple[Instant, Errand]] = []

        def at(when: time, errand: Errand, jitter_s: float = 0.0) -> None:
            instant = self._local(when) + round(random.uniform(0, jitter_s) * MICROSECONDS)
            plan.append((instant, errand))

        if random.random() < habits.watches_morning:
            at(time(8, 57), self._watch_morning, 150)
        if random.random() < habits.fetches_morning:
            at(time(9, 3), self._fetch_morning, 7200)
        if random.random() < habits.changes:
            at(time(12, 0), self._change_profile, 6 * 3600)
        if random.random() < habits.moves:
            at(time(7, 0), self._move, 10 * 3600)
        if random.random() < habits.exports:
            at(time(14, 0), self._export, 3 * 3600)
        if random.random() < 0.1:
            at(time(13, 0), self._unblock, 3 * 3600)
        if random.random() < habits.erases:
            at(time(10, 0), self._erase, 11 * 3600)
        if random.random() < habits.evening:
            at(_EVENING, self._evening, 240)
        now = self._company.stage.wall.true()
        return [one for one in plan if one[0] > now]

    def _local(self, when: time, days: int = 0) -> Instant:
        """A time of this person's own day."""
        zone = zone_of(self._zone)
        today = to_datetime(self._company.stage.wall.true()).astimezone(zone).date()
        moment = datetime.combine(today + timedelta(days=days), when, zone)
        return from_datetime(moment.astimezone(UTC))

    # Coming and going

    def _begin_life(self) -> None:
        self._lives += 1
        mark = f"{self._random.getrandbits(32):08x}"
        self.user_id = f"p{self._cast.number:03d}.{mark}"
        self._name = f"Person {mark}"
        today = to_datetime(self._cast.start_at).date()
        self._profile = make_profile(self._random, self._name, self._zone, today)
        self._api = Api(self._company, self.user_id)

    async def _sign_up(self) -> None:
        if self._random.random() < 0.05:
            await self._try_too_young()
        while True:
            if await self._put_profile():
                return
            await trio.sleep(600)

    async def _try_too_young(self) -> None:
        today = to_datetime(self._company.stage.wall.true()).date()
        child = self._profile | {"birth_date": date(today.year - 17, 1, 1).isoformat()}
        answer = await self._api.call("PUT", "/api/profile", child)
        if answer is not None and answer.code != "underage":
            text = f"{self.user_id} is 17 and gets {answer}"
            self._company.bench.report("underage", text, self.user_id)

    async def _put_profile(self) -> bool:
        self._company.calls.changing_profile(self.user_id)
        profile = dict(self._profile)
        answer = await self._api.call("PUT", "/api/profile", profile)
        if answer is None or answer.status >= 400:
            return False
        self._company.calls.changed_profile(self.user_id, profile)
        return True

    async def _come_back(self) -> None:
        self._is_gone = False
        self._begin_life()
        await self._sign_up()

    # Errands

    async def _evening(self) -> None:
        stays_s = self._habits.stays_s * self._random.uniform(0.7, 1.3)
        ends_s = trio.current_time() + stays_s
        random = Random(f"evening {self._random.getrandbits(64)}")
        today = to_datetime(self._company.stage.wall.true()).astimezone(zone_of(self._zone)).date()
        room = None
        if random.random() < self._habits.follows:
            room = fashion(self._cast.seed, self._zone, today)
        evening = Evening(self._company, self.user_id, random, self._habits, ends_s, room)
        await evening.run()
        await self._try_while_suspended(random)

    async def _try_while_suspended(self, random: Random) -> None:
        """A person who was suspended tries what is left: it must be refused, but for an appeal."""
        account = self._company.ledger.of(self.user_id)
        # The person may be told before the operator has the answer.
        if account.suspended_s is None and not account.suspension_unsure:
            return
        await trio.sleep(random.uniform(3, 60))
        paths = ("/api/offers", "/api/connections", "/api/met", "/api/rooms")
        await self._api.call("GET", random.choice(paths), tries=2)
        if random.random() < self._habits.appeals:
            await self._appeal(random)
            if random.random() < 0.4:
                await trio.sleep(random.uniform(1, 600))
                await self._appeal(random)

    async def _appeal(self, random: Random) -> None:
        appeals = self._company.appeals
        text = f"{self._name} was polite. {random.getrandbits(32):08x}"
        was_unsure = appeals.appealing(self.user_id)
        answer = await self._api.call("POST", "/api/appeal", {"text": text}, tries=1)
        if answer is not None:
            status, code = answer.status, answer.code
            appeals.answered(self.user_id, text, status, code, was_unsure=was_unsure)

    async def _watch_morning(self) -> None:
        ends_s = trio.current_time() + self._random.uniform(200, 400)
        random = Random(f"morning {self._random.getrandbits(64)}")
        await Morning(self._company, self.user_id, random, ends_s, self._habits.accepts).run()

    async def _fetch_morning(self) -> None:
        random = Random(f"fetch {self._random.getrandbits(64)}")
        offers = await see_offers(self._company, self._api)
        await answer_offers(self._company, self._api, offers, random, self._habits.accepts)
        if random.random() < 0.6:
            await see_met(self._company, self._api, random, self._habits.accepts)

    async def _change_profile(self) -> None:
        random = self._random
        if random.random() < 0.5:
            seeking = tuple(self._profile["preferences"]["seeking"])
            preferences = make_preferences(random, random.randint(22, 50), seeking)
            self._profile = self._profile | {"preferences": preferences}
        else:
            self._profile = self._profile | {"location": near(random, self._zone)}
        await self._put_profile()

    async def _move(self) -> None:
        self._zone = self._random.choice(self._cast.zones)
        assert self._zone in ZONES
        self._profile = self._profile | {
            "time_zone": self._zone,
            "location": near(self._random, self._zone),
        }
        await self._put_profile()

    async def _export(self) -> None:
        answer = await self._api.call("GET", "/api/me/export")
        if answer is not None and answer.status == 200:
            self._company.calls.exported(self.user_id, answer.body)

    async def _unblock(self) -> None:
        account = self._company.ledger.of(self.user_id)
        if account.blocks:
            other = self._random.choice(sorted(account.blocks))
            answer = await self._api.call("DELETE", f"/api/blocks/{other}")
            if answer is not None and answer.status < 400:
                self._company.calls.unblocked(self.user_id, other)

    async def _erase(self) -> None:
        account = self._company.ledger.of(self.user_id)
        if account.suspended_s is not None or account.suspension_unsure:
            return
        self._company.calls.erasing(self.user_id)
        answer = await self._api.call("DELETE", "/api/me", tries=20)
        if answer is not None and answer.status == 204:
            self._company.calls.erased(self.user_id)
            self._company.erasures.check(self.user_id, self._name)
            self._is_gone = True
        elif answer is not None and answer.code == "suspended":
            account.erasing = False
