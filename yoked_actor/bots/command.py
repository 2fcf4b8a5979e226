"""`yoked-actor bots`: a crowd on a server that runs in `--dev` mode."""

from __future__ import annotations

import contextlib
import resource
import secrets
import signal

import click
import msgspec
import trio
from rich.console import Console
from rich.live import Live

from yoked_actor.bots.crowd import Crowd
from yoked_actor.bots.display import live_table, progress_line, summary
from yoked_actor.bots.personas import MIX, PERSONAS
from yoked_actor.client import Address, Api, CallRefused

MAX_USERS = 5_000
_LINE_EVERY_S = 5.0
_TABLE_EVERY_S = 0.5
_FIRST_ANSWER_S = 10.0
_SPARE_FILES = 100


@click.command()
@click.option(
    "--users",
    type=click.IntRange(1, MAX_USERS),
    default=20,
    show_default=True,
    help="How many are there at a time.",
)
@click.option(
    "--url", default="http://127.0.0.1:8080", show_default=True, help="A server in --dev mode."
)
@click.option(
    "--persona",
    type=click.Choice([MIX, *PERSONAS]),
    default=MIX,
    show_default=True,
    help="How they behave.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(1, 86_400),
    default=300.0,
    show_default=True,
    help="How long, unless Ctrl-C comes first.",
)
@click.option("--seed", type=click.IntRange(0), help="The same people again.  [default: new ones]")
@click.option(
    "--ramp",
    type=click.FloatRange(0.1, 1_000),
    default=50.0,
    show_default=True,
    help="How many come in a second.",
)
def bots(users: int, url: str, persona: str, seconds: float, seed: int | None, ramp: float) -> None:
    """Let made-up people spin, vote and date on a server of your own.

    They log in through the development login, so the server must run with --dev. Ctrl-C ends it
    with the summary.
    """
    try:
        Address.parse(url)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--url") from None
    _allow_open_files(users + _SPARE_FILES)
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    problem = trio.run(_run, url, users, persona, seconds, seed, ramp)
    if problem is not None:
        raise click.ClickException(problem)


async def _run(
    url: str, users: int, persona: str, seconds: float, seed: int, ramp: float
) -> str | None:
    """Run the crowd; returns what was wrong, if anything."""
    problem = await _knock(url)
    if problem is not None:
        return problem
    crowd = Crowd(url, users=users, persona=persona, seed=seed, ramp=ramp)
    console = Console(highlight=False)
    started = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_on_signal, crowd, nursery.cancel_scope)
        nursery.start_soon(_stop_after, crowd, seconds)
        nursery.start_soon(_show, crowd, console, started)
        await crowd.run()
        nursery.cancel_scope.cancel()
    console.print(summary(crowd, trio.current_time() - started))
    if crowd.tally.errors:
        return f"{crowd.tally.errors.total()} errors, the first: {crowd.tally.first_error}"
    return await _knock(url)


async def _knock(url: str) -> str | None:
    """What keeps bots from logging in there, if anything does."""
    try:
        with trio.fail_after(_FIRST_ANSWER_S):
            await Api(url).login("bot")
    except CallRefused as refused:
        if refused.status in (404, 405):
            return (
                f"the server at {url} does not run in --dev mode; bots log in through its"
                " development login: start one with yoked-actor serve --dev"
            )
        return f"the server at {url} refuses the login: {refused}"
    except trio.TooSlowError:
        return f"the server at {url} gives no answer"
    except (OSError, trio.BrokenResourceError) as error:
        return f"the server at {url} cannot be reached: {error}"
    except (msgspec.MsgspecError, LookupError, TypeError):
        return f"what answers at {url} is not a yoked-actor server"
    return None


async def _stop_on_signal(crowd: Crowd, everything: trio.CancelScope) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            if crowd.is_stopping:
                everything.cancel()
            crowd.stop()


async def _stop_after(crowd: Crowd, seconds: float) -> None:
    await trio.sleep(seconds)
    crowd.stop()


async def _show(crowd: Crowd, console: Console, started: float) -> None:
    if not console.is_terminal:
        while True:
            await trio.sleep(_LINE_EVERY_S)
            click.echo(progress_line(crowd, trio.current_time() - started))
    # Refreshed from here: a thread of its own would draw while the bots change what is drawn.
    with Live(console=console, auto_refresh=False, transient=True) as live:
        while True:
            live.update(live_table(crowd, trio.current_time() - started), refresh=True)
            await trio.sleep(_TABLE_EVERY_S)


def _allow_open_files(wanted: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= wanted:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < wanted:
        raise click.ClickException(
            f"so many bots need {wanted} open files, and this system allows {hard};"
            " ask for fewer with --users"
        )
