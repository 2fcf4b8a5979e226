"""Options that commands share. Only click is imported here: `--help` has to be fast."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NamedTuple

import click

config_option = click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="TOML file with settings; `yoked-actor config` prints a template.",
)
data_option = click.option(
    "--data",
    "data_dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory of the database.  [default: ./data]",
)
dev_option = click.option(
    "--dev",
    is_flag=True,
    help="Development mode: loopback only, a generated signing secret, login without a password.",
)
host_option = click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
port_option = click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Port to listen on; 0 picks a free port.  [default: 8080]",
)
open_option = click.option(
    "--open", "open_browser", is_flag=True, help="Open the server in a browser."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Source(NamedTuple):
    """Where a command finds the settings and the database."""

    config_file: Path | None
    data_dir: Path | None


def source_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --config and --data, and pass both to the command as one `source`."""

    @config_option
    @data_option
    @wraps(command)
    def with_source(
        *, config_file: Path | None, data_dir: Path | None, **parameters: object
    ) -> None:
        command(source=Source(config_file, data_dir), **parameters)

    return with_source


def user_argument(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument USER, a valid user ID."""
    return click.argument("user_id", metavar="USER", callback=_user_id)(command)


def _user_id(context: click.Context, parameter: click.Parameter, value: str) -> str:
    from yoked_actor.domain.people import is_user_id

    if not is_user_id(value):
        raise click.BadParameter("a user ID has 1 to 64 characters out of A-Z a-z 0-9 _ . : @ -")
    return value
