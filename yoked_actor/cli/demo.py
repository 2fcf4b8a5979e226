"""`yoked-actor demo`: a server on one's own machine, with people to meet.

What a demo stores is kept apart from everything else: its data directory carries a mark, without
which it takes no database, and with which a server of real people does not start.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import structlog
import trio

from yoked_actor.app.base import DATABASE
from yoked_actor.app.server import Server, open_server
from yoked_actor.app.signals import Orders, heard_signals
from yoked_actor.app.starting import (
    address_of,
    explained,
    is_loopback,
    settings_of,
    tune_interpreter,
)
from yoked_actor.bots.demo import STEP_IN_S, Demo, Seeker
from yoked_actor.bots.demo_people import Role, is_demo, roles_for
from yoked_actor.client import Dial
from yoked_actor.domain.lobby import State
from yoked_actor.domain.time import seconds_between
from yoked_actor.edge.auth import Tokens
from yoked_actor.edge.net import open_listeners
from yoked_actor.settings import Settings
from yoked_actor.telemetry import configure_logging

_log = structlog.get_logger()

MARK = "DEMO"
DEFAULT_DATA = Path("data/demo")
MAX_PEOPLE = 500
_MARK_TEXT = """\
The database in this directory was made by `yoked-actor demo` and holds made-up people.
A server of real people refuses it because of this file.
"""


@click.command()
@click.option("--host", help="The address to listen on, of this machine.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="The port; 0 takes a free one.  [default: 8080]")
@click.option(
    "--data",
    "data_dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=DEFAULT_DATA,
    help="Where the database of the demo is kept.  [default: ./data/demo]",
)
@click.option(
    "--people",
    type=click.IntRange(1, MAX_PEOPLE),
    default=40,
    show_default=True,
    help="How many people of the demo are there.",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the demo in a browser.")
def demo(
    host: str | None, port: int | None, data_dir: Path, people: int, open_browser: bool
) -> None:
    """Try it alone: a server on this machine, with made-up people to meet.

    It is a server in --dev mode, so it listens on loopback only. The people of the demo have names
    that end in "(demo)"; they say yes, pass, leave, never answer or disappear, so that everything
    that can happen does. Ctrl-C stops it.
    """
    flags: dict[str, dict[str, object]] = {
        # Its people are gone by then: there is no vote to wait for.
        "server": {"host": host, "port": port, "data_dir": data_dir, "drain_votes_s": 0.0},
        # Its people move to where a visitor is, and have no place to hide.
        "matching": {"shown_place_every_s": 0.0},
    }
    if "YOKED_LOG__LEVEL" not in os.environ:
        # What is told at the start should still be on the screen a minute later.
        flags["log"] = {"level": "warning"}
    settings = settings_of(None, flags)
    configure_logging(settings.log.level, settings.log.format)
    if not is_loopback(settings.server.host):
        raise click.UsageError(
            f"a demo listens on loopback only, and {settings.server.host} is not: without a"
            " password anybody could be anybody."
        )
    with explained():
        mark_demo_data(data_dir)
        trio.run(_run, settings, people, open_browser)


async def _run(settings: Settings, people: int, open_browser: bool) -> None:
    data_dir = settings.server.data_dir
    tokens = Tokens.from_settings(settings.auth, dev_data_dir=data_dir)
    orders = Orders()
    with (
        heard_signals() as signals,
        contextlib.ExitStack() as closing,
    ):
        listeners = open_listeners(settings.server.host, settings.server.port)
        for listener in listeners:
            closing.callback(listener.close)
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
    """The people of a demo, for a server that runs in this process."""
    return Demo(
        url,
        people=people,
        # Their ids must be new at every start: who has met a visitor does not meet them again.
        name=secrets.token_hex(4) if name is None else name,
        genders=server.base.settings.matching.genders,
        look=lambda: waiting_visitors(server),
        now=server.base.clock.now,
        dial=dial,
        roles=roles,
    )


def waiting_visitors(server: Server) -> list[Seeker]:
    """Who is in line and not of the demo."""
    floor, now = server.live.lobby.floor, server.base.clock.now()
    return [
        Seeker(floor.person(user_id), seconds_between(seat.waiting_since, now))
        for user_id, seat in floor.seats.rows.items()
        if seat.state is State.WAITING
        and seat.waiting_since is not None
        and floor.is_here(user_id)
        and not is_demo(user_id)
    ]


def mark_demo_data(data_dir: Path) -> None:
    """Make a directory the demo's own, unless it holds somebody else's data."""
    mark = data_dir / MARK
    if mark.exists():
        return
    if (data_dir / DATABASE).exists():
        raise click.ClickException(
            f"{data_dir} holds a database that is not a demo's, and made-up people must not get"
            f" among real ones. Give the demo another directory with --data, or start a server on"
            f" this one: yoked-actor serve --dev --data {data_dir}"
        )
    data_dir.mkdir(parents=True, exist_ok=True)
    mark.write_text(_MARK_TEXT, "utf-8")


def refuse_demo_data(data_dir: Path) -> None:
    """Keep a server of real people off the data of a demo."""
    if (data_dir / MARK).exists():
        raise click.ClickException(
            f"{data_dir} is the data of a demo (there is a file {MARK} in it), with made-up people."
            " Give the server another directory with --data, or look at this one with --dev."
        )


def _what_to_do(people: int, data_dir: Path) -> str:
    return f"""
  Open that address, sign in with any name, and spin.
  {people} demo people are here, named "... (demo)". One of them comes when you have waited
  for {STEP_IN_S:g} seconds. They say yes or pass; some never answer, leave, or disappear.
  To meet yourself, sign in with another name in a private window and spin in both.
  What happens is kept in {data_dir}. Ctrl-C ends it."""
