"""Runs a worker until a signal stops it, or its server does."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import click
import structlog
import trio

from yoked_actor.actors.jobs import Dispatcher
from yoked_actor.app.base import DATABASE
from yoked_actor.app.process.reloading import reload
from yoked_actor.app.process.signals import Orders, heard_signals
from yoked_actor.app.process.starting import explained, settings_of, tune_interpreter
from yoked_actor.app.worker import open_worker
from yoked_actor.app.worker_report import Reporter
from yoked_actor.cli.run.common import set_up_logging
from yoked_actor.settings import JobSettings, Settings, load_settings

_log = structlog.get_logger()

_NICE = 5
"""The worker process of a server lets the server go first where a core is short."""
_SWITCH_INTERVAL_S = 0.0001
"""A transaction waits no longer for a thread that computes offers; the server waits for both."""
_AUTOGROUP = Path("/proc/self/autogroup")
_STDIN, _STDOUT = 0, 1


def run_worker(
    config_file: Path | None, flags: Mapping[str, Mapping[str, object]], *, supervised: bool
) -> None:
    """Run jobs in this process; `supervised` by the server that has started it."""
    settings = settings_of(config_file, flags)
    set_up_logging(settings)
    tune_interpreter(_SWITCH_INTERVAL_S)
    load = partial(load_settings, config_file, os.environ, flags)
    with explained():
        trio.run(_work_for_server if supervised else _work, settings, load)


async def _work(settings: Settings, load: Callable[[], Settings]) -> None:
    orders = Orders(lambda: reload(settings, load))
    with heard_signals() as signals:
        async with trio.open_nursery() as beside:
            beside.start_soon(orders.hear, signals)
            async with open_worker(settings, settings.server.data_dir / DATABASE):
                click.echo(f"yoked-actor worker ready on {settings.server.data_dir}")
                await orders.stop.wait()
            beside.cancel_scope.cancel()
    _log.info("stopped")


async def _work_for_server(settings: Settings, load: Callable[[], Settings]) -> None:
    _let_server_go_first()
    orders = Orders(lambda: reload(settings, load))
    _stop_with_server(orders.stop, trio.lowlevel.current_trio_token(), settings.jobs)
    with heard_signals() as signals:
        async with trio.open_nursery() as beside:
            beside.start_soon(orders.hear, signals)
            async with open_worker(
                settings, settings.server.data_dir / DATABASE, Reporter(_send)
            ) as dispatcher:
                beside.start_soon(_stop_when_idle, dispatcher, settings.jobs, orders.stop)
                await orders.stop.wait()
            beside.cancel_scope.cancel()


def _let_server_go_first() -> None:
    os.nice(_NICE)
    # Linux may divide the cores among sessions first, and this process has one of its own.
    with suppress(OSError):
        _AUTOGROUP.write_text(str(_NICE))


def _stop_with_server(
    stop: trio.Event, token: trio.lowlevel.TrioToken, settings: JobSettings
) -> None:
    """Stop when standard input ends: then the server has ended, in whatever way.

    A thread waits for it, and ends the process if it has not stopped in time.
    """

    def wait() -> None:
        while os.read(_STDIN, 1024):
            pass
        try:
            token.run_sync_soon(stop.set)
        except trio.RunFinishedError:
            return
        threading.Event().wait(2 * settings.drain_s + 5.0)
        os._exit(1)

    threading.Thread(target=wait, daemon=True, name="server-watch").start()


async def _stop_when_idle(dispatcher: Dispatcher, jobs: JobSettings, stop: trio.Event) -> None:
    """Stop after a time without a job."""
    busy_s = trio.current_time()
    while trio.current_time() - busy_s < jobs.worker_idle_s:
        await trio.sleep(min(1.0, jobs.worker_idle_s))
        if dispatcher.held:
            busy_s = trio.current_time()
    stop.set()


def _send(line: bytes) -> None:
    try:
        while line:
            line = line[os.write(_STDOUT, line) :]
    except OSError:
        pass  # the server is gone
