"""`yoked-actor jobs`: look at the queue and mend it, on the database of a server that may run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from yoked_actor.cli.common import (
    json_option,
    json_text,
    now,
    operator_name,
    place,
    settings_of,
    when,
    with_store,
)
from yoked_actor.domain.jobs import (
    ImpossibleJobMove,
    Job,
    JobAttempt,
    JobStatus,
    Progress,
    checked_reason,
    readable_payload,
)
from yoked_actor.store import Jobs, KeptAnswer, NoSuchJob

T = TypeVar("T")
MOST_AT_ONCE = 10_000


@click.group()
def jobs() -> None:
    """Look at background jobs and mend them, also while a server runs.

    Exits with 0 when done, 1 when there is no such job or it cannot be done, 2 on a wrong call.
    """


@jobs.command("list")
@click.option("--status", type=click.Choice([status.value for status in JobStatus]))
@click.option("--type", "job_type", help="Of one type only.")
@click.option("--dismissed", is_flag=True, help="Only dead letters that were dismissed.")
@click.option("--limit", type=click.IntRange(1, MOST_AT_ONCE), default=50, show_default=True)
@place
@json_option
def list_jobs(
    status: str | None,
    job_type: str | None,
    dismissed: bool,
    limit: int,
    config_file: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Show jobs, the newest first; without dead letters that were dismissed."""
    wanted = None if status is None else JobStatus(status)

    async def find(store: Jobs) -> list[Job]:
        return await store.list(status=wanted, job_type=job_type, limit=limit, dismissed=dismissed)

    found = _run(config_file, data_dir, find)
    if as_json:
        click.echo(json_text([_facts(job) for job in found]))
        return
    table = Table("id", "type", "status", "runs", "scheduled for", "key", "last error")
    for job in found:
        error = (job.last_error or "").strip().splitlines()
        table.add_row(
            str(job.id),
            job.type,
            job.status.value,
            str(job.attempts),
            when(job.scheduled_for),
            job.key or "",
            error[-1] if error else "",
        )
    Console().print(table if found else "There are no such jobs.")


@jobs.command()
@click.argument("job_id", type=int)
@place
@json_option
def show(job_id: int, config_file: Path | None, data_dir: Path | None, as_json: bool) -> None:
    """Show all that is known of one job, failed attempts included."""

    async def find(store: Jobs) -> tuple[Job, list[JobAttempt], list[KeptAnswer]]:
        job = await store.get(job_id)
        if job is None:
            raise NoSuchJob(job_id)
        return job, await store.attempts(job_id), await store.answers(job_id)

    job, attempts, answers = _run(config_file, data_dir, find)
    facts = _facts(job)
    if as_json:
        history = [msgspec.to_builtins(attempt) for attempt in attempts]
        for entry in history:
            entry["started_at"] = when(entry["started_at"])
            entry["ended_at"] = when(entry["ended_at"])
        told = [{**msgspec.to_builtins(one), "at": when(one.at)} for one in answers]
        click.echo(json_text({**facts, "history": history, "answers": told}))
        return
    table = Table(show_header=False)
    if job.progress is not None:
        facts["progress"] = _said(job.progress)
    if job.dismissal is not None:
        gone = job.dismissal
        facts["dismissal"] = f"{when(gone.at)} by {gone.by}: {gone.reason}"
    for name, value in facts.items():
        table.add_row(name, "" if value is None else escape(str(value)))
    console = Console()
    console.print(table)
    for attempt in attempts:
        console.print(f"run {attempt.attempt}, {attempt.cause}, {when(attempt.ended_at)}:")
        console.print(attempt.error, markup=False, highlight=False)
    for one in answers:
        named = "" if one.receiver_id is None else f" as {one.receiver_id}"
        text = f"run under fence {one.fence} was answered {one.status}{named}, {when(one.at)}:"
        console.print(f"{text}\n{one.body}", markup=False, highlight=False)


@jobs.command()
@click.argument("job_id", type=int)
@place
@json_option
def cancel(job_id: int, config_file: Path | None, data_dir: Path | None, as_json: bool) -> None:
    """Cancel a job that waits or runs."""
    job = _run(config_file, data_dir, lambda store: store.cancel(job_id, now()))
    asked = job.status is JobStatus.IN_PROGRESS
    _say(job, "is asked to stop, and will not complete" if asked else "is cancelled", as_json)


@jobs.command()
@click.argument("job_id", type=int, required=False)
@click.option("--type", "job_type", help="All dead letters of a type, instead of one job.")
@place
@json_option
def requeue(
    job_id: int | None,
    job_type: str | None,
    config_file: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Let a dead or cancelled job, or all dead letters of a type, run from the start."""
    if (job_id is None) == (job_type is None):
        raise click.UsageError("give the id of a job or --type")
    if job_id is not None:
        number = job_id
        job = _run(config_file, data_dir, lambda store: store.requeue(number, now()))
        _say(job, "is queued again", as_json)
        return
    name = job_type or ""
    ids = _run(config_file, data_dir, lambda store: store.requeue_dead(name, now(), MOST_AT_ONCE))
    if as_json:
        click.echo(json_text({"requeued": ids}))
    else:
        click.echo(f"{len(ids)} dead letters are queued again")


@jobs.command()
@click.argument("job_id", type=int)
@click.option("--reason", required=True, help="Why nobody needs to look at it; kept in the audit.")
@place
@json_option
def dismiss(
    job_id: int, reason: str, config_file: Path | None, data_dir: Path | None, as_json: bool
) -> None:
    """Leave a dead letter out of lists, counts and alerts; it is kept, and a requeue undoes it."""
    try:
        why = checked_reason(reason)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--reason") from None
    by = operator_name()
    job = _run(config_file, data_dir, lambda store: store.dismiss(job_id, by, why, now()))
    _say(job, "is dismissed", as_json)


@jobs.command()
@click.argument("job_id", type=int)
@place
@json_option
def retry(job_id: int, config_file: Path | None, data_dir: Path | None, as_json: bool) -> None:
    """Run a failed job again now, not at the end of its pause."""
    job = _run(config_file, data_dir, lambda store: store.hurry(job_id, now()))
    _say(job, "runs as soon as there is room", as_json)


def _run(
    config_file: Path | None, data_dir: Path | None, call: Callable[[Jobs], Awaitable[T]]
) -> T:
    settings = settings_of(config_file, data_dir)
    return with_store(settings, lambda store: call(store.jobs), refusals=(ImpossibleJobMove,))


def _say(job: Job, what: str, as_json: bool) -> None:
    if as_json:
        click.echo(json_text(_facts(job)))
    else:
        click.echo(f"job {job.id} {what}")


def _facts(job: Job) -> dict[str, Any]:
    facts: dict[str, Any] = msgspec.to_builtins(job)
    facts["payload"] = readable_payload(job)
    for name in ("scheduled_for", "lease_until", "created_at", "started_at", "completed_at"):
        facts[name] = None if facts[name] is None else when(facts[name])
    if job.dismissal is not None:
        facts["dismissal"]["at"] = when(job.dismissal.at)
    return facts


def _said(progress: Progress) -> str:
    text = str(progress.done) if progress.total is None else f"{progress.done} of {progress.total}"
    return f"{text}: {progress.note}" if progress.note else text
