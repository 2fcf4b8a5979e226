"""`yoked-actor bots`."""

from __future__ import annotations

import click

from yoked_actor.bots.personas import MIX, PERSONAS


@click.command()
@click.option(
    "--users",
    type=click.IntRange(1, 5_000),
    default=20,
    show_default=True,
    help="Number of bots that are connected at a time.",
)
@click.option(
    "--url",
    default="http://127.0.0.1:8080",
    show_default=True,
    help="Address of a server that runs with --dev.",
)
@click.option(
    "--persona",
    type=click.Choice([MIX, *PERSONAS]),
    default=MIX,
    show_default=True,
    help="Behaviour of the bots.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(1, 86_400),
    default=300.0,
    show_default=True,
    help="Duration; Ctrl-C ends it earlier.",
)
@click.option(
    "--seed", type=click.IntRange(0), help="Seed of the generated profiles.  [default: random]"
)
@click.option(
    "--ramp",
    type=click.FloatRange(0.1, 1_000),
    default=50.0,
    show_default=True,
    help="Number of bots that connect per second.",
)
@click.option(
    "--room",
    metavar="ID[,ID...]",
    help="Rooms over which the bots spread evenly; they must be open to everyone.  [default: main]",
)
def bots(
    users: int,
    url: str,
    persona: str,
    seconds: float,
    seed: int | None,
    ramp: float,
    room: str | None,
) -> None:
    """Run simulated users against a development server.

    The bots spin, vote and date. They use the login without a password, so the server must run
    with --dev. Press Ctrl-C to stop and print the summary.
    """
    from yoked_actor.bots.command import run_bots

    rooms = () if room is None else tuple(one.strip() for one in room.split(","))
    run_bots(users, url, persona, seconds, seed, ramp, rooms)
