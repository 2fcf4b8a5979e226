"""The work of `yoked-actor bots`: a crowd on a server that runs with `--dev`."""

from __future__ import annotations

import contextlib
import resource
import secrets
import signal
from collections.abc import Sequence

import click
import msgspec
import trio
from rich.console import Console
from rich.live import Live

from yoked_actor.bots.crowd import Crowd
from yoked_actor.bots.display import live_table, progress_line, summary
from yoked_actor.client import Address, Api, CallRefused
from yoked_actor.domain.rooms import is_room_id

_LINE_EVERY_S = 5.0
_TABLE_EVERY_S = 0.5
_LOGIN_TIMEOUT_S = 10.0
_SPARE_FILES = 100


def run_bots(
    users: int,
    url: str,
    persona: str,
    seconds: float,
    seed: int | None,
    ramp: float,
    rooms: Sequence[str] = (),
) -> None:
    """Run bots against a server, show what happens, and print a summary."""
    for room in rooms:
        if not is_room_id(room):
            message = f"{room!r} is no id of a room: 1 to 32 of a-z, 0-9, _ and -"
            raise click.BadParameter(message, param_hint="--room")
    try:
        Address.parse(url)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--url") from None
    _allow_open_files(users + _SPARE_FILES)
    seed = secrets.randbelow(1_000_000) if seed is None else seed
    problem = trio.run(_run, url, users, persona, seconds, seed, ramp, rooms)
    if problem is not None:
        raise click.ClickException(problem)


async def _run(
    url: str,
    users: int,
    persona: str,
    seconds: float,
    seed: int,
    ramp: float,
    rooms: Sequence[str],
) -> str | None:
    """Run the crowd; returns an error message, or None."""
    problem = await _login_problem(url)
    if problem is not None:
        return problem
    crowd = Crowd(url, users=users, persona=persona, seed=seed, ramp=ramp, rooms=rooms)
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
        return f"{crowd.tally.errors.total()} errors; first error: {crowd.tally.first_error}"
    return await _login_problem(url)


async def _login_problem(url: str) -> str | None:
    """Why bots cannot log in there, or None."""
    try:
        with trio.fail_after(_LOGIN_TIMEOUT_S):
            await Api(url).login("bot")
    except CallRefused as refused:
        if refused.status in (404, 405):
            return (
                f"the server at {url} does not run with --dev, so bots cannot log in;"
                " start one with: yoked-actor serve --dev"
            )
        return f"the server at {url} refused the login: {refused}"
    except trio.TooSlowError:
        return f"the server at {url} does not respond"
    except (OSError, trio.BrokenResourceError) as error:
        return f"the server at {url} cannot be reached: {error}"
    except (msgspec.MsgspecError, LookupError, TypeError):
        return f"{url} is not a yoked-actor server"
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
    # No auto refresh: its thread would read the tally while the bots change it.
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
            f"{wanted} open files are needed, and the system's limit is {hard};"
            " use fewer bots (--users)"
        )
