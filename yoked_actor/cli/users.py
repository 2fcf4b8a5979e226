"""`yoked-actor users`, `export` and `erase`."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path

import click

from yoked_actor.cli.common import Source, json_option, source_options, user_argument


def _moment(_: click.Context, __: click.Parameter, value: str | None) -> datetime | None:
    """An instant with its zone."""
    if value is None:
        return None
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise click.BadParameter(f"{value} is not a time with a zone, such as 2026-02-01T09:00:00Z")
    return at


@click.group()
def users() -> None:
    """List, suspend and unsuspend users.

    These commands also work while a server is running.

    \b
    Exit status:
      0  if done
      1  if there is no such user, or it cannot be done
      2  on a usage error
    """


@users.command("list")
@click.option("--suspended", "only_suspended", is_flag=True, help="Only suspended users.")
@click.option(
    "--search",
    default="",
    metavar="TEXT",
    help="Only users whose ID or name contains TEXT, in upper or lower case.",
)
@click.option("--after", default="", metavar="USER", help="Only users with a greater ID.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Maximum number of users.",
)
@source_options
@json_option
def list_users(
    only_suspended: bool, search: str, after: str, limit: int, source: Source, as_json: bool
) -> None:
    """List users by ID.

    Names are shown with --search only, places never; `export` prints both.
    """
    from yoked_actor.cli.run import users

    users.list_users(
        source, after, limit, only_suspended=only_suspended, search=search.strip(), as_json=as_json
    )


@users.command()
@user_argument
@source_options
@json_option
def show(user_id: str, source: Source, as_json: bool) -> None:
    """Show the state of a user, and how much is stored."""
    from yoked_actor.cli.run import users

    users.show(source, user_id, as_json=as_json)


@users.command()
@user_argument
@click.option("--reason", required=True, help="Reason. It is shown to the user.")
@click.option(
    "--until",
    callback=_moment,
    help="End of the suspension, such as 2026-02-01T09:00:00Z.  [default: none]",
)
@source_options
@json_option
def suspend(
    user_id: str, reason: str, until: datetime | None, source: Source, as_json: bool
) -> None:
    """Suspend a user.

    A running server ends the user's search, match or date immediately.
    """
    from yoked_actor.cli.run import users

    users.suspend(source, user_id, reason, until, as_json=as_json)


@users.command()
@user_argument
@source_options
@json_option
def unsuspend(user_id: str, source: Source, as_json: bool) -> None:
    """End the suspension of a user."""
    from yoked_actor.cli.run import users

    users.unsuspend(source, user_id, as_json=as_json)


@click.command()
@user_argument
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@source_options
def export(user_id: str, out: Path | None, source: Source) -> None:
    """Print all data stored about USER, as JSON.

    The same data is returned to the user by `GET /api/me/export`. About other people it contains
    only what USER was shown. With --out, only you can read the file.

    \b
    Exit status:
      0  if done
      1  if nothing is stored about USER, or it cannot be done
      2  on a usage error
    """
    from yoked_actor.cli.run import users

    users.export(source, user_id, out)


@click.command()
@user_argument
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--wait",
    "wait_s",
    default=30.0,
    show_default=True,
    help="Seconds to wait for a running server.",
)
@source_options
@json_option
def erase(user_id: str, yes: bool, wait_s: float, source: Source, as_json: bool) -> None:
    """Erase all data about USER.

    In the data of other users, an anonymous placeholder takes the place of USER. If a server is
    running, this command queues a job for it and waits, because only the server can end the user's
    match. Without a server, the data is erased directly.

    This cannot be undone. Backups are not changed. A suspension of USER ends: the same ID can
    register again, as a new user.

    \b
    Exit status:
      0  if USER is erased, or nothing was stored
      1  if it cannot be done, or was not done in time
      2  on a usage error
    """
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("--yes is required: erasing cannot be undone")
        click.confirm(f"Permanently erase {user_id}?", abort=True)
    from yoked_actor.cli.run.erase import erase_user

    erase_user(source, user_id, wait_s, as_json=as_json)
