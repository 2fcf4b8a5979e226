"""`yoked-actor jobs`."""

from __future__ import annotations

import click

from yoked_actor.cli.common import Source, json_option, source_options
from yoked_actor.domain.jobs import JobStatus


@click.group()
def jobs() -> None:
    """List and repair background jobs.

    These commands also work while a server is running.

    \b
    Exit status:
      0  if done
      1  if there is no such job, or its status does not allow the change
      2  on a usage error
    """


@jobs.command("list")
@click.option(
    "--status",
    type=click.Choice([status.value for status in JobStatus]),
    help="Only jobs with this status.",
)
@click.option("--type", "job_type", help="Only jobs of this type.")
@click.option("--dismissed", is_flag=True, help="Only dismissed dead letters.")
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="Maximum number of jobs.",
)
@source_options
@json_option
def list_jobs(
    status: str | None,
    job_type: str | None,
    dismissed: bool,
    limit: int,
    source: Source,
    as_json: bool,
) -> None:
    """List jobs, newest first.

    Dismissed dead letters are left out unless --dismissed is given.
    """
    from yoked_actor.cli.run import jobs

    jobs.list_jobs(source, status, job_type, limit, dismissed=dismissed, as_json=as_json)


@jobs.command()
@click.argument("job_type", metavar="TYPE")
@click.argument("payload", metavar="JSON")
@click.option("--key", help="Key: a second job of this type with the same key is not added.")
@source_options
@json_option
def enqueue(job_type: str, payload: str, key: str | None, source: Source, as_json: bool) -> None:
    """Add a job of TYPE, with the JSON object as its payload.

    It runs as soon as a process that knows TYPE is free. A server knows its own types and those
    that installed packages register.
    """
    from yoked_actor.cli.run import jobs

    jobs.enqueue(source, job_type, payload, key, as_json=as_json)


@jobs.command()
@click.argument("job_id", type=int)
@source_options
@json_option
def show(job_id: int, source: Source, as_json: bool) -> None:
    """Show a job and its failed attempts."""
    from yoked_actor.cli.run import jobs

    jobs.show(source, job_id, as_json=as_json)


@jobs.command()
@click.argument("job_id", type=int)
@source_options
@json_option
def cancel(job_id: int, source: Source, as_json: bool) -> None:
    """Cancel a waiting or running job."""
    from yoked_actor.cli.run import jobs

    jobs.cancel(source, job_id, as_json=as_json)


@jobs.command()
@click.argument("job_id", type=int, required=False)
@click.option("--type", "job_type", help="Requeue all dead letters of this type.")
@source_options
@json_option
def requeue(job_id: int | None, job_type: str | None, source: Source, as_json: bool) -> None:
    """Run a dead or cancelled job again from the start."""
    if (job_id is None) == (job_type is None):
        raise click.UsageError("give either a job ID or --type")
    from yoked_actor.cli.run import jobs

    if job_id is not None:
        jobs.requeue(source, job_id, as_json=as_json)
    elif job_type is not None:
        jobs.requeue_type(source, job_type, as_json=as_json)


@jobs.command()
@click.argument("job_id", type=int)
@click.option("--reason", required=True, help="Reason, recorded in the audit log.")
@source_options
@json_option
def dismiss(job_id: int, reason: str, source: Source, as_json: bool) -> None:
    """Hide a dead letter from lists, counts and alerts.

    The job is kept. `requeue` reverts the dismissal.
    """
    from yoked_actor.cli.run import jobs

    jobs.dismiss(source, job_id, reason, as_json=as_json)


@jobs.command()
@click.argument("job_id", type=int)
@source_options
@json_option
def retry(job_id: int, source: Source, as_json: bool) -> None:
    """Retry a failed job now, without waiting for its backoff."""
    from yoked_actor.cli.run import jobs

    jobs.retry(source, job_id, as_json=as_json)
