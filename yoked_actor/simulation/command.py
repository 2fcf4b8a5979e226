"""The work of `yoked-actor simulate`."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Literal

import click
import msgspec
import structlog

from yoked_actor.simulation.page import page_of
from yoked_actor.simulation.plan import Wish
from yoked_actor.simulation.run import Result, simulate
from yoked_actor.simulation.shrink import shrink
from yoked_actor.simulation.text import summary, text_of
from yoked_actor.telemetry import configure_logging


def run_weeks(
    wish: Wish,
    *,
    report: Path | None,
    history: Path | None,
    shrinks: bool,
    keep_going: bool,
    as_json: bool,
    log_level: Literal["debug", "info", "warning", "error"] | None = None,
) -> None:
    """Simulate, and print how it went; exit with 1 if a judge found a violation."""
    if log_level is None:
        # Errors are what the faults ask for: hundreds of them.
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    else:
        configure_logging(log_level)
    result = _simulate(wish, history, keep_going)
    if report is not None:
        report.write_text(page_of(result), encoding="utf-8")
    if as_json:
        click.echo(msgspec.json.encode(summary(result)).decode())
    else:
        click.echo(text_of(result))
    if result.violations and shrinks:
        small = shrink(result, lambda text: click.echo(text, err=True))
        click.echo(f"smallest case found: {small.wish.command()}")
        click.echo("\n".join(small.violations[0].lines()))
    if result.violations:
        raise SystemExit(1)


def _simulate(wish: Wish, history: Path | None, keep_going: bool) -> Result:
    with click.progressbar(length=1000, label="simulating", file=sys.stderr) as bar:
        done = 0

        def progress(share: float) -> None:
            nonlocal done
            bar.update(round(1000 * share) - done)
            done = round(1000 * share)

        if history is None:
            return simulate(wish, on_progress=progress, keep_going=keep_going)
        with history.open("w", encoding="utf-8") as file:
            return simulate(wish, history=file, on_progress=progress, keep_going=keep_going)
