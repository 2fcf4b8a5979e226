"""The work of `yoked-actor simulate`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
import msgspec
import trio
from trio.testing import MockClock

from yoked_actor.settings import SettingsError, load_settings
from yoked_actor.simulation.evening.evening import simulate as play
from yoked_actor.simulation.evening.report import Report
from yoked_actor.telemetry import configure_logging


def run_simulation(
    people: int,
    hours: float,
    seed: int,
    policy: str | None,
    config_file: Path | None,
    *,
    as_json: bool,
) -> None:
    """Simulate an evening and print the report; exit with 1 if a check failed."""
    overrides: dict[str, dict[str, object]] = {
        "matching": {"policy": policy},
        "matchmaker": {"audit": "raise"},
    }
    try:
        settings = load_settings(config_file, os.environ, overrides)
    except SettingsError as error:
        raise click.ClickException(str(error)) from None
    configure_logging("warning")
    with click.progressbar(length=100, label="simulating", file=sys.stderr) as bar:

        async def evening() -> Report:
            return await play(
                settings, people=people, hours=hours, seed=seed, on_progress=bar.update
            )

        report = trio.run(evening, clock=MockClock(autojump_threshold=0))
    click.echo(msgspec.json.encode(report).decode() if as_json else report.text())
    if report.violations:
        raise SystemExit(1)
