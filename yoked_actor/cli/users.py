"""`yoked-actor users`, `export` and `erase`: what a deployer does about people."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from pathlib import Path

import click
import trio
from rich.console import Console
from rich.table import Table

from yoked_actor.actors.jobs import ring
from yoked_actor.actors.people import erase_job, erase_without_a_server, refresh_job
from yoked_actor.app.server import DATABASE
from yoked_actor.cli.common import (
    PATIENCE_S,
    json_option,
    json_text,
    now,
    operator_name,
    place,
    settings_of,
    user_argument,
    when,
    with_store,
)
from yoked_actor.domain.jobs import Job, JobStatus
from yoked_actor.domain.people import PersonalData, Suspension, UserRow
from yoked_actor.domain.time import from_datetime
from yoked_actor.settings import Settings
from yoked_actor.store import (
    DataDirectoryInUse,
    InlineRunner,
    Store,
    StoreError,
    check_is_current,
    open_store,
)

MOST_AT_ONCE = 100_000
_LOOK_EVERY_S = 0.05


@click.group()
def users() -> None:
    """Look at users, and keep them out or let them in again, also while a server runs.

    \b
    Exits with 0 when done,
               1 when there is no such user or it cannot be done,
               2 on a wrong call.
    """


@users.command("list")
@click.option("--suspended", "only_suspended", is_flag=True, help="Only those who are suspended.")
@click.option("--after", default="", metavar="USER", help="Only those with a greater id.")
@click.option("--limit", type=click.IntRange(1, MOST_AT_ONCE), default=100, show_default=True)
@place
@json_option
def list_users(
    only_suspended: bool,
    after: str,
    limit: int,
    config_file: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Show users by id: no names and no places, `export` has those."""

    async def find(store: Store) -> list[UserRow]:
        return await store.operators.users(
            limit=limit, now=now(), after=after, only_suspended=only_suspended
        )

    found = with_store(settings_of(config_file, data_dir), find)
    if as_json:
        click.echo(json_text([_facts(row) for row in found]))
        return
    table = Table("user", "state", "profile", "credit", "reports about", "suspended since", "until")
    for row in found:
        profile = "yes" if row.has_profile else "no"
        table.add_row(
            *(row.user_id, row.state, profile, str(row.credit), str(row.reports)),
            when(row.suspended_at),
            when(row.suspended_until),
        )
    Console().print(table if found else "There are no such users.")


@users.command()
@user_argument
@place
@json_option
def show(user_id: str, config_file: Path | None, data_dir: Path | None, as_json: bool) -> None:
    """Show in numbers what is kept of a user."""

    async def find(store: Store) -> tuple[PersonalData, Suspension | None]:
        found = await store.privacy.export(user_id, now())
        return found, (await store.operators.suspensions(now())).get(user_id)

    data, suspension = with_store(settings_of(config_file, data_dir), find)
    if data.is_empty:
        raise click.ClickException(f"nothing is kept of {user_id}")
    facts = {
        "user_id": user_id,
        "state": "idle" if data.seat is None else data.seat.state,
        "credit": 0 if data.seat is None else data.seat.credit,
        "has_profile": data.profile is not None,
        "matches": len(data.matches),
        "dates": len(data.dates),
        "met": len(data.met),
        "blocks": len(data.blocks),
        "reports_made": len(data.reports),
        "days_of_offers": len(data.offers),
        "connections": len(data.connections),
        "suspended_since": None if suspension is None else when(suspension.at),
        "suspended_by": None if suspension is None else suspension.by,
        "suspended_for": None if suspension is None else suspension.reason,
        "suspended_until": None if suspension is None else when(suspension.until),
    }
    if as_json:
        click.echo(json_text(facts))
        return
    table = Table(show_header=False)
    for name, value in facts.items():
        table.add_row(name, "" if value is None else str(value))
    Console().print(table)


@users.command()
@user_argument
@click.option("--reason", required=True, help="Why. The user is shown it.")
@click.option(
    "--until",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M%z"]),
    help="When it ends by itself, such as 2026-02-01T09:00:00Z.  [default: never]",
)
@place
@json_option
def suspend(
    user_id: str,
    reason: str,
    until: datetime | None,
    config_file: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Keep a user out. A running server takes them out of line, match and date at once."""
    ends_at = None if until is None else from_datetime(until)
    if ends_at is not None and ends_at <= now():
        raise click.UsageError("--until is past: a suspension ends in the future")

    async def change(store: Store) -> bool:
        by = operator_name()
        changed = await store.operators.suspend(user_id, by, reason, now(), ends_at)
        await store.jobs.enqueue([refresh_job(now())], now())
        return changed

    changed = with_store(settings_of(config_file, data_dir), change)
    _say(user_id, changed, "is suspended", "was suspended already", as_json)


@users.command()
@user_argument
@place
@json_option
def unsuspend(user_id: str, config_file: Path | None, data_dir: Path | None, as_json: bool) -> None:
    """Let a user in again."""

    async def change(store: Store) -> bool:
        changed = await store.operators.unsuspend(user_id, operator_name(), now())
        await store.jobs.enqueue([refresh_job(now())], now())
        return changed

    changed = with_store(settings_of(config_file, data_dir), change)
    _say(user_id, changed, "may come in again", "was not suspended", as_json)


@click.command()
@user_argument
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file.")
@place
def export(user_id: str, out: Path | None, config_file: Path | None, data_dir: Path | None) -> None:
    """Print all that is kept of USER, as JSON: what the law calls a copy of their data.

    It is what `GET /api/me/export` gives to the user themselves: of others it holds no more than
    the user was told. A file is made so that only you can read it.

    \b
    Exits with 0 when done,
               1 when nothing is kept of USER or it cannot be done,
               2 on a wrong call.
    """

    async def find(store: Store) -> PersonalData:
        found = await store.privacy.export(user_id, now())
        if not found.is_empty:
            await store.audit.record(operator_name(), "export", user_id, "", now())
        return found

    data = with_store(settings_of(config_file, data_dir), find)
    if data.is_empty:
        raise click.ClickException(f"nothing is kept of {user_id}")
    text = json_text(data)
    if out is None:
        click.echo(text)
        return
    try:
        opened = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise click.ClickException(f"{out} cannot be written: {error.strerror}") from None
    click.echo(f"{out}: {len(text.encode()):,} bytes", err=True)


@click.command()
@user_argument
@click.option("--yes", is_flag=True, help="Do not ask. Needed where nobody can answer.")
@click.option(
    "--wait", "wait_s", default=30.0, show_default=True, help="How long to wait for a server, in s."
)
@place
@json_option
def erase(
    user_id: str,
    yes: bool,
    wait_s: float,
    config_file: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Erase USER: nothing of them is kept but a tombstone in what others remember.

    A running server does it, because only it can take the user out of a match; this leaves a job
    and waits for it. Without a server it is done here. There is no way back, and backups are not
    touched. A suspension ends with it: the same id may come again, as a new person.

    \b
    Exits with 0 when USER is erased (also when there was nothing),
               1 when that cannot be done, or is not done in time,
               2 on a wrong call.
    """
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("say --yes: there is no way back")
        click.confirm(f"Erase {user_id} for good?", abort=True)
    settings = settings_of(config_file, data_dir)
    try:
        done_by = trio.run(_erase, settings, user_id, wait_s)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    if as_json:
        click.echo(json_text({"erased": True, "by": done_by}))
    else:
        click.echo(f"{user_id} is erased")


async def _erase(settings: Settings, user_id: str, wait_s: float) -> str:
    directory, by = settings.server.data_dir, operator_name()
    check_is_current(directory / DATABASE, busy_timeout_s=PATIENCE_S)
    try:
        async with open_store(directory / DATABASE, runner=InlineRunner()) as own:
            await erase_without_a_server(own, settings, user_id, by, now())
            return "command line"
    except* DataDirectoryInUse:
        pass
    except* StoreError as group:
        raise _first(group) from None
    async with open_store(directory / DATABASE, runner=InlineRunner(), shared=True) as store:
        [asked] = await store.jobs.enqueue([erase_job(user_id, by, now())], now())
        ring(directory)
        with trio.move_on_after(wait_s):
            while (job := await store.jobs.get(asked.job_id)) is not None:
                if _is_over(job):
                    return "server"
                await trio.sleep(_LOOK_EVERY_S)
    raise StoreError(
        f"the server has not erased {user_id} within {wait_s:g} s; job {asked.job_id} will do it,"
        f" and `yoked-actor jobs show {asked.job_id}` tells how it goes"
    )


def _is_over(job: Job) -> bool:
    if job.status in (JobStatus.DEAD_LETTER, JobStatus.CANCELLED):
        raise StoreError(f"job {job.id} is {job.status}; `yoked-actor jobs show {job.id}` says why")
    return job.status is JobStatus.COMPLETED


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _facts(row: UserRow) -> dict[str, object]:
    return {
        "user_id": row.user_id,
        "state": row.state,
        "has_profile": row.has_profile,
        "credit": row.credit,
        "reports": row.reports,
        "suspended_since": None if row.suspended_at is None else when(row.suspended_at),
        "suspended_until": None if row.suspended_until is None else when(row.suspended_until),
    }


def _say(user_id: str, changed: bool, done: str, before: str, as_json: bool) -> None:
    if as_json:
        click.echo(json_text({"user_id": user_id, "changed": changed}))
    else:
        click.echo(f"{user_id} {done if changed else before}")
