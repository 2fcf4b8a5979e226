"""Loads the settings: from a TOML file, the environment, then flags; the last one wins.

All problems of all three are reported together, each with its source, so that they can be fixed
together. Values of secrets are never shown.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from yoked_actor.domain.rooms import MOST_ROOMS
from yoked_actor.settings.base import SettingsModel
from yoked_actor.settings.fields import allowed
from yoked_actor.settings.gathering import ROOMS, Gathered
from yoked_actor.settings.models import MatchingSettings, RoomSettings
from yoked_actor.settings.rooms import room_problems
from yoked_actor.settings.settings import Settings
from yoked_actor.settings.tables import full_key, table_model

# Enough to recognise a value; a very long one would hide the message.
SHOWN_CHARACTERS = 80


class SettingsError(Exception):
    """The settings cannot be used. The text has one line for each problem."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


def load_settings(
    file: Path | None,
    environ: Mapping[str, str],
    overrides: Mapping[str, Mapping[str, object]],
) -> Settings:
    """The settings, or a `SettingsError` that lists every problem.

    `overrides` are the values of flags, by section and key; None for a flag that was not given.
    """
    gathered = Gathered()
    if file is not None:
        gathered.add_file(file)
    gathered.add_environment(environ)
    gathered.add_flags(overrides)
    return _Validation(gathered).settings()


class _Validation:
    """Checks the values of all sources together, and adds to their problems."""

    def __init__(self, gathered: Gathered) -> None:
        self._sections = gathered.sections
        self._values = gathered.values
        self._sources = gathered.sources
        self._problems = gathered.problems
        self._rooms = gathered.rooms
        self._wrong: set[tuple[str, str]] = set()

    def settings(self) -> Settings:
        """The settings; raises `SettingsError` if there was any problem."""
        built: dict[str, Any] = {}
        failed: set[str] = set()
        for section, values in self._values.items():
            try:
                built[section] = self._validated(section, values)
            except ValidationError as error:
                failed.add(section)
                self._add_conflicts(error, section)
        rooms = self._checked_rooms(built.get("matching", MatchingSettings()))
        try:
            settings = Settings(**built, rooms=rooms)
        except ValidationError as error:
            self._add_conflicts(error, None, failed)
        if self._problems:
            raise SettingsError(self._problems)
        settings.keep_sources(self._named_sources())
        return settings

    def _checked_rooms(self, matching: MatchingSettings) -> dict[str, RoomSettings]:
        made: dict[str, RoomSettings] = {}
        if len(self._rooms) >= MOST_ROOMS:
            self._problems.append(f"{ROOMS}: there can be at most {MOST_ROOMS} with main")
            return made
        for room, (values, source) in self._rooms.items():
            problems = room_problems(room, values, matching)
            self._problems += [f"{source}: {ROOMS}.{room}: {problem}" for problem in problems]
            if not problems:
                made[room] = RoomSettings.model_validate(dict(values))
        return made

    def _named_sources(self) -> dict[str, str]:
        """The sources by `section.key`; a setting of tables has those of all its tables."""
        found: dict[str, dict[str, None]] = {}
        for (section, key), source in self._sources.items():
            outer = key.partition(".")[0]
            found.setdefault(f"{section}.{outer}", {})[source] = None
        return {name: ", ".join(sources) for name, sources in found.items()}

    def _validated(self, section: str, values: Mapping[str, object]) -> SettingsModel:
        """A section without its invalid values, which are reported."""
        model = self._sections[section]
        values = {key: self._tables(section, key, value) for key, value in values.items()}
        try:
            return model.model_validate(values)
        except ValidationError as error:
            wrong = dict.fromkeys(str(d["loc"][0]) for d in error.errors() if d["loc"])
            if not wrong:
                raise
        for key in wrong:
            rule = f"must be {allowed(model.model_fields[key])}"
            self._problems.append(self._line([(section, key)], rule))
        # A conflict with the default that replaces an invalid value is not a problem.
        self._wrong |= {(section, key) for key in wrong}
        return model.model_validate({k: v for k, v in values.items() if k not in wrong})

    def _tables(self, section: str, key: str, given: object) -> object:
        """The tables of a setting without their invalid values, which are reported."""
        model = table_model(self._sections[section].model_fields[key])
        if model is None or not isinstance(given, Mapping):
            return given
        made: dict[str, SettingsModel] = {}
        for name, values in given.items():
            good = dict(values)
            for _ in range(2):  # first invalid values, then conflicts
                try:
                    made[name] = model.model_validate(good)
                    break
                except ValidationError as error:
                    for leaf, rule in _faults(model, error).items():
                        place = full_key(key, name, leaf)
                        shown = _shown(good.pop(leaf))
                        source = self._sources[section, place]
                        self._problems.append(f"{source}: {section}.{place} = {shown}: {rule}")
        return made

    def _add_conflicts(
        self, error: ValidationError, section: str | None, failed: Collection[str] = ()
    ) -> None:
        for detail in error.errors():
            for keys, rule in detail["ctx"]["conflicts"]:
                places = [_place(section, key) for key in keys]
                if not any(place in self._wrong or place[0] in failed for place in places):
                    self._problems.append(self._line(places, rule))

    def _line(self, places: list[tuple[str, str]], rule: str) -> str:
        section, key = places[0]
        field = self._sections[section].model_fields[key]
        if field.annotation is SecretStr:
            shown = "(hidden)"
        else:
            value = self._values.get(section, {}).get(key, field.default)
            shown = _shown(value)
        sources = dict.fromkeys(self._sources[p] for p in places if p in self._sources)
        return f"{', '.join(sources)}: {section}.{key} = {shown}: {rule}"


def _faults(model: type[SettingsModel], error: ValidationError) -> dict[str, str]:
    """The problem of each invalid key of a table."""
    found: dict[str, str] = {}
    for detail in error.errors():
        if detail["loc"]:
            leaf = str(detail["loc"][0])
            found[leaf] = f"must be {allowed(model.model_fields[leaf])}"
        else:
            found |= {keys[0]: rule for keys, rule in detail["ctx"]["conflicts"]}
    return found


def _shown(value: object) -> str:
    shown = json.dumps(value, default=str, ensure_ascii=False)
    return f"{shown[:SHOWN_CHARACTERS]}..." if len(shown) > SHOWN_CHARACTERS else shown


def _place(section: str | None, key: str) -> tuple[str, str]:
    """The section and name of a key; a rule between sections has both in the key."""
    if section is None:
        section, _, key = key.partition(".")
    return section, key
