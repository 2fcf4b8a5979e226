"""What the operators' commands share: the settings, the store, the clock, and output formats."""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import click
import msgspec
import trio
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from yoked_actor.actors.clock import read_machine_time
from yoked_actor.actors.jobs import wake_other_processes
from yoked_actor.app.base import DATABASE
from yoked_actor.app.process import starting
from yoked_actor.cli.common import Source
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.settings import Settings
from yoked_actor.store import InlineRunner, Runner, Store, StoreError, open_store
from yoked_actor.telemetry import CannotReport, configure_logging, report_errors

T = TypeVar("T")
BUSY_TIMEOUT_S = 10.0
"""How long to wait while a server holds the write lock."""


def settings_of(source: Source) -> Settings:
    """The settings, as a server with the same options reads them."""
    return starting.settings_of(source.config_file, {"server": {"data_dir": source.data_dir}})


def set_up_logging(settings: Settings) -> None:
    """Configure logging, and reports to Sentry if there is a DSN."""
    dsn = settings.log.sentry_dsn.get_secret_value()
    try:
        report = report_errors(dsn) if dsn else None
    except CannotReport as error:
        raise click.ClickException(str(error)) from None
    configure_logging(settings.log.level, settings.log.format, report=report)


def with_store(
    settings: Settings,
    call: Callable[[Store], Awaitable[T]],
    *,
    refusals: tuple[type[Exception], ...] = (),
    runner: Runner | None = None,
) -> T:
    """Call a function with the store, then wake the dispatchers of the server and of workers.

    Errors of the store and `refusals` end the command with one line.
    """
    directory = settings.server.data_dir
    expected: tuple[type[Exception], ...] = (StoreError, *refusals)

    async def main() -> T | Exception:
        async with open_store(
            directory / DATABASE,
            runner=runner or InlineRunner(),
            busy_timeout_s=BUSY_TIMEOUT_S,
            shared=True,
            machine=read_machine_time,
            url=settings.store.url.get_secret_value(),
            connect_timeout_s=settings.store.connect_timeout_s,
        ) as store:
            try:
                result = await call(store)
            except expected as error:
                return error
            if store.bell is not None:
                await store.bell.ring()
            return result

    try:
        result = trio.run(main)
    except StoreError as error:
        raise click.ClickException(str(error)) from None
    if isinstance(result, Exception):
        raise click.ClickException(str(result))
    if not settings.store.url.get_secret_value():
        wake_other_processes(directory)
    return result


def now() -> Instant:
    """The system time."""
    return time.time_ns() // 1000


def when(at: Instant | None) -> str:
    """An instant in ISO 8601; empty for None."""
    return "" if at is None else to_datetime(at).isoformat().replace("+00:00", "Z")


def when_short(at: Instant | None) -> str:
    """An instant to the second, in ISO 8601 with its zone; empty for None."""
    return "" if at is None else f"{to_datetime(at):%Y-%m-%dT%H:%M:%SZ}"


def operator_name() -> str:
    """The operating system's user, for the audit log."""
    try:
        return f"{getpass.getuser()} (command line)"
    except (KeyError, OSError):
        return f"user {os.getuid()} (command line)"


def json_text(value: object) -> str:
    """Indented JSON."""
    return msgspec.json.format(msgspec.json.encode(value)).decode()


def print_fields(fields: Mapping[str, object]) -> None:
    """Print names and values as a table: yes and no, and nested values as JSON."""
    table = Table(show_header=False)
    for name, value in fields.items():
        table.add_row(name, escape(_cell(value)))
    Console(highlight=False).print(table)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    empty: str,
    *,
    unbroken: Sequence[str] = (),
) -> None:
    """Print rows as a table that fits the terminal, or 80 columns where there is none.

    The columns in `unbroken`, such as times, are never cut or broken; the others are folded.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(name, no_wrap=name in unbroken, overflow="fold")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    Console(highlight=False).print(table if table.row_count else empty)
