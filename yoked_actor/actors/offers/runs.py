"""A cache of computed runs of offers, which the jobs of one run share.

A user's set is part of its zone's run and cannot be made alone (R42). So the first job computes the
run on a thread and encodes its sets for the store, and the other jobs wait for it. If they went on
while the thread encodes, the two would compete for the interpreter lock: both would take longer in
all, and so would each transaction. Another process, or one that has evicted the run, computes it
again from the frozen pool, with the same result. Only a few runs are cached, because a large zone's
run takes hundreds of megabytes.

Where many workers share a morning, the job of the zone computes the run once and stores its sets in
parts. Each worker reads the parts that its jobs name, and computes the run only if there are none.

A run may be frozen again while it is cached: once a second its version is checked. An unreadable
pool is cached as well, so that not every one of a hundred thousand jobs reads it.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from functools import partial
from typing import TypeVar

import structlog
import trio

from yoked_actor.actors.offers.give_way import GiveWay
from yoked_actor.actors.offers.parts import RunParts
from yoked_actor.domain.jobs import Permanent
from yoked_actor.domain.offers import FrozenRun, RunVersion, joint_digest, make_run
from yoked_actor.store import Offers, PreparedSet, UnreadableRun, parts_of, prepare_set

_log = structlog.get_logger()

T = TypeVar("T")
Sets = Mapping[str, PreparedSet]
Report = Callable[[int, int | None, str], None]
"""Called with how much is done, of how much, and of what."""
_FRESH_FOR_S = 1.0
MOST_HELD = 2
"""Jobs come zone by zone: one for the current zone, one for retries."""


class _Held:
    """One cached run, or one that the holder of the lock computes."""

    __slots__ = ("fresh_until", "lock", "sets", "unreadable", "version")

    def __init__(self) -> None:
        self.lock = trio.Lock()
        self.sets: Sets | None = None
        self.unreadable: str | None = None
        """Why it cannot be computed."""
        self.version: RunVersion | None = None
        """The version of the frozen pool that it was computed from."""
        self.fresh_until = -math.inf

    def is_outdated_by(self, version: RunVersion | None) -> bool:
        """Whether it must be computed again; not after an erasure: the store omits erased users."""
        if version is None or self.version is None:
            return True
        if self.unreadable is not None:
            return version != self.version
        return version.refrozen != self.version.refrozen

    def get(self) -> Sets | None:
        """The sets, if their version was checked recently. `Permanent` when there are none."""
        if trio.current_time() >= self.fresh_until:
            return None
        if self.unreadable is not None:
            raise Permanent(self.unreadable)
        return self.sets


class OfferRuns:
    """Computes each run once, and caches the last ones."""

    def __init__(self, offers: Offers, *, threads: bool = True, shared: bool = False) -> None:
        """`shared`: the sets of a run are stored for other workers, and read from them."""
        self._offers = offers
        self._parts = RunParts(offers) if shared else None
        # One at a time: two would compete for the interpreter lock.
        self._limiter = trio.CapacityLimiter(1) if threads else None
        self._held: OrderedDict[tuple[str, date], _Held] = OrderedDict()
        self._at_hand: FrozenRun | None = None

    @contextmanager
    def at_hand(self, frozen: FrozenRun) -> Iterator[None]:
        """Make the run from this pool if it is made meanwhile, instead of one that is read."""
        self._at_hand = frozen
        try:
            yield
        finally:
            if self._at_hand is frozen:
                self._at_hand = None

    async def sets(self, zone: str, day: date, report: Report | None = None) -> Sets:
        """The sets of all users of a run.

        Raises `Permanent` when it was never frozen, was dropped, or cannot be read. `report` is
        called with the progress of the computation, on another thread.

        Checkpoints unless the run is cached and fresh. If cancelled, the computation is abandoned.
        """
        held = self._held.get((zone, day))
        if held is None:
            held = self._held[zone, day] = _Held()
        self._held.move_to_end((zone, day))
        if (sets := held.get()) is not None:
            return sets
        async with held.lock:
            if (sets := held.get()) is not None:
                return sets
            version = await self._offers.load_version(zone, day)
            if held.is_outdated_by(version):
                held.sets = held.unreadable = None
            if held.sets is None and held.unreadable is None:
                try:
                    frozen = await self._frozen(zone, day, version)
                    held.sets = await self._make(frozen, report)
                    held.version = frozen.version
                except UnreadableRun as error:
                    held.unreadable, held.version = str(error), version
                    _log.error("offer_pool_unreadable", zone=zone, date=day.isoformat())
                self._evict()
            held.fresh_until = trio.current_time() + _FRESH_FOR_S
            sets = held.get()
            assert sets is not None
            return sets

    def fresh_set_of(self, zone: str, day: date, user_id: str) -> PreparedSet | None:
        """A user's set of a run that is cached and fresh; else None, and `set_of` has to be called.

        It does without the awaits, for each of a hundred thousand jobs. Raises as `sets` does.
        """
        held = self._held.get((zone, day))
        sets = None if held is None else held.get()
        return None if sets is None else sets.get(user_id)

    async def set_of(
        self, zone: str, day: date, user_id: str, report: Report | None = None
    ) -> PreparedSet | None:
        """A user's set of a run, if the run makes one. Raises as `sets` does."""
        if self._parts is not None and (zone, day) not in self._held:
            made = await self._parts.find(zone, day, user_id)
            if made is not None:
                return made
        return (await self.sets(zone, day, report)).get(user_id)

    async def share(self, zone: str, day: date, report: Report | None = None) -> None:
        """Compute a run, and store its sets for the other workers. Without them, do nothing.

        Raises as `sets` does.
        """
        if self._parts is None:
            return
        sets = await self.sets(zone, day, report)
        inputs = next((one.inputs for one in sets.values()), None)
        if inputs is None:
            return
        stored = 0
        parts = parts_of(list(sets.values()))
        while (part := await self._in_thread(lambda: next(parts, None))) is not None:
            if not await self._offers.keep_part(zone, day, inputs, part):
                break  # frozen again, or a user was erased: then it is computed once more
            stored += 1
        _log.info("offers_shared", zone=zone, date=day.isoformat(), parts=stored)

    async def _in_thread(self, call: Callable[[], T]) -> T:
        if self._limiter is None:
            await trio.lowlevel.checkpoint()
            return call()
        return await trio.to_thread.run_sync(call, limiter=self._limiter)

    def is_refrozen(self, zone: str, day: date) -> bool:
        """Whether an operator has frozen a cached run again."""
        held = self._held.get((zone, day))
        return held is not None and held.version is not None and held.version.refrozen > 0

    async def _frozen(self, zone: str, day: date, version: RunVersion | None) -> FrozenRun:
        """What a run is made from. `Permanent` when there is nothing."""
        frozen = self._at_hand
        if frozen is None or (frozen.zone, frozen.day, frozen.version) != (zone, day, version):
            frozen = await self._offers.load_run(zone, day)
        if frozen is not None and frozen.is_to_be_frozen_again:
            frozen = await self._offers.freeze_again(zone, day)
        if frozen is None or frozen.pool is None:
            what = "never frozen" if frozen is None else "dropped since"
            raise Permanent(f"the pool of the run of {day} in {zone} was {what}")
        return frozen

    async def _make(self, frozen: FrozenRun, report: Report | None) -> Sets:
        """Compute the sets of a run, and record that they were made."""
        began = trio.current_time()
        sets, digest = await self._compute(partial(_sets_of, frozen, report))
        _log.info(
            "offers_made",
            zone=frozen.zone,
            date=frozen.day.isoformat(),
            users=len(sets),
            offers=sum(one.offers for one in sets.values()),
            without=sum(not one.offers for one in sets.values()),
            scoring=frozen.rules.scoring,
            seconds=round(trio.current_time() - began, 3),
        )
        await self._offers.record_outputs(frozen.zone, frozen.day, frozen.inputs, digest)
        return sets

    async def _compute(self, compute: Callable[[Callable[[], bool]], T]) -> T:
        """Call `compute` on a thread, with what it has to call often."""
        is_wanted, give_way = True, GiveWay(self._offers.no_transaction)

        def go_on() -> bool:
            if not is_wanted:
                raise _NotWanted
            return give_way.breathe()

        if self._limiter is None:
            await trio.lowlevel.checkpoint()
            return compute(go_on)
        try:
            return await trio.to_thread.run_sync(
                compute, go_on, abandon_on_cancel=True, limiter=self._limiter
            )
        finally:
            is_wanted = False

    def _evict(self) -> None:
        for key, held in list(self._held.items()):
            if len(self._held) <= MOST_HELD:
                return
            if not held.lock.locked():
                del self._held[key]


def _sets_of(
    frozen: FrozenRun, report: Report | None, go_on: Callable[[], bool]
) -> tuple[Sets, str]:
    """The sets of a run, in the order of user ids, and their digest. `go_on` is called often."""

    def progress(done: int, of: int) -> None:
        if go_on() and report is not None:
            report(done, max(done, of), "users whose offers are chosen")

    assert frozen.pool is not None
    made = make_run(frozen.pool, frozen.rules, progress)
    prepared: dict[str, PreparedSet] = {}
    for user_id in list(made):
        # A prepared set takes a third of the memory of the made one.
        prepared[user_id] = prepare_set(frozen.zone, made.pop(user_id), frozen.inputs)
        go_on()
    return prepared, joint_digest(one.digest for one in prepared.values())


class _NotWanted(Exception):
    """No job waits for the run any more."""
