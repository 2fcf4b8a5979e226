"""Jobs of care: erasures that a deployer asks for, news of suspensions, and what grows old.

The command line works beside a running server, and only the server can take a user out of a match.
So it leaves a job, and the server does it in the right order.
"""

from __future__ import annotations

from pydantic import BaseModel

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, JobRun
from yoked_actor.actors.people.care import Care
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.time import MICROSECONDS, Instant, after, utc_date
from yoked_actor.settings import PrivacySettings
from yoked_actor.store import ERASE_JOB, Store, Tx, enqueue_in, record_in

REFRESH = "users.refresh"
PRUNE = "store.prune"
_DAY_S = 86_400
_AT_ONCE = 1_000


class EraseUser(BaseModel):
    """Whom to erase, and who asked for it; nobody once it is done, because the erasure itself
    empties the payload."""

    user_id: str | None = None
    by: str = ""


class Refresh(BaseModel):
    """Suspensions have changed."""


class Prune(BaseModel):
    """Which day's it is, in UTC."""

    date: str


def erase_job(user_id: str, by: str, at: Instant) -> NewJob:
    """The job that erases a user."""
    return NewJob(ERASE_JOB, {"user_id": user_id, "by": by}, at, priority=-20)


def refresh_job(at: Instant) -> NewJob:
    """The job that tells a server of a change of suspensions."""
    return NewJob(REFRESH, {}, at, priority=-20)


def prune_store_job(at: Instant) -> NewJob:
    """The upkeep of the day that an instant lies in."""
    date = utc_date(at).isoformat()
    return NewJob(PRUNE, {"date": date}, at, key=date, priority=10)


def register_care(
    dispatcher: Dispatcher, care: Care, store: Store, clock: Clock, settings: PrivacySettings
) -> None:
    """Let the dispatcher of a server run these."""

    async def erase(run: JobRun[EraseUser]) -> None:
        user_id, by = run.payload.user_id, run.payload.by
        if user_id is None:
            return
        tombstone, now = await care.erase(user_id), clock.now()

        def effect(tx: Tx) -> None:
            record_in(tx, by, "erase", tombstone, "", now)

        run.effect = effect

    async def refresh(run: JobRun[Refresh]) -> None:
        await care.refresh()

    async def prune(run: JobRun[Prune]) -> None:
        now = clock.now()
        for table, days in (
            ("reports", settings.keep_reports_days),
            ("quality", settings.keep_quality_days),
            ("audit", settings.keep_audit_days),
            ("suspended", 0),
        ):
            line = after(now, -days * _DAY_S)
            # A little at a time: other writes want their turn.
            while await store.privacy.prune(table, line, _AT_ONCE) == _AT_ONCE:
                pass
        await store.privacy.wipe()
        day = _DAY_S * MICROSECONDS
        tomorrow = prune_store_job((now // day + 1) * day)

        def effect(tx: Tx) -> None:
            enqueue_in(tx, [tomorrow], now)

        run.effect = effect

    dispatcher.register(ERASE_JOB, EraseUser, erase)
    dispatcher.register(REFRESH, Refresh, refresh)
    dispatcher.register(PRUNE, Prune, prune)
