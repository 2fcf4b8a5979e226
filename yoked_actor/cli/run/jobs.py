"""Lists and changes jobs in the database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click
import msgspec
from rich.console import Console

from yoked_actor.cli.common import Source
from yoked_actor.cli.run.common import (
    json_text,
    now,
    operator_name,
    print_fields,
    print_table,
    settings_of,
    when,
    when_short,
    with_store,
)
from yoked_actor.domain.jobs import (
    ImpossibleJobMove,
    Job,
    JobAttempt,
    JobStatus,
    KeptAnswer,
    NewJob,
    Progress,
    checked_reason,
    readable_payload,
)
from yoked_actor.store import Jobs, NoSuchJob

T = TypeVar("T")
_REQUEUE_LIMIT = 10_000


def list_jobs(
    source: Source,
    status: str | None,
    job_type: str | None,
    limit: int,
    *,
    dismissed: bool,
    as_json: bool,
) -> None:
    """Print jobs, newest first."""
    wanted = None if status is None else JobStatus(status)

    async def find(store: Jobs) -> list[Job]:
        return await store.list(status=wanted, job_type=job_type, limit=limit, dismissed=dismissed)

    found = _call(source, find)
    if as_json:
        click.echo(json_text([_fields(job) for job in found]))
        return
    print_table(
        ("id", "type", "status", "runs", "scheduled for", "key, last error"),
        (
            (
                *(str(job.id), job.type, job.status.value, str(job.attempts)),
                when_short(job.scheduled_for),
                "\n".join(part for part in (job.key or "", _last_line(job.last_error)) if part),
            )
            for job in found
        ),
        "No jobs found.",
        unbroken=("id", "status", "runs", "scheduled for"),
    )


def enqueue(source: Source, job_type: str, payload: str, key: str | None, *, as_json: bool) -> None:
    """Add a job."""
    try:
        decoded = msgspec.json.decode(payload, type=dict[str, Any])
        job = NewJob(job_type, decoded, now(), key=key)
    except msgspec.MsgspecError:
        raise click.UsageError("JSON must be an object, such as '{\"n\": 1}'") from None
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    [added] = _call(source, lambda store: store.enqueue([job], now()))
    if as_json:
        click.echo(json_text({"job_id": added.job_id, "is_new": added.is_new}))
    else:
        click.echo(f"job {added.job_id} is {'queued' if added.is_new else 'known already'}")


def _last_line(error: str | None) -> str:
    lines = (error or "").strip().splitlines()
    return lines[-1] if lines else ""


def show(source: Source, job_id: int, *, as_json: bool) -> None:
    """Print a job, its failed attempts, and the webhook responses stored for it."""

    async def find(store: Jobs) -> tuple[Job, list[JobAttempt], list[KeptAnswer]]:
        job = await store.get(job_id)
        if job is None:
            raise NoSuchJob(job_id)
        return job, await store.attempts(job_id), await store.answers(job_id)

    job, attempts, answers = _call(source, find)
    fields = _fields(job)
    if as_json:
        history = [msgspec.to_builtins(attempt) for attempt in attempts]
        for entry in history:
            entry["started_at"] = when(entry["started_at"])
            entry["ended_at"] = when(entry["ended_at"])
        responses = [{**msgspec.to_builtins(one), "at": when(one.at)} for one in answers]
        click.echo(json_text({**fields, "history": history, "answers": responses}))
        return
    if job.progress is not None:
        fields["progress"] = _progress_text(job.progress)
    if (dismissal := job.dismissal) is not None:
        fields["dismissal"] = f"{when(dismissal.at)} by {dismissal.by}: {dismissal.reason}"
    print_fields(fields)
    console = Console()
    for attempt in attempts:
        console.print(f"attempt {attempt.attempt}, {attempt.cause}, {when(attempt.ended_at)}:")
        console.print(attempt.error, markup=False, highlight=False)
    for one in answers:
        receiver = "" if one.receiver_id is None else f" as {one.receiver_id}"
        text = f"response {one.status}{receiver} to fence {one.fence}, {when(one.at)}:"
        console.print(f"{text}\n{one.body}", markup=False, highlight=False)


def cancel(source: Source, job_id: int, *, as_json: bool) -> None:
    """Cancel a waiting job, or ask a running job to stop."""
    job = _call(source, lambda store: store.cancel(job_id, now()))
    running = job.status is JobStatus.IN_PROGRESS
    _report(job, "is stopping and will not complete" if running else "is cancelled", as_json)


def requeue(source: Source, job_id: int, *, as_json: bool) -> None:
    """Queue a dead or cancelled job again."""
    job = _call(source, lambda store: store.requeue(job_id, now()))
    _report(job, "is queued again", as_json)


def requeue_type(source: Source, job_type: str, *, as_json: bool) -> None:
    """Queue all dead letters of a type again."""
    ids = _call(source, lambda store: store.requeue_dead(job_type, now(), _REQUEUE_LIMIT))
    if as_json:
        click.echo(json_text({"requeued": ids}))
    else:
        click.echo(f"{len(ids)} dead letters are queued again")


def dismiss(source: Source, job_id: int, reason: str, *, as_json: bool) -> None:
    """Dismiss a dead letter."""
    try:
        why = checked_reason(reason)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--reason") from None
    by = operator_name()
    job = _call(source, lambda store: store.dismiss(job_id, by, why, now()))
    _report(job, "is dismissed", as_json)


def retry(source: Source, job_id: int, *, as_json: bool) -> None:
    """Schedule a failed job for now."""
    job = _call(source, lambda store: store.retry(job_id, now()))
    _report(job, "is scheduled for now", as_json)


def _call(source: Source, call: Callable[[Jobs], Awaitable[T]]) -> T:
    settings = settings_of(source)
    return with_store(settings, lambda store: call(store.jobs), refusals=(ImpossibleJobMove,))


def _report(job: Job, change: str, as_json: bool) -> None:
    click.echo(json_text(_fields(job)) if as_json else f"job {job.id} {change}")


def _fields(job: Job) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(job)
    fields["payload"] = readable_payload(job)
    for name in ("scheduled_for", "lease_until", "created_at", "started_at", "completed_at"):
        fields[name] = None if fields[name] is None else when(fields[name])
    if job.dismissal is not None:
        fields["dismissal"]["at"] = when(job.dismissal.at)
    return fields


def _progress_text(progress: Progress) -> str:
    text = str(progress.done) if progress.total is None else f"{progress.done} of {progress.total}"
    return f"{text}: {progress.note}" if progress.note else text
