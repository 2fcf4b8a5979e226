"""Erases a user, through a running server or directly."""

from __future__ import annotations

import click
import trio

from yoked_actor.actors.jobs import wake_other_processes
from yoked_actor.actors.people import erase_job, erase_offline
from yoked_actor.app.base import DATABASE
from yoked_actor.cli.common import Source
from yoked_actor.cli.run.common import BUSY_TIMEOUT_S, json_text, now, operator_name, settings_of
from yoked_actor.domain.jobs import Job, JobStatus
from yoked_actor.settings import Settings
from yoked_actor.store import (
    DatabaseInUse,
    DataDirectoryInUse,
    InlineRunner,
    StoreError,
    check_is_current,
    open_store,
)

_POLL_EVERY_S = 0.05


def erase_user(source: Source, user_id: str, wait_s: float, *, as_json: bool) -> None:
    """Erase a user, and print whether the server or this process did it."""
    try:
        done_by = trio.run(_erase, settings_of(source), user_id, wait_s)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    click.echo(
        json_text({"erased": True, "by": done_by}) if as_json else f"user {user_id} is erased"
    )


async def _erase(settings: Settings, user_id: str, wait_s: float) -> str:
    directory, by = settings.server.data_dir, operator_name()
    url = settings.store.url.get_secret_value()
    if not url:
        check_is_current(directory / DATABASE, busy_timeout_s=BUSY_TIMEOUT_S)
    failure: BaseException | None = None
    try:
        async with open_store(directory / DATABASE, runner=InlineRunner(), url=url) as own:
            await erase_offline(own, settings, user_id, by, now(), wait_s)
            return "command line"
    except* (DataDirectoryInUse, DatabaseInUse):
        pass
    except* StoreError as group:
        failure = _first(group)
    if failure is not None:
        # Not raised above: Python 3.11.2 would put it back into its group.
        raise failure
    async with open_store(
        directory / DATABASE, runner=InlineRunner(), shared=True, url=url
    ) as store:
        [asked] = await store.jobs.enqueue([erase_job(user_id, by, now())], now())
        if store.bell is None:
            wake_other_processes(directory)
        else:
            await store.bell.ring()
        with trio.move_on_after(wait_s):
            while (job := await store.jobs.get(asked.job_id)) is not None:
                if _is_over(job):
                    return "server"
                await trio.sleep(_POLL_EVERY_S)
    raise StoreError(
        f"the server did not erase {user_id} within {wait_s:g} s; job {asked.job_id} is still"
        f" queued, and `yoked-actor jobs show {asked.job_id}` shows its status"
    )


def _is_over(job: Job) -> bool:
    if job.status in (JobStatus.DEAD_LETTER, JobStatus.CANCELLED):
        raise StoreError(
            f"job {job.id} is {job.status}; `yoked-actor jobs show {job.id}` shows why"
        )
    return job.status is JobStatus.COMPLETED


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
