"""The guests of a demo, and the host that sends them to visitors who wait.

Guests are connected and idle. When a visitor has waited for `STEP_IN_S` without a match, the host
sends a guest with a suitable profile: a gender that the visitor seeks, an age and a distance within
the visitor's limits. Two visitors who spin at the same time therefore meet each other. A guest who
has met a visitor leaves, because two users meet only once, and a new guest replaces it. After a
date the guest says yes to staying in touch, and remains for some minutes to be called: at most a
third of the guests at a time, so that the others are free for visitors who wait.

While no visitor waits, two guests meet each other now and then, so that there is something to see.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random

import msgspec
import structlog
import trio

from yoked_actor.bots.demo_guest import DemoGuest, Errand
from yoked_actor.bots.demo_people import PREFIX, Role, make_demo_person, roles_for
from yoked_actor.client import Address, Api, Dial, open_client
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import Instant, utc_date

_log = structlog.get_logger()

STEP_IN_S = 1.5
_LOOK_EVERY_S = 0.25
_PAIR_EVERY_S = 5.0
_ARRIVALS_PER_S = 50.0
_ERRANDS = 20
_REMAINING_SHARE = 3
"""One of so many guests can remain after a date."""
_RETRY_S = 1.0
_REMEMBERED_VISITORS = 1000


class Seeker(msgspec.Struct, frozen=True):
    """A visitor who waits, and for how long."""

    person: Person
    waited_s: float


class Demo:
    """The guests, and their host. `run` until cancelled."""

    def __init__(
        self,
        url: str,
        *,
        people: int,
        name: str,
        genders: Sequence[str],
        look: Callable[[], Sequence[Seeker]],
        now: Callable[[], Instant],
        dial: Dial | None = None,
        roles: Callable[[str], Iterator[Role]] = roles_for,
    ) -> None:
        self._url = url
        self._people = people
        self._name = name
        self._genders = genders
        self._look = look
        self._now = now
        self._dial = dial or Address.parse(url).dial()
        self._random = Random(name)
        self._free: deque[DemoGuest] = deque()
        self._remaining: list[DemoGuest] = []
        self._sent: dict[str, DemoGuest] = {}
        self._roles_for = roles
        self._roles: dict[str, Iterator[Role]] = {}
        self._guests = 0

    async def run(self) -> None:
        """Start the guests, and send them to visitors."""
        async with trio.open_nursery() as nursery:
            for seat in range(self._people):
                nursery.start_soon(self._keep_running, seat)
            await self._host()

    # The host

    async def _host(self) -> None:
        pair_at = trio.current_time() + _PAIR_EVERY_S
        while True:
            # The server does not know about the demo and sends no event when a user waits: poll.
            await trio.sleep(_LOOK_EVERY_S)
            seekers = self._look()
            self._sent = {who: guest for who, guest in self._sent.items() if guest.is_looking}
            for seeker in seekers:
                if seeker.waited_s >= STEP_IN_S:
                    self._send_to(seeker.person)
            if seekers or trio.current_time() < pair_at:
                continue
            pair_at = trio.current_time() + _PAIR_EVERY_S
            # Keep half of the guests free for visitors.
            if len(self._free) > self._people // 2:
                self._let_two_meet()

    def _send_to(self, visitor: Person) -> None:
        if visitor.user_id in self._sent or not self._free:
            return
        guest = self._free.popleft()
        self._sent[visitor.user_id] = guest
        today = utc_date(self._now())
        profile = make_demo_person(self._random, self._genders, today, visitor)
        guest.ask(Errand(self._next_role(visitor.user_id), profile))

    def _let_two_meet(self) -> None:
        one = self._random.choice(self._free)
        strangers = [
            guest for guest in self._free if guest is not one and guest.user_id not in one.met
        ]
        if not strangers:
            return
        for guest in (one, self._random.choice(strangers)):
            self._free.remove(guest)
            guest.ask(Errand(self._random.choice((Role.YES, Role.PASS))))

    def _next_role(self, visitor_id: str) -> Role:
        if visitor_id not in self._roles:
            if len(self._roles) >= _REMEMBERED_VISITORS:
                del self._roles[next(iter(self._roles))]
            self._roles[visitor_id] = self._roles_for(visitor_id)
        return next(self._roles[visitor_id])

    # The guests

    async def _keep_running(self, seat: int) -> None:
        """One place: a new guest follows one that leaves."""
        await trio.sleep(seat / _ARRIVALS_PER_S)
        while True:
            self._guests += 1
            try:
                await self._run_guest(f"{PREFIX}{self._name}-{self._guests}")
            except Exception:
                # An error of one guest must not end the others.
                _log.exception("demo_person_failed")
                await trio.sleep(_RETRY_S)

    async def _run_guest(self, user_id: str) -> None:
        random = Random(user_id)
        api = Api(self._url, dial=self._dial)
        profile = make_demo_person(random, self._genders, utc_date(self._now()))
        await api.login(user_id, profile)
        log_in = partial(api.login, user_id)
        async with open_client(self._url, log_in, dial=self._dial) as client:
            guest = DemoGuest(user_id, client, api, random)
            for _ in range(_ERRANDS):
                self._free.append(guest)
                await guest.serve()
                if guest.is_done:
                    if guest.can_remain and self._make_room():
                        await self._let_remain(guest)
                    return

    def _make_room(self) -> bool:
        """Whether one more guest can remain; the first that is not on a call leaves for it."""
        if len(self._remaining) < self._people // _REMAINING_SHARE:
            return True
        for guest in self._remaining:
            if not guest.is_on_call:
                self._remaining.remove(guest)
                guest.dismiss()
                return True
        return False

    async def _let_remain(self, guest: DemoGuest) -> None:
        self._remaining.append(guest)
        try:
            await guest.remain()
        finally:
            if guest in self._remaining:
                self._remaining.remove(guest)
