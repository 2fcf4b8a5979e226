"""`yoked-actor worker`."""

from __future__ import annotations

from pathlib import Path

import click

from yoked_actor.cli.common import config_option, data_option


@click.command()
@config_option
@data_option
@click.option(
    "--supervised",
    is_flag=True,
    hidden=True,
    help="Started by a server: stop when standard input ends, and report on standard output.",
)
def worker(config_file: Path | None, data_dir: Path | None, supervised: bool) -> None:
    """Run background jobs in a separate process.

    A server starts one by itself for its daily offers (jobs.worker_process). Start more of them on
    the data directory of a running server, to use more CPU cores for jobs.

    SIGTERM and SIGINT (Ctrl-C) stop the worker: running jobs are completed or released. SIGHUP
    reloads the settings.
    """
    from yoked_actor.cli.run.serving.worker import run_worker

    run_worker(config_file, {"server": {"data_dir": data_dir}}, supervised=supervised)
