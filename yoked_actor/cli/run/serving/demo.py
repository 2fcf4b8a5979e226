"""Runs a local server with simulated people to meet."""

from __future__ import annotations

import os
import secrets
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import structlog
import trio

from yoked_actor.app.base import DATABASE
from yoked_actor.app.process.signals import Orders, heard_signals
from yoked_actor.app.process.starting import (
    address_of,
    explained,
    is_loopback,
    settings_of,
    tune_interpreter,
)
from yoked_actor.app.server import Server, open_server
from yoked_actor.bots.demo import STEP_IN_S, Demo, Seeker
from yoked_actor.bots.demo_people import Role, is_demo, roles_for
from yoked_actor.cli.run.serving.demo_data import claim_demo_data
from yoked_actor.cli.run.serving.listeners import opened_listeners
from yoked_actor.client import Dial
from yoked_actor.domain.lobby import State
from yoked_actor.domain.time import seconds_between
from yoked_actor.edge.auth import Tokens
from yoked_actor.settings import Settings
from yoked_actor.telemetry import configure_logging

_log = structlog.get_logger()


def run_demo(
    host: str | None, port: int | None, data_dir: Path, people: int, *, open_browser: bool
) -> None:
    """Run a server in development mode, and simulated people on it."""
    flags: dict[str, dict[str, object]] = {
        # The simulated people stop first, so a drain has no votes to wait for.
        "server": {"host": host, "port": port, "data_dir": data_dir, "drain_votes_s": 0.0},
        # Simulated people move near each visitor; the new place has to show at once.
        "matching": {"shown_place_every_s": 0.0},
    }
    if "YOKED_LOG__LEVEL" not in os.environ:
        # Keep the instructions on the screen: they would scroll away above info events.
        flags["log"] = {"level": "warning"}
    settings = settings_of(None, flags)
    configure_logging(settings.log.level, settings.log.format)
    if not is_loopback(settings.server.host):
        raise click.UsageError(
            f"a demo listens on loopback only, and {settings.server.host} is not a loopback"
            " address: the login without a password lets anyone sign in as anyone."
        )
    with explained():
        claim_demo_data(data_dir)
        trio.run(_run, settings, people, open_browser)


async def _run(settings: Settings, people: int, open_browser: bool) -> None:
    data_dir = settings.server.data_dir
    tokens = Tokens.from_settings(settings.auth, dev_data_dir=data_dir)
    orders = Orders()
    with heard_signals() as signals, opened_listeners(settings) as listeners:
        address = address_of(listeners)
        async with trio.open_nursery() as beside:
            beside.start_soon(orders.hear, signals)
            async with (
                open_server(
                    settings,
                    tokens,
                    database=data_dir / DATABASE,
                    listeners=listeners,
                    stop=orders.stop,
                    dev=True,
                ) as server,
                trio.open_nursery() as nursery,
            ):
                tune_interpreter()
                nursery.start_soon(demo_of(server, address, people).run)
                click.echo(f"yoked-actor ready on {address}\n{_what_to_do(people, data_dir)}")
                if open_browser:
                    await trio.to_thread.run_sync(webbrowser.open, address)
                orders.hurry = server.hurry
                await orders.stop.wait()
                nursery.cancel_scope.cancel()
            beside.cancel_scope.cancel()
    _log.info("stopped")


def demo_of(
    server: Server,
    url: str,
    people: int,
    *,
    name: str | None = None,
    dial: Dial | None = None,
    roles: Callable[[str], Iterator[Role]] = roles_for,
) -> Demo:
    """The simulated people for a server that runs in this process."""
    return Demo(
        url,
        people=people,
        # New IDs at every start: two people who have met are not matched again.
        name=secrets.token_hex(4) if name is None else name,
        genders=server.base.settings.matching.genders,
        look=lambda: waiting_visitors(server),
        now=server.base.clock.now,
        dial=dial,
        roles=roles,
    )


def waiting_visitors(server: Server) -> list[Seeker]:
    """Real users who are waiting for a match."""
    floor, now = server.live.lobby.floor, server.base.clock.now()
    return [
        Seeker(floor.person(user_id), seconds_between(seat.waiting_since, now))
        for user_id, seat in floor.seats.rows.items()
        if seat.state is State.WAITING
        and seat.waiting_since is not None
        and floor.is_here(user_id)
        and not is_demo(user_id)
    ]


def _what_to_do(people: int, data_dir: Path) -> str:
    return f"""
  Open that address, sign in with any name, and spin.
  {people} simulated people are online, with names that end in "(demo)". One of them joins after
  you have waited {STEP_IN_S:g} seconds. They say yes or pass; some leave or never answer.
  To match two accounts of your own, sign in with another name in a private window.
  The data is stored in {data_dir}. Press Ctrl-C to stop."""
