"""`yoked-actor offers`."""

from __future__ import annotations

from datetime import date

import click

from yoked_actor.cli.common import Source, json_option, source_options

_ZONE_HELP = "Time zone, such as Europe/Berlin."
_DATE_HELP = "Local date, as YYYY-MM-DD."


def _day(context: click.Context, parameter: click.Parameter, value: str | None) -> date | None:
    try:
        return None if value is None else date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value} is not a date such as 2026-03-29") from None


@click.group()
def offers() -> None:
    """List, run and verify the daily offers.

    These commands also work while a server is running.

    \b
    Exit status:
      0  if done
      1  if it cannot be done, jobs failed, or `verify` found a difference
      2  on a usage error
    """


@offers.command("list")
@click.option("--zone", metavar="ZONE", help=_ZONE_HELP)
@click.option(
    "--limit",
    type=click.IntRange(1, 10_000),
    default=30,
    show_default=True,
    help="Maximum number of runs.",
)
@source_options
@json_option
def list_runs(zone: str | None, limit: int, source: Source, as_json: bool) -> None:
    """List the runs of all zones, newest first."""
    from yoked_actor.cli.run import offers

    offers.list_runs(source, zone, limit, as_json=as_json)


@offers.command()
@click.option("--zone", required=True, metavar="ZONE", help=_ZONE_HELP)
@click.option("--date", "day", callback=_day, required=True, help=_DATE_HELP)
@click.option("--dry-run", is_flag=True, help="Compute and show the offers; store nothing.")
@source_options
@json_option
def run(zone: str, day: date, dry_run: bool, source: Source, as_json: bool) -> None:
    """Run the offers of a zone and date that were missed.

    A run that was started before is not changed. A server on the same data directory shares the
    work. With --dry-run, any date can be computed, from the current profiles.
    """
    from yoked_actor.cli.run import offers

    if dry_run:
        offers.preview(source, zone, day, as_json=as_json)
    else:
        offers.run(source, zone, day, as_json=as_json)


@offers.command("refreeze")
@click.argument("day", metavar="DATE", callback=_day)
@click.argument("zone", metavar="ZONE")
@source_options
@json_option
def refreeze(day: date, zone: str, source: Source, as_json: bool) -> None:
    """Freeze the pool of a run again, from the current profiles.

    Use it when the frozen pool of DATE in ZONE cannot be read or is wrong. Stored offer sets are
    not changed. Users without a set get one from the new pool: their jobs run again, dead letters
    included, on a server or worker. Without one, they run when the next one starts.
    """
    from yoked_actor.cli.run import offers

    offers.refreeze(source, zone, day, as_json=as_json)


@offers.command()
@click.option("--zone", metavar="ZONE", help=_ZONE_HELP)
@click.option("--date", "day", callback=_day, help=_DATE_HELP)
@source_options
@json_option
def verify(zone: str | None, day: date | None, source: Source, as_json: bool) -> None:
    """Compute stored runs again and compare.

    Each run is computed with the version of the algorithm that made it. Without options, all runs
    are verified. If the pool of a run was deleted, only its digests are compared. Differences
    caused by an erased user are reported, but are not failures.
    """
    from yoked_actor.cli.run import offers

    offers.verify(source, zone, day, as_json=as_json)
