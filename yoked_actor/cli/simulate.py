"""`yoked-actor simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from yoked_actor.cli.common import json_option

_DEFAULT_PEOPLE, _DEFAULT_DAYS = 40, 3


def _faults(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    from yoked_actor.simulation.plan import parse_faults

    try:
        return parse_faults(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _numbers(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    from yoked_actor.simulation.plan import numbers

    try:
        return None if value is None else tuple(numbers(value))
    except ValueError:
        raise click.BadParameter("give numbers with commas between them, or none") from None


@click.group(invoke_without_command=True)
@click.option(
    "--people",
    type=click.IntRange(2, 999),
    default=_DEFAULT_PEOPLE,
    show_default=True,
    help="Number of simulated people.",
)
@click.option(
    "--days",
    type=click.IntRange(1, 366),
    default=_DEFAULT_DAYS,
    show_default=True,
    help="Number of simulated days.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the simulation.")
@click.option(
    "--faults",
    callback=_faults,
    default="none",
    show_default=True,
    help="Kinds of faults: all, none, or names with commas between them: crash, power, socket,"
    " disk, statement, clock, suspend, side_task, reload, drain, worker.",
)
@click.option(
    "--policy", type=click.Choice(["fair_queue", "weighted"]), help="Set matching.policy."
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a page with plots to this file.",
)
@click.option(
    "--history",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write everything that people did and were told to this file.",
)
@click.option(
    "--shrink", "shrinks", is_flag=True, help="After a violation, search for a smaller case."
)
@click.option("--keep-going", is_flag=True, help="Do not stop at the first violation.")
@click.option(
    "--log",
    "log_level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="Show the server's log from this level on. Without it nothing is logged.",
)
@click.option("--only-faults", callback=_numbers, hidden=True)
@click.option("--without", callback=_numbers, hidden=True)
@click.option("--hours", hidden=True)
@json_option
@click.pass_context
def simulate(
    context: click.Context,
    people: int,
    days: int,
    seed: int,
    faults: tuple[str, ...],
    policy: str | None,
    report: Path | None,
    history: Path | None,
    shrinks: bool,
    keep_going: bool,
    log_level: Literal["debug", "info", "warning", "error"] | None,
    only_faults: tuple[int, ...] | None,
    without: tuple[int, ...] | None,
    hours: str | None,
    as_json: bool,
) -> None:
    """Simulate days or weeks of the whole server in minutes.

    The real server runs on a mock clock, with its file, its jobs and its calendar. Simulated people
    with habits use it through the public protocol. Faults are drawn from the seed. Judges compare
    what people were told with each other, with the database and with the calendar.

    The same seed gives the same history, to the byte. After a violation the command that shows it
    again is printed.

    \b
    Exit status:
      0  if no judge found a violation
      1  if one did
      2  on a usage error
    """
    if context.invoked_subcommand is not None:
        return
    if hours is not None:
        raise click.UsageError(
            "--hours is an option of `yoked-actor simulate evening`, which plays the lobby alone"
        )
    from yoked_actor.simulation.command import run_weeks
    from yoked_actor.simulation.plan import Wish

    wish = Wish(
        seed=seed,
        people=people,
        days=days,
        faults=faults,
        only_faults=only_faults,
        without=without or (),
        policy=policy,
    )
    run_weeks(
        wish,
        report=report,
        history=history,
        shrinks=shrinks,
        keep_going=keep_going,
        as_json=as_json,
        log_level=log_level,
    )


@simulate.command()
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
def evening(
    people: int,
    hours: float,
    seed: int,
    policy: str | None,
    config_file: Path | None,
    as_json: bool,
) -> None:
    """Simulate an evening of the lobby alone and report the waiting times.

    The simulation runs the real matchmaker with simulated people on a mock clock. The report has
    waiting times by group, tiers and outcomes. After every round it checks that nobody waits longer
    than the limit while a compatible person waits too. The same seed gives the same evening.

    \b
    Exit status:
      0  if all checks passed
      1  if a check failed
      2  on a usage error
    """
    from yoked_actor.simulation.evening.command import run_simulation

    run_simulation(people, hours, seed, policy, config_file, as_json=as_json)
