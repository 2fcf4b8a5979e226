"""`yoked-actor simulate`."""

from __future__ import annotations

from pathlib import Path

import click

from yoked_actor.cli.common import json_option


@click.command()
@click.option(
    "--people",
    type=click.IntRange(2, 20_000),
    default=500,
    show_default=True,
    help="Number of simulated people.",
)
@click.option(
    "--hours",
    type=click.FloatRange(0.01, 24),
    default=1.0,
    show_default=True,
    help="Simulated duration.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the simulation.")
@click.option(
    "--policy", type=click.Choice(["fair_queue", "weighted"]), help="Override matching.policy."
)
@click.option(
    "--config",
    "config_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="TOML file with settings; section [matching] is used.",
)
@json_option
def simulate(
    people: int,
    hours: float,
    seed: int,
    policy: str | None,
    config_file: Path | None,
    as_json: bool,
) -> None:
    """Simulate an evening and report the waiting times.

    The simulation runs the real matchmaker with simulated people on a mock clock. The report has
    waiting times by group, tiers and outcomes. After every round it checks that nobody waits longer
    than the limit while a compatible person waits too. The same seed gives the same evening.

    \b
    Exit status:
      0  if all checks passed
      1  if a check failed
      2  on a usage error
    """
    from yoked_actor.simulation.command import run_simulation

    run_simulation(people, hours, seed, policy, config_file, as_json=as_json)
