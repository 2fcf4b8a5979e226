"""The people of a demo, and the host who sees to it that nobody waits in vain.

The people sit around, connected and idle. When a visitor has waited for a moment, so that nobody
real has come, the host sends one of them, made to suit: of a gender that the visitor seeks, of an
age and at a distance within their limits. Two visitors who spin together thus meet each other.
Whoever has met a visitor goes home, since nobody meets the same person twice, and somebody new
takes the seat: there are never more than so many, and they never run out.

While no visitor waits, two of them now and then meet each other, so that there is something to see.
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
_RETRY_S = 1.0
_REMEMBERED_VISITORS = 1000


class Seeker(msgspec.Struct, frozen=True):
    """A visitor in line, and for how long."""

    person: Person
    waited_s: float


class Demo:
    """So many people, and their host. `run` until cancelled."""

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
        self._sent: dict[str, DemoGuest] = {}
        self._roles_for = roles
        self._roles: dict[str, Iterator[Role]] = {}
        self._guests = 0

    async def run(self) -> None:
        """Let the people come, and be their host."""
        async with trio.open_nursery() as nursery:
            for seat in range(self._people):
                nursery.start_soon(self._keep_taken, seat)
            await self._host()

    # The host

    async def _host(self) -> None:
        pair_at = trio.current_time() + _PAIR_EVERY_S
        while True:
            # The server knows nothing of a demo and tells nobody who waits: so look.
            await trio.sleep(_LOOK_EVERY_S)
            seekers = self._look()
            self._sent = {who: guest for who, guest in self._sent.items() if guest.is_looking}
            for seeker in seekers:
                if seeker.waited_s >= STEP_IN_S:
                    self._send_to(seeker.person)
            if seekers or trio.current_time() < pair_at:
                continue
            pair_at = trio.current_time() + _PAIR_EVERY_S
            # The most stay free for visitors.
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

    # The people

    async def _keep_taken(self, seat: int) -> None:
        """One seat: when a guest goes home, somebody new comes."""
        await trio.sleep(seat / _ARRIVALS_PER_S)
        while True:
            self._guests += 1
            try:
                await self._receive(f"{PREFIX}{self._name}-{self._guests}")
            except Exception:
                # Whatever befalls one of them, the visitors and the others go on.
                _log.exception("demo_person_failed")
                await trio.sleep(_RETRY_S)

    async def _receive(self, user_id: str) -> None:
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
                    return
