"""`yoked-actor offers`: see the daily runs, make one by hand, verify what is stored."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import TypeVar

import click
import msgspec
import trio
from rich.console import Console
from rich.table import Table

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, listen, ring
from yoked_actor.actors.offers import (
    ByHand,
    Calendar,
    NoRun,
    NoSuchRun,
    OfferJobs,
    Verdict,
    refreeze,
    verify_run,
)
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
from yoked_actor.domain.offers import OfferSet, make_run
from yoked_actor.domain.time import next_run, run_instant, zone_named
from yoked_actor.settings import Settings
from yoked_actor.store import (
    FrozenRun,
    RunProgress,
    Store,
    StoreUnavailable,
    ThreadRunner,
    enqueue_in,
)
from yoked_actor.telemetry import Metrics, configure_logging

T = TypeVar("T")
MOST_SHOWN = 20
_LOOK_EVERY_S = 0.25


def _day(context: click.Context, parameter: click.Parameter, value: str | None) -> date | None:
    try:
        return None if value is None else date.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a date such as 2026-03-29") from None


_zone_option = click.option("--zone", metavar="ZONE", help="A time zone, such as Europe/Berlin.")
_date_option = click.option("--date", "day", callback=_day, help="A local date: YYYY-MM-DD.")


@click.group()
def offers() -> None:
    """Look at the daily offers, make a zone's run by hand, verify what is stored.

    All of it works beside a running server. Exits with 0 when all is well, 1 when it cannot be
    done or something was found, 2 on a wrong call.
    """


@offers.command("list")
@_zone_option
@click.option("--limit", type=click.IntRange(1, 10_000), default=30, show_default=True)
@place
@json_option
def list_runs(
    zone: str | None, limit: int, config_file: Path | None, data_dir: Path | None, as_json: bool
) -> None:
    """Show the runs of zones, the newest date first."""
    settings = settings_of(config_file, data_dir)
    runs = _with_store(settings, lambda store: store.calendar.runs(zone=zone, limit=limit))
    rows = [
        {
            "zone": one.run.zone,
            "date": one.run.day.isoformat(),
            "scheduled_at": when(one.run.scheduled_at),
            "status": one.status,
            "job_id": one.job_id,
            "ended_at": when(one.ended_at),
        }
        for one in runs
    ]
    if as_json:
        click.echo(json_text(rows))
        return
    table = Table("zone", "date", "scheduled for", "status", "job", "ended")
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    Console().print(table if rows else "There are no runs yet: nobody has a profile.")


@offers.command()
@click.option("--zone", required=True, metavar="ZONE", help="A time zone, as Europe/Berlin.")
@click.option("--date", "day", callback=_day, required=True, help="A local date: YYYY-MM-DD.")
@click.option("--dry-run", is_flag=True, help="Compute and show it; keep nothing.")
@place
@json_option
def run(
    zone: str,
    day: date,
    dry_run: bool,
    config_file: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Make the run of a zone and date that was missed; what has run is left as it is.

    The work is shared with a server on the same directory, if there is one, and done here
    otherwise. With --dry-run any date is computed from the people of this moment.
    """
    settings = settings_of(config_file, data_dir)
    configure_logging("warning")
    if dry_run:
        _show(_with_store(settings, lambda store: _preview(store, settings, zone, day)), as_json)
        return
    started, progress = _with_store(settings, lambda store: _run(store, settings, zone, day))
    facts = {
        "zone": zone,
        "date": day.isoformat(),
        "status": started.status if progress is None else "done",
        "is_new": started.is_new,
        "sets": None if progress is None else progress.stored,
        "dead_letters": None if progress is None else progress.dead,
    }
    if as_json:
        click.echo(json_text(facts))
    elif progress is None:
        done = "is done" if started.status == "done" else "is under way"
        click.echo(f"The run of {day} in {zone} {done} already; nothing was changed.")
    else:
        click.echo(f"The run of {day} in {zone}: {progress.stored} sets stored.")
    if progress is not None and progress.dead:
        click.echo(f"{progress.dead} jobs are dead letters: see `yoked-actor jobs list`", err=True)
        raise SystemExit(1)


@offers.command("refreeze")
@click.argument("day", metavar="DATE", callback=_day)
@click.argument("zone", metavar="ZONE")
@place
@json_option
def refreeze_run(
    day: date, zone: str, config_file: Path | None, data_dir: Path | None, as_json: bool
) -> None:
    """Freeze the run of DATE in ZONE again, from the people of this moment.

    For a frozen pool that cannot be read, or is wrong. Sets that are stored stand. Users without
    one get theirs from the new pool: their jobs run again, dead letters too. A server or worker on
    the same directory does that; without one, it is done when the next one starts.
    """
    settings = settings_of(config_file, data_dir)
    configure_logging("warning")

    async def again(store: Store) -> FrozenRun:
        at = now()
        frozen = await refreeze(store.offers, zone, day, settings, at)
        detail = day.isoformat()
        await store.audit.record(operator_name(), "refreeze_offers", zone, detail, at)
        return frozen

    frozen = _with_store(settings, again)
    assert frozen.pool is not None
    users = sum(person.receives for person in frozen.pool.people)
    if as_json:
        facts = {"zone": zone, "date": day, "users": users, "refrozen": frozen.refrozen}
        click.echo(json_text(facts))
    else:
        click.echo(f"The run of {day} in {zone} is frozen again, for {users} users without a set.")


@offers.command()
@_zone_option
@_date_option
@place
@json_option
def verify(
    zone: str | None,
    day: date | None,
    config_file: Path | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Make stored runs again, by the version that made them, and compare.

    Without options all of them. A run whose pool was dropped is held against its digests only.
    Exits with 1 when something is not as it was made; that somebody was erased is said, but is
    no fault.
    """
    settings = settings_of(config_file, data_dir)
    verdicts = _with_store(settings, lambda store: _verify(store, zone, day))
    if as_json:
        click.echo(json_text([msgspec.to_builtins(verdict) for verdict in verdicts]))
    else:
        table = Table("zone", "date", "sets", "compared", "found")
        for one in verdicts:
            how = "made again" if one.in_full else "digests"
            found = str(len(one.findings)) if one.findings else "nothing"
            table.add_row(one.zone, one.day.isoformat(), str(one.sets), how, found)
        Console().print(table)
        for one in verdicts:
            if one.earlier:
                click.echo(f"{one.zone} {one.day}: {one.earlier} sets are from an earlier pool")
            for finding in one.findings:
                who = f"{finding.user_id}: " if finding.user_id else ""
                click.echo(f"{one.zone} {one.day} {who}{finding.problem}", err=True)
    if any(not finding.erased for one in verdicts for finding in one.findings):
        raise SystemExit(1)


async def _run(
    store: Store, settings: Settings, zone: str, day: date
) -> tuple[ByHand, RunProgress | None]:
    """Start a run and work on it until it is done; only say so when it was started before."""
    clock, metrics = Clock.real(settings.server.clock_step_s), Metrics()
    calendar = Calendar(
        store.calendar,
        clock,
        settings,
        enqueue_in,
        at=settings.offers.time_of_day(),
        metrics=metrics.calendar,
    )
    started = await calendar.run_by_hand(zone, day)
    if not started.is_new:
        return started, None
    directory = settings.server.data_dir
    dispatcher = Dispatcher(store.jobs, clock, settings, metrics, ring=lambda: ring(directory))
    OfferJobs(store.offers, store.jobs, clock, settings, metrics).register(dispatcher)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(clock.watch, metrics.clock.count)
        nursery.start_soon(dispatcher.run)
        nursery.start_soon(listen, directory, partial(dispatcher.poke, from_outside=True))
        progress = await _watch(store, zone, day)
        await dispatcher.drain()
        nursery.cancel_scope.cancel()
    return started, progress


async def _watch(store: Store, zone: str, day: date) -> RunProgress:
    """Show how far a run has come until it is over."""
    with click.progressbar(length=1, label=f"{zone} {day}", file=sys.stderr) as bar:
        while True:
            try:
                progress = await store.offers.progress(zone, day)
            except StoreUnavailable:
                progress = None
            if progress is not None:
                if progress.users is not None:
                    bar.length = max(progress.users, 1)
                    bar.update(progress.stored - bar.pos)
                if not progress.waiting and (progress.is_done or progress.dead):
                    bar.update(bar.length - bar.pos if bar.length else 0)
                    return progress
            await trio.sleep(_LOOK_EVERY_S)


async def _preview(store: Store, settings: Settings, name: str, day: date) -> dict[str, OfferSet]:
    at = settings.offers.time_of_day()
    zone = zone_named(name)
    instant = None if zone is None else run_instant(zone, day, at)
    if zone is None or instant is None:
        raise NoSuchRun(f"there is no zone {name!r}, or it has no {day}")
    frozen = await store.offers.preview_pool(
        name,
        day,
        instant,
        next_run(zone, instant, at)[1],
        settings.offers.rules(settings.matching),
        settings.matching.rematch_after_days,
    )
    assert frozen.pool is not None
    pool = frozen.pool
    receivers = sum(person.receives for person in pool.people)
    with click.progressbar(length=receivers, label=f"{name} {day}", file=sys.stderr) as bar:

        def show(done: int, of: int) -> None:
            if done % 100 == 0 or done == of:
                bar.update(done - bar.pos)

        return make_run(pool, frozen.rules, show)


async def _verify(store: Store, zone: str | None, day: date | None) -> list[Verdict]:
    runs = await store.offers.run_days(zone, day)
    if not runs:
        raise NoRun("there is no such run")
    verdicts = []
    with click.progressbar(length=len(runs), label="verifying", file=sys.stderr) as bar:
        for name, run_day in runs:
            verdicts.append(await verify_run(store.offers, name, run_day))
            bar.update(1)
    return verdicts


def _show(sets: dict[str, OfferSet], as_json: bool) -> None:
    if as_json:
        shown = {
            user_id: [
                {"offer_id": offer_id, "candidate": one.candidate, "reasons": one.reasons(None)}
                for offer_id, one in zip(made.ids(), made.offers, strict=True)
            ]
            for user_id, made in sets.items()
        }
        click.echo(json_text(shown))
        return
    table = Table("user", "is offered")
    for user_id, made in list(sets.items())[:MOST_SHOWN]:
        table.add_row(user_id, ", ".join(offer.candidate for offer in made.offers) or "nobody")
    if sets:
        Console().print(table)
    if len(sets) > MOST_SHOWN:
        click.echo(f"... and {len(sets) - MOST_SHOWN} more; --json shows all")
    given = sum(len(made.offers) for made in sets.values())
    empty = sum(not made.offers for made in sets.values())
    click.echo(f"{len(sets)} users, {given} offers, {empty} users without; nothing was stored.")


def _with_store(settings: Settings, call: Callable[[Store], Awaitable[T]]) -> T:
    return with_store(settings, call, refusals=(NoSuchRun, NoRun), runner=ThreadRunner())
