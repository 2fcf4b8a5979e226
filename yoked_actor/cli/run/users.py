"""Lists, shows, suspends and exports users."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import click

from yoked_actor.actors.people import refresh_job
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
from yoked_actor.domain.people import BadText, PersonalData, Suspension, UserRow, check_words
from yoked_actor.domain.time import from_datetime
from yoked_actor.store import Store


def list_users(
    source: Source,
    after: str,
    limit: int,
    *,
    only_suspended: bool,
    search: str,
    as_json: bool,
) -> None:
    """Print users by ID."""

    async def find(store: Store) -> list[UserRow]:
        return await store.operators.users(
            limit=limit, now=now(), after=after, only_suspended=only_suspended, search=search
        )

    found = with_store(settings_of(source), find)
    if as_json:
        click.echo(json_text([_fields(row, named=bool(search)) for row in found]))
        return
    names = ("name",) if search else ()
    print_table(
        ("user", *names, "state", "profile", "credit", "reports", "suspended"),
        (
            (
                row.user_id,
                *((row.display_name or "",) if search else ()),
                *(row.state, "yes" if row.has_profile else "no", str(row.credit)),
                str(row.reports),
                _suspended(row),
            )
            for row in found
        ),
        "No users found.",
        unbroken=("state", "profile", "credit", "reports", "suspended"),
    )


def _suspended(row: UserRow) -> str:
    if row.suspended_at is None:
        return ""
    until = when_short(row.suspended_until) or "without an end"
    return f"since {when_short(row.suspended_at)}\nuntil {until}".replace(
        "until without", "without"
    )


def show(source: Source, user_id: str, *, as_json: bool) -> None:
    """Print the state of a user, and how many rows are stored."""

    async def find(store: Store) -> tuple[PersonalData, Suspension | None]:
        found = await store.privacy.export(user_id, now())
        return found, (await store.operators.suspensions(now())).get(user_id)

    data, suspension = with_store(settings_of(source), find)
    if data.is_empty:
        raise click.ClickException(f"nothing is stored about {user_id}")
    fields = {
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
        click.echo(json_text(fields))
        return
    print_fields(fields)


def suspend(
    source: Source, user_id: str, reason: str, until: datetime | None, *, as_json: bool
) -> None:
    """Suspend a user."""
    try:
        check_words("--reason", reason)
    except BadText as error:
        raise click.UsageError(str(error)) from None
    ends_at = None if until is None else from_datetime(until)
    if ends_at is not None and ends_at <= now():
        raise click.UsageError("--until must be in the future")

    async def change(store: Store) -> bool:
        by = operator_name()
        changed = await store.operators.suspend(user_id, by, reason, now(), ends_at)
        await store.jobs.enqueue([refresh_job(now())], now())
        return changed

    changed = with_store(settings_of(source), change)
    _report(user_id, changed, "is suspended" if changed else "is already suspended", as_json)


def unsuspend(source: Source, user_id: str, *, as_json: bool) -> None:
    """End a suspension."""

    async def change(store: Store) -> bool:
        changed = await store.operators.unsuspend(user_id, operator_name(), now())
        await store.jobs.enqueue([refresh_job(now())], now())
        return changed

    changed = with_store(settings_of(source), change)
    _report(user_id, changed, "is no longer suspended" if changed else "is not suspended", as_json)


def export(source: Source, user_id: str, out: Path | None) -> None:
    """Print all data about a user, or write it to a file that only its owner can read."""

    async def find(store: Store) -> PersonalData:
        found = await store.privacy.export(user_id, now())
        if not found.is_empty:
            await store.audit.record(operator_name(), "export", user_id, "", now())
        return found

    data = with_store(settings_of(source), find)
    if data.is_empty:
        raise click.ClickException(f"nothing is stored about {user_id}")
    text = json_text(data)
    if out is None:
        click.echo(text)
        return
    try:
        opened = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        raise click.ClickException(f"cannot write {out}: {error.strerror}") from None
    click.echo(f"{out}: {len(text.encode()):,} bytes", err=True)


def _fields(row: UserRow, *, named: bool) -> dict[str, object]:
    return {
        "user_id": row.user_id,
        **({"display_name": row.display_name} if named else {}),
        "state": row.state,
        "has_profile": row.has_profile,
        "credit": row.credit,
        "reports": row.reports,
        "suspended_since": None if row.suspended_at is None else when(row.suspended_at),
        "suspended_until": None if row.suspended_until is None else when(row.suspended_until),
    }


def _report(user_id: str, changed: bool, text: str, as_json: bool) -> None:
    if as_json:
        click.echo(json_text({"user_id": user_id, "changed": changed}))
    else:
        click.echo(f"user {user_id} {text}")
