"""`yoked-actor rooms`."""

from __future__ import annotations

import click

from yoked_actor.cli.common import Source, json_option, source_options

_SET = click.option(
    "--set",
    "given",
    multiple=True,
    metavar="KEY=VALUE",
    help="A key of the room, such as capacity=100 or schedule='[\"fri 20:00-23:00\"]'.",
)


@click.group()
def rooms() -> None:
    """List, add, change and remove rooms.

    These commands also work while a server is running: it applies a change at once.

    \b
    Exit status:
      0  if done
      1  if there is no such room, or it cannot be done
      2  on a usage error
    """


@rooms.command("list")
@source_options
@json_option
def list_rooms(source: Source, as_json: bool) -> None:
    """List the rooms of the settings and those of the database."""
    from yoked_actor.cli.run import rooms

    rooms.list_rooms(source, as_json=as_json)


@rooms.command()
@click.argument("room", metavar="ROOM")
@_SET
@source_options
def add(room: str, given: tuple[str, ...], source: Source) -> None:
    """Declare ROOM in the database."""
    from yoked_actor.cli.run import rooms

    rooms.add_room(source, room, given)


@rooms.command()
@click.argument("room", metavar="ROOM")
@_SET
@source_options
def change(room: str, given: tuple[str, ...], source: Source) -> None:
    """Change keys of ROOM, which was added before. An empty value removes a key."""
    from yoked_actor.cli.run import rooms

    rooms.change_room(source, room, given)


@rooms.command()
@click.argument("room", metavar="ROOM")
@source_options
def remove(room: str, source: Source) -> None:
    """Remove ROOM from the database. Users in it finish their matches and dates."""
    from yoked_actor.cli.run import rooms

    rooms.remove_room(source, room)
