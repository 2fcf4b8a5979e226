"""Lists, adds, changes and removes rooms."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from yoked_actor.actors.rooms import BadRoom, Declaring
from yoked_actor.cli.common import Source
from yoked_actor.cli.run.common import (
    json_text,
    now,
    operator_name,
    print_table,
    settings_of,
    with_store,
)
from yoked_actor.store import Store

_AT_ONCE = "a running server applies it at once"


def list_rooms(source: Source, *, as_json: bool) -> None:
    """Print the rooms of the settings, then those of the database."""
    settings = settings_of(source)
    stored = with_store(settings, lambda store: store.rooms.all())
    found: list[dict[str, Any]] = []
    for room, values in settings.rooms.items():
        given = values.model_dump(mode="json", exclude_defaults=True)
        found.append({"room": room, "source": "settings", **given})
    for one in stored:
        given = msgspec.json.decode(one.definition)
        if "code" in given:
            given["code"] = "**********"
        guests = {"guests": list(one.guests)} if one.guests else {}
        found.append({"room": one.room, "source": "database", **given, **guests})
    if as_json:
        click.echo(json_text(found))
        return
    print_table(
        ("room", "source", "name", "entry", "definition"),
        (
            (
                one.pop("room"),
                one.pop("source"),
                str(one.pop("name", "")),
                str(one.pop("entry", "everyone")),
                msgspec.json.encode(one).decode(),
            )
            for one in found
        ),
        "there is only main",
    )


def add_room(source: Source, room: str, given: Sequence[str]) -> None:
    """Declare a room."""
    settings, values = settings_of(source), _values(given)

    async def add(store: Store) -> None:
        await Declaring(store, settings).add(room, values, operator_name(), now())

    with_store(settings, add, refusals=(BadRoom,))
    click.echo(f"{room} is declared; {_AT_ONCE}")


def change_room(source: Source, room: str, given: Sequence[str]) -> None:
    """Change keys of a declared room."""
    settings, values = settings_of(source), _values(given)

    async def change(store: Store) -> None:
        await Declaring(store, settings).change(room, values, operator_name(), now())

    with_store(settings, change, refusals=(BadRoom,))
    click.echo(f"{room} is changed; {_AT_ONCE}")


def remove_room(source: Source, room: str) -> None:
    """Remove a declared room."""
    settings = settings_of(source)

    async def remove(store: Store) -> None:
        await Declaring(store, settings).remove(room, operator_name(), now())

    with_store(settings, remove, refusals=(BadRoom,))
    click.echo(f"{room} is removed; {_AT_ONCE}")


def _values(given: Sequence[str]) -> dict[str, Any]:
    """The values of `--set KEY=VALUE`, as TOML reads them; a text needs no quotes."""
    found: dict[str, Any] = {}
    for text in given:
        key, separator, value = text.partition("=")
        if not separator:
            raise click.UsageError(f"--set {text}: must have the form KEY=VALUE")
        try:
            found[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            found[key.strip()] = value.strip()
    return found
