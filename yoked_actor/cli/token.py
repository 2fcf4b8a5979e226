"""`yoked-actor token`."""

from __future__ import annotations

import re
from pathlib import Path

import click

from yoked_actor.cli.common import config_option, data_option, dev_option, user_argument

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def _duration_s(context: click.Context, parameter: click.Parameter, value: str) -> float:
    found = re.fullmatch(r"(\d+)([smhd])", value)
    if found is None or int(found[1]) == 0:
        raise click.BadParameter("expected a duration such as 90s, 15m, 1h or 7d")
    return int(found[1]) * _UNITS[found[2]]


@click.command()
@user_argument
@click.option("--admin", is_flag=True, help="The same as --role admin.")
@click.option(
    "--role",
    type=click.Choice(["viewer", "moderator", "admin"]),
    help="Role of an operator: a viewer reads, a moderator also works on reports and suspends, an"
    " admin may do everything.  [default: none]",
)
@click.option(
    "--ttl",
    "ttl_s",
    default="1h",
    show_default=True,
    callback=_duration_s,
    help="Lifetime, such as 90s, 15m, 1h or 7d.",
)
@config_option
@data_option
@dev_option
def token(
    user_id: str,
    admin: bool,
    role: str | None,
    ttl_s: float,
    config_file: Path | None,
    data_dir: Path | None,
    dev: bool,
) -> None:
    """Print an access token for USER.

    The token is signed with the secret from the settings. With --dev it is signed with the secret
    that `serve --dev` stores in the data directory.
    """
    from yoked_actor.cli.run.token import signed_token

    if admin and role not in (None, "admin"):
        raise click.UsageError("--admin cannot be used with another --role")
    flags = {"server": {"data_dir": data_dir}}
    role = "admin" if admin else role
    click.echo(signed_token(user_id, config_file, flags, ttl_s=ttl_s, role=role, dev=dev))
