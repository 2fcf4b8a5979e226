"""What the commands of a deployer share: where the data is, and how answers look."""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import click
import msgspec
import trio

from yoked_actor.actors.clock import read_machine_time
from yoked_actor.actors.jobs import ring
from yoked_actor.app import starting
from yoked_actor.app.server import DATABASE
from yoked_actor.domain.people import is_user_id
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.settings import Settings
from yoked_actor.store import InlineRunner, Runner, Store, StoreError, open_store

T = TypeVar("T")
PATIENCE_S = 10.0
"""How long to wait for a server that writes."""


def place(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say where the data is."""
    command = click.option(
        "--data",
        "data_dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Where the database is kept.  [default: ./data]",
    )(command)
    return click.option(
        "--config",
        "config_file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A TOML file with settings.",
    )(command)


json_option = click.option("--json", "as_json", is_flag=True, help="For programs.")


def user_argument(command: Callable[..., None]) -> Callable[..., None]:
    """A user id, which has to be one."""
    return click.argument("user_id", metavar="USER", callback=_user_id)(command)


def _user_id(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if not is_user_id(value):
        raise click.BadParameter("a user id has 1-64 of A-Z a-z 0-9 _ . : @ -")
    return value


def settings_of(config_file: Path | None, data_dir: Path | None) -> Settings:
    """The settings, as a server on that directory would read them."""
    return starting.settings_of(config_file, {"server": {"data_dir": data_dir}})


def with_store(
    settings: Settings,
    call: Callable[[Store], Awaitable[T]],
    *,
    refusals: tuple[type[Exception], ...] = (),
    runner: Runner | None = None,
) -> T:
    """Do something to the database of a server that may run, then wake whoever dispatches.

    What the store refuses, and what is one of the `refusals`, is said in one line.
    """
    directory = settings.server.data_dir
    said: tuple[type[Exception], ...] = (StoreError, *refusals)

    async def main() -> T | Exception:
        async with open_store(
            directory / DATABASE,
            runner=runner or InlineRunner(),
            busy_timeout_s=PATIENCE_S,
            shared=True,
            machine=read_machine_time,
        ) as store:
            try:
                return await call(store)
            except said as error:
                return error

    try:
        answer = trio.run(main)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    if isinstance(answer, Exception):
        raise click.ClickException(str(answer))
    ring(directory)
    return answer


def now() -> Instant:
    """The system's time."""
    return time.time_ns() // 1000


def when(at: Instant | None) -> str:
    """An instant, to be read."""
    return "" if at is None else to_datetime(at).isoformat().replace("+00:00", "Z")


def operator_name() -> str:
    """Who is at the command line, for the audit."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (KeyError, OSError):
        return f"user {os.getuid()} (command line)"


def json_text(value: object) -> str:
    """JSON for programs, with lines for people."""
    return msgspec.json.format(msgspec.json.encode(value)).decode()
