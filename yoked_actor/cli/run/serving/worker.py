"""Runs a worker until a signal stops it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click
import structlog
import trio

from yoked_actor.app.base import DATABASE
from yoked_actor.app.process.reloading import reload
from yoked_actor.app.process.signals import Orders, heard_signals
from yoked_actor.app.process.starting import explained, settings_of
from yoked_actor.app.worker import open_worker
from yoked_actor.cli.run.common import set_up_logging
from yoked_actor.settings import Settings, load_settings

_log = structlog.get_logger()


def run_worker(config_file: Path | None, flags: Mapping[str, Mapping[str, object]]) -> None:
    """Run jobs in this process."""
    settings = settings_of(config_file, flags)
    set_up_logging(settings)
    with explained():
        trio.run(_work, settings, partial(load_settings, config_file, os.environ, flags))


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
