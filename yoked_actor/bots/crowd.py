"""A crowd: a constant number of bots, in which new ones replace those that leave.

Two users meet only once, so a small crowd of the same users would soon have no more matches. A bot
that has waited long enough leaves, and a new one starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from random import Random
from typing import Any

import trio

from yoked_actor.bots.bot import Bot, Pace
from yoked_actor.bots.people import make_person
from yoked_actor.bots.personas import persona_of
from yoked_actor.bots.tally import Tally
from yoked_actor.bots.valve import Valve
from yoked_actor.client import (
    UNREACHABLE,
    Address,
    Api,
    CallRefused,
    ConnectionLost,
    Dial,
    RoomRefused,
    open_client,
)

_CLOSE_S = 5.0
_RETRY_S = 1.0


class Crowd:
    """Bots on one server; `run` until `stop`."""

    def __init__(
        self,
        url: str,
        *,
        users: int,
        persona: str,
        seed: int,
        ramp: float = 50.0,
        pace: Pace | None = None,
        tally: Tally | None = None,
        dial: Dial | None = None,
        others: Sequence[str] = (),
        rooms: Sequence[str] = (),
        people: Callable[[Random], dict[str, Any]] = make_person,
    ) -> None:
        """`others` are URLs of other nodes of the same service.

        The bots spread evenly over `rooms`; without any they are in `main`.
        """
        self.tally = Tally() if tally is None else tally
        self.users = users
        self.seed = seed
        self._url = url
        self._persona = persona
        self._ramp = ramp
        self._pace = Pace() if pace is None else pace
        self._home = Address.parse(url)
        self._dial = dial or self._home.dial()
        self._others = others
        self._rooms = tuple(rooms)
        self._people = people
        self._playing: set[trio.CancelScope] = set()
        self._stopped = trio.Event()

    @property
    def is_stopping(self) -> bool:
        """Whether `stop` has been called."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Stop all bots; `run` returns soon after."""
        self._stopped.set()
        for scope in self._playing:
            scope.cancel()

    async def run(self) -> None:
        """Start the bots, and run them until `stop`."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._start_bots, nursery)
            await self._stopped.wait()
            nursery.cancel_scope.deadline = trio.current_time() + _CLOSE_S

    async def _start_bots(self, nursery: trio.Nursery) -> None:
        start = trio.current_time()
        for number in range(self.users):
            await trio.sleep_until(start + number / self._ramp)
            if self._stopped.is_set():
                return
            nursery.start_soon(self._keep_running, number)

    async def _keep_running(self, number: int) -> None:
        """One place in the crowd: a new bot follows one that leaves."""
        for visit in count():
            if not await self._run_bot(number, visit):
                return

    async def _run_bot(self, number: int, visit: int) -> bool:
        """Run one bot from login to close; False when no other should follow."""
        user_id = f"bot{self.seed}-{number}" + (f".{visit}" if visit else "")
        random = Random(user_id)
        room = self._rooms[number % len(self._rooms)] if self._rooms else None
        if await self._log_in(user_id, random) is None:
            return False
        while not self._stopped.is_set():
            try:
                await self._play(user_id, random, room)
                return not self._stopped.is_set()
            except* ConnectionLost as group:
                lost = group
            if not self._is_unreachable(user_id, lost):
                return False
            await trio.sleep(_RETRY_S)
        return False

    async def _log_in(self, user_id: str, random: Random) -> str | None:
        api = Api(self._url, dial=self._dial, others=self._others)
        profile = self._people(random)
        while not self._stopped.is_set():
            try:
                return await api.login(user_id, profile)
            except (OSError, trio.BrokenResourceError):
                await trio.sleep(_RETRY_S)
            except CallRefused as refused:
                self.tally.failed(refused.code, f"{user_id}: login refused: {refused}")
                return None
        return None

    async def _play(self, user_id: str, random: Random, room: str | None) -> None:
        persona = persona_of(self._persona, random)
        valve = Valve()
        api = Api(self._url, dial=self._dial, others=self._others)
        log_in = partial(api.login, user_id)

        def dial_to(address: Address) -> Dial:
            return valve.on(self._dial if address == self._home else address.dial())

        async with open_client(
            self._url, log_in, dial_to=dial_to, others=self._others, room=room
        ) as client:
            bot = Bot(user_id, client, random, self.tally, self._pace, valve)
            with self.tally.present(bot), trio.CancelScope() as scope:
                self._playing.add(scope)
                if self._stopped.is_set():
                    scope.cancel()
                try:
                    await persona(bot)
                finally:
                    self._playing.discard(scope)
            valve.open()

    def _is_unreachable(self, user_id: str, group: BaseExceptionGroup[ConnectionLost]) -> bool:
        """Whether the server could not be reached; counts any other loss as an error."""
        lost: BaseException = group
        while isinstance(lost, BaseExceptionGroup):
            lost = lost.exceptions[0]
        assert isinstance(lost, ConnectionLost)
        if isinstance(lost, RoomRefused):
            self.tally.failed(lost.error, f"{user_id}: {lost}")
            return False
        if lost.code == UNREACHABLE:
            return True
        self.tally.failed(f"closed with {lost.code}", f"{user_id}: {lost}")
        return False
