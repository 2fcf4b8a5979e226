"""Runs a server until a signal stops it."""

from __future__ import annotations

import os
import time
import webbrowser
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.app.base import DATABASE
from yoked_actor.app.process.readiness import Notifier, feed_watchdog, watchdog_interval_s
from yoked_actor.app.process.reloading import reload
from yoked_actor.app.process.signals import Orders, heard_signals
from yoked_actor.app.process.starting import (
    address_of,
    explained,
    is_loopback,
    settings_of,
    tune_interpreter,
    worker_command,
)
from yoked_actor.app.server import open_server
from yoked_actor.cli.run.common import set_up_logging
from yoked_actor.cli.run.serving.demo_data import refuse_demo_data
from yoked_actor.cli.run.serving.listeners import opened_listeners
from yoked_actor.edge.auth import Tokens
from yoked_actor.edge.net import tls_context
from yoked_actor.settings import Settings, load_settings

if TYPE_CHECKING:
    from trio.testing import MockClock

_log = structlog.get_logger()


def run_server(
    config_file: Path | None,
    flags: Mapping[str, Mapping[str, object]],
    *,
    dev: bool,
    mock_start_at: datetime | None,
    open_browser: bool,
) -> None:
    """Run a server; with `mock_start_at`, on a mock clock that starts there."""
    settings = settings_of(config_file, flags)
    set_up_logging(settings)
    if dev and not is_loopback(settings.server.host):
        raise click.UsageError(
            f"--dev listens on loopback only, and {settings.server.host} is not a loopback address:"
            " the login without a password lets anyone sign in as anyone. Remove --host or --dev."
        )
    if not dev:
        refuse_demo_data(settings.server.data_dir)
    mock = None if mock_start_at is None else _mock_clock()
    with explained():
        load = partial(load_settings, config_file, os.environ, flags)
        worker = None if mock else worker_command(config_file, settings.server.data_dir)
        trio.run(
            partial(_serve, settings, load, dev, mock, mock_start_at, open_browser, worker),
            clock=mock,
        )


def _mock_clock() -> MockClock:
    # Not at the start of every server: trio.testing loads pytest where it is installed.
    from trio.testing import MockClock

    return MockClock()


async def _serve(
    settings: Settings,
    load: Callable[[], Settings],
    dev: bool,
    mock: MockClock | None,
    mock_start_at: datetime | None,
    open_browser: bool,
    worker: list[str] | None,
) -> None:
    data_dir = settings.server.data_dir
    tokens = Tokens.from_settings(settings.auth, dev_data_dir=data_dir if dev else None)
    if missing := settings.auth.unchecked_claims():
        _log.warning("tokens_of_other_services_are_taken", unset=missing)
    clock = (
        Clock.real(settings.server.clock_step_s)
        if mock_start_at is None
        else Clock.starting(mock_start_at)
    )
    ssl_context = tls_context(settings.edge)
    notifier = Notifier.of(os.environ)
    # Before the server is ready, SIGHUP has nothing to reload.
    orders = Orders(None if dev else lambda: None)
    with heard_signals() as signals, opened_listeners(settings) as listeners:
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
                worker_command=worker,
            ) as server:
                address = address_of(listeners, secure=ssl_context is not None)
                tune_interpreter()
                click.echo(f"yoked-actor ready on {address}")
                notifier.ready(f"ready on {address}")

                def reload_settings() -> None:
                    notifier.reloading(time.monotonic())
                    reloaded = reload(settings, load)
                    if reloaded is not None:
                        if {"log.level", "log.format"}.intersection(reloaded.changed):
                            set_up_logging(settings)
                        server.settings_changed()
                    notifier.ready(f"ready on {address}")

                orders.hurry = server.hurry
                if not dev:
                    orders.reload = reload_settings
                every_s = watchdog_interval_s(os.environ)
                beside.start_soon(feed_watchdog, notifier, every_s, server.live.rooms.ping)
                if open_browser:
                    await trio.to_thread.run_sync(webbrowser.open, address)
                await orders.stop.wait()
                notifier.stopping()
                if mock is not None:
                    # The drain has deadlines: they pass only while the clock runs.
                    mock.rate = 1.0
            beside.cancel_scope.cancel()
    _log.info("stopped")
