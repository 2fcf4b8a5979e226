"""`yoked-actor backup`, `restore`, `migrate` and `copy-store`."""

from __future__ import annotations

from pathlib import Path

import click

from yoked_actor.cli.common import Source, json_option, source_options


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@source_options
@json_option
def backup(file: Path, force: bool, source: Source, as_json: bool) -> None:
    """Write a copy of the database to FILE.

    This also works while a server is running. The copy is a consistent snapshot. It is checked,
    gets a digest, and is synced to disk before it appears as FILE. It keeps users who are erased
    from the database later: protect it like the database, and delete it when no longer needed.

    \b
    Exit status:
      0  if the copy was written and checked
      1  if the backup failed
      2  on a usage error

    \b
        yoked-actor backup /backups/yoked-$(date +%F).db
    """
    if file.exists() and not force:
        raise click.ClickException(f"{file} exists; use --force to overwrite it")
    from yoked_actor.cli.run import backup

    backup.backup(source, file, as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--check", "only_check", is_flag=True, help="Check FILE and change nothing.")
@source_options
@json_option
def restore(file: Path, only_check: bool, source: Source, as_json: bool) -> None:
    """Replace the database with the backup FILE.

    FILE is checked first. A damaged file, a file of another program and a backup of a newer version
    are refused. Stop the server and all workers first. Changes since the backup are lost, but the
    current database is kept as yoked.db.before-restore-TIME. Users who were erased after the backup
    are in the database again, and have to be erased again.

    \b
    Exit status:
      0  if the database was restored (with --check: if FILE is valid)
      1  if FILE is refused, or a server or worker is running
      2  on a usage error
    """
    from yoked_actor.cli.run import backup

    backup.restore(source, file, only_check=only_check, as_json=as_json)


@click.command()
@click.option("--check", "only_check", is_flag=True, help="List pending migrations; apply none.")
@source_options
@json_option
def migrate(only_check: bool, source: Source, as_json: bool) -> None:
    """Migrate the database to the schema of this version.

    No server may be running. A server migrates the database when it starts, so this command is
    optional. Migrations cannot be undone: take a backup first.

    \b
    Exit status:
      0  if the database is up to date
      1  if it cannot be migrated (with --check: if migrations are pending)
      2  on a usage error
    """
    from yoked_actor.cli.run import backup

    backup.migrate(source, only_check=only_check, as_json=as_json)


@click.command("copy-store")
@source_options
@json_option
def copy_store(source: Source, as_json: bool) -> None:
    """Copy the SQLite database into PostgreSQL.

    The database of the data directory is copied into the database of store.url, which must have no
    rows. Stop the server and all workers first. Everything is copied in one transaction, or
    nothing, and the file stays as it is. Then start the server with store.url.

    \b
    Exit status:
      0  if everything was copied
      1  if the target is not empty or cannot be reached, or a server is running
      2  on a usage error

    \b
        YOKED_STORE__URL=postgresql://yoked@db/yoked yoked-actor copy-store --data /var/lib/yoked
    """
    from yoked_actor.cli.run import backup

    backup.copy(source, as_json=as_json)
