"""Lists, runs and verifies daily offers, and prints the result."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import date
from typing import TypeVar

import click
import msgspec
from rich.console import Console
from rich.table import Table

from yoked_actor.actors import offers
from yoked_actor.actors.offers import NoRun, NoSuchRun
from yoked_actor.cli.common import Source
from yoked_actor.cli.run.common import (
    json_text,
    now,
    operator_name,
    print_table,
    settings_of,
    when,
    with_store,
)
from yoked_actor.cli.run.offer_runs import preview_run, start_run, verify_runs
from yoked_actor.domain.offers import FrozenRun, OfferSet
from yoked_actor.settings import Settings
from yoked_actor.store import Store, ThreadRunner
from yoked_actor.telemetry import configure_logging

T = TypeVar("T")
_MAX_SHOWN = 20


def list_runs(source: Source, zone: str | None, limit: int, *, as_json: bool) -> None:
    """Print runs, newest first."""
    settings = settings_of(source)
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
    print_table(
        ("zone", "date", "scheduled for", "status", "job", "ended"),
        (["" if value is None else _short(value) for value in row.values()] for row in rows),
        "No runs found.",
        unbroken=("date", "scheduled for", "status", "ended"),
    )


def _short(value: object) -> str:
    """A value of a table; an instant without parts of a second."""
    return re.sub(r"(T\d\d:\d\d:\d\d)\.\d+Z$", r"\1Z", str(value))


def run(source: Source, zone: str, day: date, *, as_json: bool) -> None:
    """Run the offers of a zone and date; exit with 1 if jobs became dead letters."""
    settings = settings_of(source)
    configure_logging("warning")
    started, progress = _with_store(settings, lambda store: start_run(store, settings, zone, day))
    if as_json:
        fields = {
            "zone": zone,
            "date": day.isoformat(),
            "status": started.status if progress is None else "done",
            "is_new": started.is_new,
            "sets": None if progress is None else progress.stored,
            "dead_letters": None if progress is None else progress.dead,
        }
        click.echo(json_text(fields))
    elif progress is None:
        state = "already done" if started.status == "done" else "already in progress"
        click.echo(f"The run of {day} in {zone} is {state}; nothing was changed.")
    else:
        click.echo(f"The run of {day} in {zone}: {progress.stored} sets stored.")
    if progress is not None and progress.dead:
        click.echo(f"{progress.dead} jobs are dead letters: see `yoked-actor jobs list`", err=True)
        raise SystemExit(1)


def preview(source: Source, zone: str, day: date, *, as_json: bool) -> None:
    """Print the offers that a run would store."""
    settings = settings_of(source)
    configure_logging("warning")
    _show(_with_store(settings, lambda store: preview_run(store, settings, zone, day)), as_json)


def refreeze(source: Source, zone: str, day: date, *, as_json: bool) -> None:
    """Freeze the pool of a run again."""
    settings = settings_of(source)
    configure_logging("warning")

    async def again(store: Store) -> FrozenRun:
        at = now()
        frozen = await offers.refreeze(store.offers, zone, day, settings, at)
        detail = day.isoformat()
        await store.audit.record(operator_name(), "refreeze_offers", zone, detail, at)
        return frozen

    frozen = _with_store(settings, again)
    assert frozen.pool is not None
    users = sum(person.receives for person in frozen.pool.people)
    if as_json:
        fields = {"zone": zone, "date": day, "users": users, "refrozen": frozen.refrozen}
        click.echo(json_text(fields))
    else:
        click.echo(f"The run of {day} in {zone} is frozen again, for {users} users without a set.")


def verify(source: Source, zone: str | None, day: date | None, *, as_json: bool) -> None:
    """Verify stored runs; exit with 1 if there is a difference without an erasure as its cause."""
    verdicts = _with_store(settings_of(source), lambda store: verify_runs(store, zone, day))
    if as_json:
        click.echo(json_text([msgspec.to_builtins(verdict) for verdict in verdicts]))
    else:
        table = Table("zone", "date", "sets", "compared", "differences")
        for one in verdicts:
            compared = "recomputed sets" if one.in_full else "digests"
            found = str(len(one.findings)) if one.findings else "none"
            table.add_row(one.zone, one.day.isoformat(), str(one.sets), compared, found)
        Console().print(table)
        for one in verdicts:
            if one.earlier:
                click.echo(f"{one.zone} {one.day}: {one.earlier} sets are from an earlier pool")
            for finding in one.findings:
                user = f"{finding.user_id}: " if finding.user_id else ""
                click.echo(f"{one.zone} {one.day} {user}{finding.problem}", err=True)
    if any(not finding.erased for one in verdicts for finding in one.findings):
        raise SystemExit(1)


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
    table = Table("user", "offers")
    for user_id, made in list(sets.items())[:_MAX_SHOWN]:
        table.add_row(user_id, ", ".join(offer.candidate for offer in made.offers) or "none")
    if sets:
        Console().print(table)
    if len(sets) > _MAX_SHOWN:
        click.echo(f"... and {len(sets) - _MAX_SHOWN} more; --json shows all")
    given = sum(len(made.offers) for made in sets.values())
    empty = sum(not made.offers for made in sets.values())
    click.echo(
        f"{len(sets)} users, {given} offers, {empty} users without offers; nothing was stored."
    )


def _with_store(settings: Settings, call: Callable[[Store], Awaitable[T]]) -> T:
    return with_store(settings, call, refusals=(NoSuchRun, NoRun), runner=ThreadRunner())
