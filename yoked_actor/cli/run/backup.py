"""Backs up, restores and migrates the database."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from yoked_actor import store
from yoked_actor.app.base import DATABASE
from yoked_actor.cli.common import Source
from yoked_actor.cli.run.common import BUSY_TIMEOUT_S, json_text, settings_of
from yoked_actor.settings import Settings
from yoked_actor.store import DirectoryLock, StoreError, newest_schema


def backup(source: Source, file: Path, *, as_json: bool) -> None:
    """Write a checked copy of the database, with a progress bar on a terminal."""
    settings = settings_of(source)
    _refuse_postgres(settings, f"pg_dump --format=custom --file={file}")
    database = settings.server.data_dir / DATABASE
    with _one_line_errors(), _progress(as_json) as progress:
        task = progress.add_task("copying", total=None)

        def show(done: int, total: int) -> None:
            progress.update(task, completed=done * 4096, total=total * 4096)

        made = store.back_up(database, file, busy_timeout_s=BUSY_TIMEOUT_S, progress=show)
    if as_json:
        click.echo(json_text({"file": str(file), "schema": made.version, "bytes": made.size}))
    else:
        click.echo(f"{file}: {made.size:,} bytes, schema {made.version}, checked, digest added")


def restore(source: Source, file: Path, *, only_check: bool, as_json: bool) -> None:
    """Check a backup and, unless `only_check`, replace the database with it."""
    settings = settings_of(source)
    _refuse_postgres(settings, f"pg_restore --clean --if-exists {file}")
    directory = settings.server.data_dir
    with _one_line_errors():
        if only_check:
            checked, previous = store.check_backup(file), None
        else:
            with DirectoryLock(directory):
                _refuse_beside_workers(directory)
                time = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
                checked, previous = store.restore_backup(file, directory / DATABASE, time)
    if as_json:
        kept = None if previous is None else str(previous)
        click.echo(
            json_text({"schema": checked.version, "sealed": checked.sealed, "kept_as": kept})
        )
        return
    digest = "its digest matches" if checked.sealed else "it has no digest; its pages are intact"
    click.echo(f"{file} is valid: schema {checked.version}, {digest}")
    if not only_check:
        click.echo(f"restored to {directory / DATABASE}")
    if previous is not None:
        click.echo(f"the previous database is kept as {previous}; delete it when not needed")
    if checked.version < newest_schema():
        click.echo("the backup has an older schema; the server migrates it when it starts")


def migrate(source: Source, *, only_check: bool, as_json: bool) -> None:
    """Apply pending migrations, or list them; exit with 1 if some stay pending."""
    settings = settings_of(source)
    _refuse_postgres(settings, "a start of the server, which migrates under a lock")
    database = settings.server.data_dir / DATABASE
    if not database.exists():
        raise click.ClickException(f"there is no database at {database}")
    with _one_line_errors():
        version, pending = store.pending_migrations(database, busy_timeout_s=BUSY_TIMEOUT_S)
        if not only_check and pending:
            store.migrate_database(
                database, busy_timeout_s=BUSY_TIMEOUT_S, migrating=_tell_migration
            )
    if as_json:
        names = [{"version": number, "name": name} for number, name in pending]
        click.echo(json_text({"schema": version, "pending" if only_check else "applied": names}))
    else:
        for number, name in pending:
            click.echo(f"{number:04} {name}: {'pending' if only_check else 'applied'}")
        if only_check and pending:
            click.echo(f"the database has schema {version}")
            click.echo("take a backup first: yoked-actor backup FILE")
        else:
            click.echo(f"the database is up to date: schema {newest_schema()}")
    if only_check and pending:
        raise SystemExit(1)


def _tell_migration(version: int, name: str) -> None:
    """Say what is about to happen, because on a large database it takes a while."""
    click.echo(f"{version:04} {name}: applying", err=True)


def copy(source: Source, *, as_json: bool) -> None:
    """Copy the SQLite database of the data directory into the PostgreSQL of `store.url`."""
    settings = settings_of(source)
    url = settings.store.url.get_secret_value()
    if not url:
        raise click.ClickException(
            "store.url is not set: it names the PostgreSQL database to copy into, as"
            " YOKED_STORE__URL=postgresql://user:password@host:5432/database"
        )
    database = settings.server.data_dir / DATABASE

    def show(done: store.CopiedTable) -> None:
        if done.rows and not as_json:
            click.echo(f"{done.table}: {done.rows:,} rows")

    with _one_line_errors():
        copied = store.copy_store(database, url, busy_timeout_s=BUSY_TIMEOUT_S, progress=show)
    total = sum(done.rows for done in copied)
    if as_json:
        click.echo(json_text({"rows": total, "tables": dict(copied)}))
        return
    click.echo(f"{total:,} rows of {len(copied)} tables are copied; {database} is unchanged")
    click.echo("start the server with the same store.url, then keep or delete the file")


def _refuse_postgres(settings: Settings, instead: str) -> None:
    if settings.store.url.get_secret_value():
        raise click.ClickException(
            f"store.url is set, and this command is for SQLite. On PostgreSQL use {instead};"
            " docs/postgresql.md says more"
        )


def _refuse_beside_workers(directory: Path) -> None:
    """Fail if a worker runs. It holds no lock, but the name of its wake-up socket has its PID."""
    for path in directory.glob("jobs-*.bell"):
        pid = path.name.removeprefix("jobs-").removesuffix(".bell")
        if pid.isdigit() and int(pid) != os.getpid() and Path(f"/proc/{pid}").exists():
            raise StoreError(f"{directory} is in use by a worker (process {pid}); stop it first")


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """End the command with one line when the store or the system fails."""
    try:
        yield
    except (StoreError, OSError) as error:
        raise click.ClickException(str(error)) from None


def _progress(as_json: bool) -> Progress:
    console = Console(stderr=True, quiet=as_json or not sys.stderr.isatty())
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
