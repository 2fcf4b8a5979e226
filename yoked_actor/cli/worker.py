"""`yoked-actor worker`."""

from __future__ import annotations

from pathlib import Path

import click

from yoked_actor.cli.common import config_option, data_option


@click.command()
@config_option
@data_option
def worker(config_file: Path | None, data_dir: Path | None) -> None:
    """Run background jobs in a separate process.

    Start it on the data directory of a running server, to use a second CPU core for jobs.

    SIGTERM and SIGINT (Ctrl-C) stop the worker: running jobs are completed or released. SIGHUP
    reloads the settings.
    """
    from yoked_actor.cli.run.serving.worker import run_worker

    run_worker(config_file, {"server": {"data_dir": data_dir}})
