"""`yoked-actor demo`."""

from __future__ import annotations

from pathlib import Path

import click

from yoked_actor.cli.common import host_option, open_option, port_option


@click.command()
@host_option
@port_option
@click.option(
    "--data",
    "data_dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("data/demo"),
    help="Directory of the demo's database.  [default: ./data/demo]",
)
@click.option(
    "--people",
    type=click.IntRange(1, 500),
    default=40,
    show_default=True,
    help="Number of simulated people.",
)
@open_option
def demo(
    host: str | None, port: int | None, data_dir: Path, people: int, open_browser: bool
) -> None:
    """Run a local server with simulated people to meet.

    The server runs in development mode (see `serve --dev`), on a loopback address only. The names
    of simulated people end in "(demo)". They say yes, pass, leave, never answer or disconnect, so
    that you can see each case. Press Ctrl-C to stop.
    """
    from yoked_actor.cli.run.serving.demo import run_demo

    run_demo(host, port, data_dir, people, open_browser=open_browser)
