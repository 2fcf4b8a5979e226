"""Rooms of the settings: checked together with the settings that they override."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from pydantic import ValidationError

from yoked_actor.domain.lobby import MAIN
from yoked_actor.domain.people import clean_name
from yoked_actor.domain.rooms import Entry, Hours, Room, is_room_id, weekly_of
from yoked_actor.settings.fields import allowed
from yoked_actor.settings.models import MatchingSettings
from yoked_actor.settings.models.rooms import LONGEST_NAME, RoomSettings, instant_of

if TYPE_CHECKING:
    from yoked_actor.settings.settings import Settings


def room_of(room: str, values: RoomSettings, settings: Settings) -> Room:
    """The room of a checked definition."""
    schedule = [weekly_of(entry) for entry in values.schedule]
    return Room(
        room=room,
        name=clean_name("name", values.name or room, LONGEST_NAME),
        description=values.description,
        hours=Hours(
            instant_of(values.opens_at),
            instant_of(values.closes_at),
            tuple(entry for entry in schedule if entry is not None),
            values.time_zone,
        ),
        capacity=values.capacity,
        entry=Entry(values.entry),
        code=values.code.get_secret_value(),
        guests=frozenset(values.guests),
        rules=replace(settings.rules(), **values.overrides()),
    )


def room_problems(room: str, values: Mapping[str, Any], matching: MatchingSettings) -> list[str]:
    """What is wrong with a definition; each names its key. Empty if it can be used."""
    if not is_room_id(room):
        return ["the id of a room is 1 to 32 of a-z, 0-9, _ and -"]
    if room == MAIN:
        return ["main always exists; its rules are those of [matching]"]
    fields = RoomSettings.model_fields
    unknown = [key for key in values if key not in fields]
    if unknown:
        return [f"{key}: is not a setting; there are {', '.join(fields)}" for key in unknown]
    try:
        made = RoomSettings.model_validate(dict(values))
    except ValidationError as error:
        return _messages(error)
    try:
        MatchingSettings.model_validate({**dict(matching), **made.overrides()})
    except ValidationError as error:
        return _messages(error)
    return []


def room_problem(room: str, values: Mapping[str, Any], settings: Settings) -> str | None:
    """All that is wrong with a definition in one text; None if it can be used."""
    return "; ".join(room_problems(room, values, settings.matching)) or None


def _messages(error: ValidationError) -> list[str]:
    found: list[str] = []
    for detail in error.errors():
        if detail["loc"]:
            key = str(detail["loc"][0])
            field = RoomSettings.model_fields.get(key)
            rule = detail["msg"] if field is None else f"must be {allowed(field)}"
            found.append(f"{key}: {rule}")
        else:
            found += [f"{keys[0]}: {rule}" for keys, rule in detail["ctx"]["conflicts"]]
    return list(dict.fromkeys(found))
