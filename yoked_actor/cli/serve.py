"""`yoked-actor serve`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from yoked_actor.cli.common import (
    config_option,
    data_option,
    dev_option,
    host_option,
    open_option,
    port_option,
)

MOCK_START = "2026-01-01T08:00:00Z"


def _instant(context: click.Context, parameter: click.Parameter, value: str) -> datetime:
    try:
        instant = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(
            f"{value} is not an ISO 8601 date and time such as {MOCK_START}"
        ) from None
    return instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)


@click.command()
@config_option
@host_option
@port_option
@data_option
@dev_option
@click.option(
    "--mock-clock", is_flag=True, help="Use a mock clock, advanced through the API; needs --dev."
)
@click.option(
    "--mock-clock-start",
    default=MOCK_START,
    metavar="ISO",
    show_default=True,
    callback=_instant,
    help="Initial time of the mock clock.",
)
@open_option
def serve(
    config_file: Path | None,
    host: str | None,
    port: int | None,
    data_dir: Path | None,
    dev: bool,
    mock_clock: bool,
    mock_clock_start: datetime,
    open_browser: bool,
) -> None:
    """Run the server.

    Web pages, HTTP API, WebSocket and metrics share one port. Settings are read from the --config
    file, then from environment variables YOKED_SECTION__KEY, then from options; later values
    override earlier ones.

    SIGTERM and SIGINT (Ctrl-C) drain connections and stop the server; a second signal stops it
    immediately. SIGHUP reloads the settings. With --dev, SIGHUP stops the server.
    """
    if mock_clock and not dev:
        raise click.UsageError("--mock-clock needs --dev")
    from yoked_actor.cli.run.serving.serve import run_server

    run_server(
        config_file,
        {"server": {"host": host, "port": port, "data_dir": data_dir}},
        dev=dev,
        mock_start_at=mock_clock_start if mock_clock else None,
        open_browser=open_browser,
    )
