"""What a zone's run of offers is made from: frozen once, stored, read back.

A pool is read on a connection of its own: it takes seconds for a large zone, and no command of a
user may wait for that. It is stored compressed until `drop_pools`, so that an interrupted run
continues with the same pool, and can be repeated for verification. A pool is decoded before it is
stored: one that cannot be decoded fails the job that freezes it, which is retried. A stored pool
that cannot be decoded raises `UnreadableRun`; `refreeze` replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from functools import partial

from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.offers import FrozenRun, OfferRules, RunProgress, RunVersion
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, statement
from yoked_actor.store.jobs import enqueue_in
from yoked_actor.store.offers.errors import NoSuchRun
from yoked_actor.store.offers.fresh_pool import FreshPool, pool_of, rules_of
from yoked_actor.store.offers.parts import Parts

_PROGRESS = statement("offers/progress")
_ADD_RUN = statement("offers/add_run")
_REPLACE_RUN = statement("offers/replace_run")
_LOAD_RUN = statement("offers/load_run")


class Runs(Parts):
    """The frozen runs: a part of `Offers`."""

    async def freeze_pool(
        self,
        zone: str,
        day: date,
        offered_at: Instant,
        expires_at: Instant,
        rules: OfferRules,
        now: Instant,
        rematch_after_days: float | None = None,
    ) -> FrozenRun:
        """Freeze what a run is made from; the second caller gets what the first one froze."""
        frozen = await self.load_run(zone, day)
        if frozen is not None and not frozen.is_to_be_frozen_again:
            return frozen
        erased = 0 if frozen is None else frozen.erased
        refrozen = 0 if frozen is None else frozen.refrozen
        while True:
            fresh = await self._database.read_long(
                lambda tx: FreshPool(
                    tx, zone, day, offered_at, expires_at, rules, rematch_after_days, now
                )
            )
            kept = await self._database.write(partial(fresh.keep, run_statement=_ADD_RUN))
            if kept:
                return fresh.run(erased, refrozen)
            if kept is not None:
                break
        first = await self.load_run(zone, day)
        assert first is not None
        return first

    async def freeze_again(self, zone: str, day: date) -> FrozenRun:
        """Freeze a run again, by its own rules, after an erasure has dropped its pool."""
        key = (day.isoformat(), zone)
        row = await self._database.read(
            lambda tx: tx.execute(
                "SELECT offered_at, expires_at, rules, frozen_at, rematch_after_days"
                " FROM offer_runs WHERE day = ? AND zone = ?",
                key,
            ).fetchone()
        )
        offered_at, expires_at, text, frozen_at, rematch_after_days = row
        rules = rules_of(zone, day, text)
        return await self.freeze_pool(
            zone, day, offered_at, expires_at, rules, frozen_at, rematch_after_days
        )

    async def refreeze(
        self,
        zone: str,
        day: date,
        rules: OfferRules,
        now: Instant,
        rematch_after_days: float | None,
        then: Callable[[FrozenRun], Sequence[NewJob]],
    ) -> FrozenRun:
        """Replace the pool of a run, readable or not, by one of the present people.

        The instants of the run and stored sets stay: their users receive none from the new pool.
        The jobs that `then` returns are enqueued in the same transaction. `NoSuchRun` when the run
        was never frozen.
        """
        key = (day.isoformat(), zone)
        row = await self._database.read(
            lambda tx: tx.execute(
                "SELECT offered_at, expires_at FROM offer_runs WHERE day = ? AND zone = ?", key
            ).fetchone()
        )
        if row is None:
            raise NoSuchRun(f"the run of {day} in {zone} was never frozen")
        offered_at, expires_at = row
        while True:
            fresh = await self._database.read_long(
                lambda tx: FreshPool(
                    tx, zone, day, offered_at, expires_at, rules, rematch_after_days, now
                )
            )

            def replace(tx: Tx, fresh: FreshPool = fresh) -> FrozenRun | None:
                kept = fresh.keep(tx, _REPLACE_RUN)
                if kept is None:
                    return None
                if not kept:
                    raise NoSuchRun(f"the run of {day} in {zone} is gone")
                (refrozen,) = tx.execute(
                    "SELECT refrozen FROM offer_runs WHERE day = ? AND zone = ?", key
                ).fetchone()
                run = fresh.run(0, refrozen)
                enqueue_in(tx, then(run), now)
                return run

            run = await self._database.write(replace)
            if run is not None:
                return run

    async def preview_pool(
        self,
        zone: str,
        day: date,
        offered_at: Instant,
        expires_at: Instant,
        rules: OfferRules,
        rematch_after_days: float | None = None,
    ) -> FrozenRun:
        """What a run would be made from if it were frozen now; nothing is stored."""
        fresh = await self._database.read_long(
            lambda tx: FreshPool(
                tx, zone, day, offered_at, expires_at, rules, rematch_after_days, offered_at
            )
        )
        return fresh.run(0, 0)

    async def progress(self, zone: str, day: date) -> RunProgress | None:
        """The progress of a run; None when it was never started."""
        asked = {"zone": zone, "day": day.isoformat()}
        row = await self._database.read(lambda tx: tx.execute(_PROGRESS, asked).fetchone())
        return None if row is None else RunProgress(row[0] == "done", *row[1:])

    async def run_days(self, zone: str | None, day: date | None) -> list[tuple[str, date]]:
        """The frozen runs, newest first; of one zone or date when given."""
        asked = (zone, None if day is None else day.isoformat())
        rows = await self._database.read(
            lambda tx: tx.execute(
                "SELECT zone, day FROM offer_runs WHERE (CAST(?1 AS TEXT) IS NULL OR zone = ?1)"
                " AND (CAST(?2 AS TEXT) IS NULL OR day = ?2) ORDER BY day DESC, zone",
                asked,
            ).fetchall()
        )
        return [(name, date.fromisoformat(text)) for name, text in rows]

    async def load_run(self, zone: str, day: date) -> FrozenRun | None:
        """A run, if it was frozen; `UnreadableRun` when it cannot be decoded."""

        def load(tx: Tx) -> FrozenRun | None:
            row = tx.execute(_LOAD_RUN, (day.isoformat(), zone)).fetchone()
            if row is None:
                return None
            text, inputs, outputs, content, erased, refrozen = row
            rules = rules_of(zone, day, text)
            pool = None if content is None else pool_of(zone, day, content)
            return FrozenRun(day, zone, rules, inputs, outputs, pool, erased, refrozen)

        return await self._database.read_long(load)

    async def load_version(self, zone: str, day: date) -> RunVersion | None:
        """The current version of a run; None when it was never frozen."""
        key = (day.isoformat(), zone)
        row = await self._database.read(
            lambda tx: tx.execute(
                "SELECT inputs, refrozen, erased FROM offer_runs WHERE day = ? AND zone = ?", key
            ).fetchone()
        )
        return None if row is None else RunVersion(*row)

    async def record_outputs(self, zone: str, day: date, inputs: str, digest: str) -> None:
        """Store the digest of all sets that were made from these inputs; the first one stands."""
        row = (digest, day.isoformat(), zone, inputs)

        def record(tx: Tx) -> None:
            tx.execute(
                "UPDATE offer_runs SET outputs = coalesce(outputs, ?)"
                " WHERE day = ? AND zone = ? AND inputs = ?",
                row,
            )

        await self._database.write(record, atomic=True)

    async def drop_pools(self, before: date) -> int:
        """Drop the pools of all runs before a date, and their parts; returns how many pools."""
        row = (before.isoformat(),)

        def drop(tx: Tx) -> int:
            tx.execute("DELETE FROM offer_parts WHERE day < ?", row)
            return tx.execute("DELETE FROM offer_pools WHERE day < ?", row).rowcount

        return await self._database.write(drop)
