"""The `yoked-actor` command: a table of subcommands, each imported when it is called."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

import yoked_actor
from yoked_actor import compiled


class Entry(NamedTuple):
    """Where a command is, and its line in the list of commands."""

    target: str
    """`module:attribute`, the module within this package."""
    summary: str


COMMANDS = {
    "backup": Entry("backup:backup", "Write a copy of the database to FILE."),
    "bots": Entry("bots:bots", "Run simulated users against a development server."),
    "config": Entry("config:config", "Print all settings with their defaults, as TOML."),
    "copy-store": Entry("backup:copy_store", "Copy the SQLite database into PostgreSQL."),
    "demo": Entry("demo:demo", "Run a local server with simulated people to meet."),
    "doctor": Entry("doctor:doctor", "Check the configuration, the system and the database."),
    "erase": Entry("users:erase", "Erase all data about USER."),
    "export": Entry("users:export", "Print all data stored about USER, as JSON."),
    "jobs": Entry("jobs:jobs", "List and repair background jobs."),
    "migrate": Entry("backup:migrate", "Migrate the database to the schema of this version."),
    "offers": Entry("offers:offers", "List, run and verify the daily offers."),
    "restore": Entry("backup:restore", "Replace the database with the backup FILE."),
    "rooms": Entry("rooms:rooms", "List, add, change and remove rooms."),
    "serve": Entry("serve:serve", "Run the server."),
    "simulate": Entry(
        "simulate:simulate", "Simulate days or weeks of the whole server in minutes."
    ),
    "token": Entry("token:token", "Print an access token for USER."),
    "users": Entry("users:users", "List, suspend and unsuspend users."),
    "worker": Entry("worker:worker", "Run background jobs in a separate process."),
}


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and none to list them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the table."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is no such command."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(f"yoked_actor.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name].summary) for name in sorted(COMMANDS)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names from the table, and options."""
        names = [
            CompletionItem(name, help=entry.summary)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]


def _print_version(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        build = compiled.FINDER.description()
        click.echo(f"yoked-actor, version {yoked_actor.__version__} ({build})")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def main() -> None:
    """A matchmaking server for live speed dating.

    To try it on your own machine:

    \b
        yoked-actor demo
        yoked-actor serve --dev
    """
    # To import a server makes 180,000 objects: to look for garbage among them 260 times is a tenth
    # of its start. A server sets its own thresholds when it is ready.
    gc.set_threshold(100_000, 20, 20)
