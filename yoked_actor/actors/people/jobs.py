"""Jobs about users: erasures, changes of suspensions, and the daily deletion of old rows.

Only the server can remove a user from a match. So the command line, which works beside a running
server, enqueues a job for it.
"""

from __future__ import annotations

from pydantic import BaseModel

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, JobRun
from yoked_actor.actors.lobby import RoomMoved
from yoked_actor.actors.people.erasure import Eraser
from yoked_actor.actors.people.suspension import SuspensionEnforcer
from yoked_actor.domain.jobs import NewJob, Snooze
from yoked_actor.domain.time import MICROSECONDS, Instant, after, utc_date
from yoked_actor.settings import PrivacySettings
from yoked_actor.store import ERASE_JOB, Store, Tx, enqueue_in, record_in

REFRESH = "users.refresh"
PRUNE = "store.prune"
_DAY_S = 86_400
_AT_ONCE = 1_000
_ELSEWHERE_S = 0.25


class EraseUser(BaseModel):
    """The user to erase, and who asked for it. The erasure empties the payload of its job."""

    user_id: str | None = None
    by: str = ""


class Refresh(BaseModel):
    """Suspensions have changed."""


class Prune(BaseModel):
    """The day, in UTC."""

    date: str


def erase_job(user_id: str, by: str, at: Instant) -> NewJob:
    """The job that erases a user."""
    return NewJob(ERASE_JOB, {"user_id": user_id, "by": by}, at, priority=-20)


def refresh_job(at: Instant) -> NewJob:
    """The job that has a server read suspensions again."""
    return NewJob(REFRESH, {}, at, priority=-20)


def prune_store_job(at: Instant) -> NewJob:
    """The job that deletes old rows, of the day of an instant."""
    date = utc_date(at).isoformat()
    return NewJob(PRUNE, {"date": date}, at, key=date, priority=10)


def register_people_jobs(
    dispatcher: Dispatcher,
    eraser: Eraser,
    enforcer: SuspensionEnforcer,
    store: Store,
    clock: Clock,
    settings: PrivacySettings,
) -> None:
    """Register the handlers with a server's dispatcher."""

    async def erase(run: JobRun[EraseUser]) -> Snooze | None:
        user_id, by = run.payload.user_id, run.payload.by
        if user_id is None:
            return None
        try:
            tombstone = await eraser.erase(user_id)
        except RoomMoved:
            # Only the node that serves the user's room can erase the user: let it claim the job.
            return Snooze(_ELSEWHERE_S)
        now = clock.now()

        def effect(tx: Tx) -> None:
            record_in(tx, by, "erase", tombstone, "", now)

        run.effect = effect
        return None

    async def refresh(run: JobRun[Refresh]) -> None:
        await enforcer.refresh()

    async def prune(run: JobRun[Prune]) -> None:
        now = clock.now()
        for table, days in (
            ("reports", settings.keep_reports_days),
            ("warnings", settings.keep_reports_days),
            ("quality", settings.keep_quality_days),
            ("audit", settings.keep_audit_days),
            ("suspended", 0),
        ):
            line = after(now, -days * _DAY_S)
            # In small transactions, so that other writes do not wait.
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
