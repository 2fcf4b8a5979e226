"""A cache of computed runs of offers, which the jobs of one run share.

A user's set is part of its zone's run and cannot be made alone (R42). So the first job computes the
run on a thread, and the other jobs wait for it. They go on while the thread encodes the sets for
the store. Another process, or one that has evicted the run, computes it again from the frozen pool,
with the same result. Only a few runs are cached, because a large zone's run takes hundreds of
megabytes.

Where many workers share a morning, the job of the zone computes the run once and stores its sets in
parts. Each worker reads the parts that its jobs name, and computes the run only if there are none.

A run may be frozen again while it is cached: once a second its version is checked. An unreadable
pool is cached as well, so that not every one of a hundred thousand jobs reads it.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import TypeVar

import structlog
import trio

from yoked_actor.actors.offers.give_way import GiveWay
from yoked_actor.actors.offers.parts import RunParts
from yoked_actor.actors.offers.sets_in_making import Sets, SetsInMaking
from yoked_actor.domain.jobs import Permanent
from yoked_actor.domain.offers import FrozenRun, OfferSet, RunVersion, make_run
from yoked_actor.store import Offers, PreparedSet, UnreadableRun, parts_of

_log = structlog.get_logger()

T = TypeVar("T")
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
        self.sets: Sets | SetsInMaking | None = None
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

    def get(self) -> Sets | SetsInMaking | None:
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
        self._is_served_early = threads and not shared
        """Whether jobs get sets while other sets are prepared. Parts need all of them."""
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
        while isinstance(sets := await self._find(zone, day, report), SetsInMaking):
            await sets.is_over.wait()
        return sets

    async def _find(
        self, zone: str, day: date, report: Report | None = None
    ) -> Sets | SetsInMaking:
        """The sets of a run, of which some may not be prepared yet. Raises as `sets` does."""
        held = self._held.get((zone, day))
        if held is None:
            held = self._held[zone, day] = _Held()
        self._held.move_to_end((zone, day))
        if (sets := held.get()) is not None:
            return sets
        made: SetsInMaking | None = None
        async with held.lock:
            if (sets := held.get()) is not None:
                return sets
            version = await self._offers.load_version(zone, day)
            if held.is_outdated_by(version):
                held.sets = held.unreadable = None
            if held.sets is None and held.unreadable is None:
                try:
                    held.sets = made = await self._make(zone, day, version, report)
                    held.version = made.frozen.version
                except UnreadableRun as error:
                    held.unreadable, held.version = str(error), version
                    _log.error("offer_pool_unreadable", zone=zone, date=day.isoformat())
                self._evict()
                if made is not None and not self._is_served_early:
                    held.sets = await self._prepare(made)
                    made = None
            held.fresh_until = trio.current_time() + _FRESH_FOR_S
            sets = held.get()
            assert sets is not None
        if made is None:
            return sets
        # The other jobs go on meanwhile, with the sets that are prepared.
        try:
            prepared = await self._prepare(made)
        except BaseException:
            if held.sets is made:
                held.sets = None  # it has to be made once more: its digest is not recorded
            raise
        finally:
            made.is_over.set()
        if held.sets is made:
            held.sets = prepared
        return prepared

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
        return (await self._find(zone, day, report)).get(user_id)

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

    async def _make(
        self, zone: str, day: date, version: RunVersion | None, report: Report | None
    ) -> SetsInMaking:
        """Compute the sets of a run."""
        frozen = self._at_hand
        if frozen is None or (frozen.zone, frozen.day, frozen.version) != (zone, day, version):
            frozen = await self._offers.load_run(zone, day)
        if frozen is not None and frozen.is_to_be_frozen_again:
            frozen = await self._offers.freeze_again(zone, day)
        if frozen is None or frozen.pool is None:
            what = "never frozen" if frozen is None else "dropped since"
            raise Permanent(f"the pool of the run of {day} in {zone} was {what}")
        pool, rules, began = frozen.pool, frozen.rules, trio.current_time()

        def choose(go_on: Callable[[], bool]) -> dict[str, OfferSet]:
            def progress(done: int, of: int) -> None:
                if go_on() and report is not None:
                    report(done, max(done, of), "users whose offers are chosen")

            return make_run(pool, rules, progress)

        return SetsInMaking(frozen, await self._compute(choose), began)

    async def _prepare(self, made: SetsInMaking) -> Sets:
        """Prepare sets, and record that the run was made."""
        sets, digest = await self._compute(made.prepare_all)
        frozen = made.frozen
        _log.info(
            "offers_made",
            zone=frozen.zone,
            date=frozen.day.isoformat(),
            users=len(sets),
            offers=sum(one.offers for one in sets.values()),
            without=sum(not one.offers for one in sets.values()),
            scoring=frozen.rules.scoring,
            seconds=round(trio.current_time() - made.began, 3),
        )
        await self._offers.record_outputs(frozen.zone, frozen.day, frozen.inputs, digest)
        return sets

    async def _compute(self, compute: Callable[[Callable[[], bool]], T]) -> T:
        """Call `compute` on a thread, with what it has to call often."""
        is_wanted, give_way = True, GiveWay(self._offers.applied)

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


class _NotWanted(Exception):
    """No job waits for the run any more."""
