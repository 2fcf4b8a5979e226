"""`yoked-actor backup`, `restore` and `migrate`: keeping the database, and bringing it back."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from yoked_actor.app.base import DATABASE
from yoked_actor.cli.common import PATIENCE_S, json_option, json_text, place, settings_of
from yoked_actor.store import (
    DirectoryLock,
    StoreError,
    back_up,
    connect_for_writing,
    explained,
    migration_names,
)
from yoked_actor.store import check as check_backup
from yoked_actor.store import migrate as bring_up_to_date
from yoked_actor.store import restore as put_back


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it is there.")
@place
@json_option
def backup(
    file: Path, force: bool, config_file: Path | None, data_dir: Path | None, as_json: bool
) -> None:
    """Write a copy of the database to FILE, also while a server runs.

    The copy is the database as of one instant. It is checked, sealed with a digest, and brought to
    the disk before it appears under its name. It holds everything, people who are erased later
    included: keep it as safe as the database, and for no longer than you need it.

    \b
    Exits with 0 when the copy is there and was found good,
               1 when it could not be made,
               2 on a wrong call.

    \b
        yoked-actor backup /backups/yoked-$(date +%F).db
    """
    if file.exists() and not force:
        raise click.ClickException(f"{file} is there already; --force overwrites it")
    database = settings_of(config_file, data_dir).server.data_dir / DATABASE
    with _told(), _progress(as_json) as progress:
        task = progress.add_task("copying", total=None)

        def show(done: int, whole: int) -> None:
            progress.update(task, completed=done * 4096, total=whole * 4096)

        made = back_up(database, file, busy_timeout_s=PATIENCE_S, progress=show)
    if as_json:
        click.echo(json_text({"file": str(file), "schema": made.version, "bytes": made.size}))
    else:
        click.echo(f"{file}: {made.size:,} bytes, schema {made.version}, checked and sealed")


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--check", "only_check", is_flag=True, help="Only look whether FILE is good.")
@place
@json_option
def restore(
    file: Path, only_check: bool, config_file: Path | None, data_dir: Path | None, as_json: bool
) -> None:
    """Put the backup FILE in the place of the database, which is kept beside it.

    FILE is checked first: a damaged one, one of another program and one of a newer version are
    refused. The server has to be stopped, workers too. What has happened since the backup is lost,
    but for the old database, which is kept as yoked.db.before-restore-TIME. Who was erased since
    the backup is there again, and has to be erased again.

    \b
    Exits with 0 when it is restored (or, with --check, good),
               1 when FILE is refused or a server is running,
               2 on a wrong call.
    """
    directory = settings_of(config_file, data_dir).server.data_dir
    with _told():
        if only_check:
            checked, aside = check_backup(file), None
        else:
            lock = DirectoryLock(directory)
            try:
                _refuse_beside_workers(directory)
                moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
                checked, aside = put_back(file, directory / DATABASE, moment)
            finally:
                lock.release()
    if as_json:
        kept = None if aside is None else str(aside)
        click.echo(
            json_text({"schema": checked.version, "sealed": checked.sealed, "kept_as": kept})
        )
        return
    seal = "its seal holds" if checked.sealed else "it has no seal, but its pages are sound"
    click.echo(f"{file} is good: schema {checked.version}, {seal}")
    if not only_check:
        click.echo(f"restored to {directory / DATABASE}")
    if aside is not None:
        click.echo(f"the database before is kept as {aside}; delete it when you need it no more")
    if checked.version < migration_names()[-1][0]:
        click.echo("it is of an older version: a server brings it up to date at its start")


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Only show what is pending.")
@place
@json_option
def migrate(
    only_check: bool, config_file: Path | None, data_dir: Path | None, as_json: bool
) -> None:
    """Bring the database up to this program's version, while no server runs.

    A server does the same at its start. There is no way back, so take a backup first.

    \b
    Exits with 0 when the database is up to date (now),
               1 when it cannot be done or, with --check, something is pending,
               2 on a wrong call.
    """
    directory = settings_of(config_file, data_dir).server.data_dir
    database = directory / DATABASE
    if not database.exists():
        raise click.ClickException(f"there is no database at {database}")
    with _told(), explained(database):
        with closing(sqlite3.connect(database, timeout=PATIENCE_S)) as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
        pending = [(number, name) for number, name in migration_names() if number > version]
        if not only_check and pending:
            _apply(directory, database)
    if as_json:
        names = [{"version": number, "name": name} for number, name in pending]
        click.echo(json_text({"schema": version, "pending" if only_check else "applied": names}))
    else:
        for number, name in pending:
            click.echo(f"{number:04} {name}: {'pending' if only_check else 'applied'}")
        click.echo(
            f"the database is of schema {version}"
            if only_check and pending
            else f"the database is up to date: schema {migration_names()[-1][0]}"
        )
        if only_check and pending:
            click.echo("take a backup first: yoked-actor backup FILE")
    if only_check and pending:
        raise SystemExit(1)


def _apply(directory: Path, database: Path) -> None:
    lock = DirectoryLock(directory)
    try:
        with closing(
            connect_for_writing(database, busy_timeout_s=PATIENCE_S, checkpoint_pages=1000)
        ) as db:
            bring_up_to_date(db, database)
    finally:
        lock.release()


def _refuse_beside_workers(directory: Path) -> None:
    """A worker takes no lock, but has a socket for wake-ups, named after its process id."""
    for path in directory.glob("jobs-*.bell"):
        pid = path.name.removeprefix("jobs-").removesuffix(".bell")
        if pid.isdigit() and int(pid) != os.getpid() and Path(f"/proc/{pid}").exists():
            raise StoreError(f"{directory} is in use by a worker (process {pid}); stop it first")


@contextmanager
def _told() -> Iterator[None]:
    """Turn what can go wrong into words."""
    try:
        yield
    except (StoreError, OSError, sqlite3.Error) as error:
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
