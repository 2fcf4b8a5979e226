"""The command line: `yoked-actor serve`, `worker`, `token`, and what other modules add to it."""

from __future__ import annotations

import contextlib
import os
import re
import time
import webbrowser
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click
import structlog
import trio
from trio.testing import MockClock

from yoked_actor import __version__
from yoked_actor.actors.clock import Clock
from yoked_actor.app.base import DATABASE
from yoked_actor.app.readiness import Notifier, feed_watchdog, watchdog_interval_s
from yoked_actor.app.reloading import reload
from yoked_actor.app.server import open_server
from yoked_actor.app.signals import Orders, heard_signals
from yoked_actor.app.starting import (
    address_of,
    explained,
    is_loopback,
    settings_of,
    tune_interpreter,
)
from yoked_actor.app.worker import open_worker
from yoked_actor.bots.command import bots
from yoked_actor.cli.backup import backup, migrate, restore
from yoked_actor.cli.demo import demo, refuse_demo_data
from yoked_actor.cli.doctor import doctor
from yoked_actor.cli.jobs import jobs
from yoked_actor.cli.offers import offers
from yoked_actor.cli.users import erase, export, users
from yoked_actor.domain.people import is_user_id
from yoked_actor.edge.auth import Tokens
from yoked_actor.edge.net import open_listeners, tls_context
from yoked_actor.settings import Settings, load_settings, render_template
from yoked_actor.simulation.command import simulate
from yoked_actor.telemetry import CannotReport, configure_logging, report_errors

_log = structlog.get_logger()

MOCK_START = "2026-01-01T08:00:00Z"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

config_option = click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A TOML file with settings; see config/yoked.toml for all of them.",
)
data_option = click.option(
    "--data",
    "data_dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the database is kept.  [default: ./data]",
)
dev_option = click.option(
    "--dev",
    is_flag=True,
    help="For your own machine: loopback only, makes its own signing secret, opens a login"
    " without password.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="yoked-actor")
def main() -> None:
    """Live speed-dating matchmaking as one dependable server.

    Try it on your own machine:

    \b
        yoked-actor demo
        yoked-actor serve --dev
    """


main.add_command(demo)
main.add_command(bots)
main.add_command(simulate)
main.add_command(jobs)
main.add_command(offers)
for command in (doctor, backup, restore, migrate, users, export, erase):
    main.add_command(command)


@main.command()
@config_option
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="The port; 0 takes a free one.  [default: 8080]")
@data_option
@dev_option
@click.option("--mock-clock", is_flag=True, help="Freeze time, to be moved by hand; needs --dev.")
@click.option(
    "--mock-clock-start",
    default=MOCK_START,
    metavar="ISO",
    show_default=True,
    help="When a mock clock begins.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the server in a browser.")
def serve(
    config_file: Path | None,
    host: str | None,
    port: int | None,
    data_dir: Path | None,
    dev: bool,
    mock_clock: bool,
    mock_clock_start: str,
    open_browser: bool,
) -> None:
    """Run the server: pages, HTTP API, WebSocket and metrics on one port.

    Settings come from the file given with --config, then from YOKED_SECTION__KEY environment
    variables, then from these flags. SIGTERM and Ctrl-C drain and stop it, a second one at once.
    SIGHUP reads the settings again (with --dev it stops the server, as a closed terminal should).
    """
    flags = {"server": {"host": host, "port": port, "data_dir": data_dir}}
    settings = settings_of(config_file, flags)
    _configure_logging(settings)
    if mock_clock and not dev:
        raise click.UsageError("--mock-clock needs --dev")
    start_at = _moment(mock_clock_start)
    if dev and not is_loopback(settings.server.host):
        raise click.UsageError(
            f"--dev listens on loopback only, and {settings.server.host} is not: without a"
            " password anybody could be anybody. Leave out --host, or leave out --dev."
        )
    if not dev:
        refuse_demo_data(settings.server.data_dir)
    mock = MockClock() if mock_clock else None
    with explained():
        load = partial(load_settings, config_file, os.environ, flags)
        trio.run(_serve, settings, load, dev, mock, start_at, open_browser, clock=mock)


async def _serve(
    settings: Settings,
    load: Callable[[], Settings],
    dev: bool,
    mock: MockClock | None,
    start_at: datetime,
    open_browser: bool,
) -> None:
    data_dir = settings.server.data_dir
    tokens = Tokens.from_settings(settings.auth, dev_data_dir=data_dir if dev else None)
    if missing := settings.auth.unchecked_claims():
        _log.warning("tokens_of_other_services_are_taken", unset=missing)
    clock = Clock.real(settings.server.clock_step_s) if mock is None else Clock.starting(start_at)
    ssl_context = tls_context(settings.edge)
    notifier = Notifier.of(os.environ)
    # Until it is ready there is nothing to read again.
    orders = Orders(None if dev else lambda: None)
    with (
        heard_signals() as signals,
        contextlib.ExitStack() as closing,
    ):
        listeners = open_listeners(settings.server.host, settings.server.port)
        for listener in listeners:
            closing.callback(listener.close)
        async with trio.open_nursery() as beside:
            beside.start_soon(orders.hear, signals)
            async with open_server(
                settings,
                tokens,
                database=data_dir / DATABASE,
                clock=clock,
                mock_clock=mock,
                listeners=listeners,
                ssl_context=ssl_context,
                stop=orders.stop,
                dev=dev,
            ) as server:
                address = address_of(listeners, secure=ssl_context is not None)
                tune_interpreter()
                click.echo(f"yoked-actor ready on {address}")
                notifier.ready(f"ready on {address}")

                def read_again() -> None:
                    notifier.reloading(time.monotonic())
                    reloaded = reload(settings, load)
                    if reloaded is not None:
                        if {"log.level", "log.format"}.intersection(reloaded.changed):
                            _configure_logging(settings)
                        server.settings_changed()
                    notifier.ready(f"ready on {address}")

                orders.hurry = server.hurry
                if not dev:
                    orders.reload = read_again
                every_s = watchdog_interval_s(os.environ)
                beside.start_soon(feed_watchdog, notifier, every_s, server.live.matchmaker.answer)
                if open_browser:
                    await trio.to_thread.run_sync(webbrowser.open, address)
                await orders.stop.wait()
                notifier.stopping()
                if mock is not None:
                    # Those who do not say goodbye are waited for, but not until time is moved.
                    mock.rate = 1.0
            beside.cancel_scope.cancel()
    _log.info("stopped")


@main.command()
@config_option
@data_option
def worker(config_file: Path | None, data_dir: Path | None) -> None:
    """Run jobs, and nothing else, beside a server on the same data directory.

    For a second core. SIGTERM and Ctrl-C let what runs end, or give it back. SIGHUP reads the
    settings again.
    """
    flags = {"server": {"data_dir": data_dir}}
    settings = settings_of(config_file, flags)
    _configure_logging(settings)
    with explained():
        trio.run(_work, settings, partial(load_settings, config_file, os.environ, flags))


async def _work(settings: Settings, load: Callable[[], Settings]) -> None:
    orders = Orders(lambda: reload(settings, load))
    with heard_signals() as signals:
        async with trio.open_nursery() as beside:
            beside.start_soon(orders.hear, signals)
            async with open_worker(settings, settings.server.data_dir / DATABASE):
                click.echo(f"yoked-actor works on {settings.server.data_dir}")
                await orders.stop.wait()
            beside.cancel_scope.cancel()
    _log.info("stopped")


@main.command()
@click.argument("user")
@click.option("--admin", is_flag=True, help="With the role that opens the admin API.")
@click.option(
    "--ttl", default="1h", show_default=True, help="How long it is good: 90s, 15m, 1h, 7d."
)
@config_option
@data_option
@dev_option
def token(
    user: str,
    admin: bool,
    ttl: str,
    config_file: Path | None,
    data_dir: Path | None,
    dev: bool,
) -> None:
    """Print a token that speaks for USER, signed with the secret of the settings.

    With --dev it is signed with the secret that `serve --dev` keeps in the data directory.
    """
    if not is_user_id(user):
        raise click.BadParameter("a user id has 1-64 of A-Z a-z 0-9 _ . : @ -", param_hint="USER")
    settings = settings_of(config_file, {"server": {"data_dir": data_dir}})
    with explained():
        kept = settings.server.data_dir if dev else None
        tokens = Tokens.from_settings(settings.auth, dev_data_dir=kept)
        if not tokens.can_sign:
            raise click.ClickException(
                f"{settings.auth.algorithm} tokens are signed with the private key, which this"
                " server does not have; only HS256 tokens can be made here"
            )
        now = time.time_ns() // 1000
        click.echo(tokens.sign(user, now, _duration_s(ttl), admin=admin))


@main.command()
def config() -> None:
    """Print every setting with its default, as a file to start from.

    \b
        yoked-actor config > yoked.toml
        yoked-actor serve --config yoked.toml
    """
    click.echo(render_template(), nl=False)


def _configure_logging(settings: Settings) -> None:
    dsn = settings.log.sentry_dsn.get_secret_value()
    try:
        report = report_errors(dsn) if dsn else None
    except CannotReport as error:
        raise click.ClickException(str(error)) from None
    configure_logging(settings.log.level, settings.log.format, report=report)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not an ISO 8601 moment such as {MOCK_START}",
            param_hint="--mock-clock-start",
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _duration_s(text: str) -> float:
    found = re.fullmatch(r"(\d+)([smhd])", text)
    if found is None or int(found[1]) == 0:
        raise click.BadParameter("say 90s, 15m, 1h or 7d", param_hint="--ttl")
    return int(found[1]) * _UNITS[found[2]]
