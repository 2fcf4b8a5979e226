"""Loads the settings: from a TOML file, the environment, then flags; the last one wins.

All problems of all three are reported together, each with its source, so that they can be fixed
together. Values of secrets are never shown.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from yoked_actor.domain.rooms import MOST_ROOMS
from yoked_actor.settings.base import SettingsModel
from yoked_actor.settings.fields import allowed, parsed
from yoked_actor.settings.models import MatchingSettings, RoomSettings
from yoked_actor.settings.rooms import room_problems
from yoked_actor.settings.settings import Settings, sections
from yoked_actor.settings.tables import NAMES, full_key, name_in_variable, table_model

PREFIX = "YOKED_"
ROOMS = "rooms"
"""The section that has a table for each room."""
PURE_PYTHON = "YOKED_PURE_PYTHON"
"""Not a setting: it is read when the program is loaded, before the settings are."""

# The settings that have a flag, so that a problem can name it.
FLAGS = {
    ("server", "host"): "--host",
    ("server", "port"): "--port",
    ("server", "data_dir"): "--data",
}

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
    gathered = _Gathered()
    if file is not None:
        gathered.add_file(file)
    gathered.add_environment(environ)
    gathered.add_flags(overrides)
    return gathered.settings()


class _Gathered:
    """Values from all sources, the source of each, and the problems so far."""

    def __init__(self) -> None:
        self._sections = sections()
        self._values: dict[str, dict[str, object]] = {}
        self._sources: dict[tuple[str, str], str] = {}
        self._problems: list[str] = []
        self._rooms: dict[str, tuple[Mapping[str, Any], str]] = {}
        self._wrong: set[tuple[str, str]] = set()

    def add_file(self, file: Path) -> None:
        try:
            content = tomllib.loads(file.read_bytes().decode("utf-8"))
        except OSError as error:
            self._problems.append(f"{file}: cannot be read: {error.strerror}")
            return
        except ValueError as error:  # not TOML, or not UTF-8
            self._problems.append(f"{file}: is not valid TOML: {error}")
            return
        for section, values in content.items():
            if section == ROOMS:
                self._add_rooms(values, str(file))
            elif section not in self._sections:
                self._problems.append(f"{file}: [{section}]: {self._unknown_section(section)}")
            elif not isinstance(values, dict):
                self._problems.append(f"{file}: {section}: must be a section, [{section}]")
            else:
                for key, value in values.items():
                    self._add(section, key, value, str(file))

    def add_environment(self, environ: Mapping[str, str]) -> None:
        given = {name for name in environ if name.startswith(PREFIX)} - {PURE_PYTHON}
        for variable in sorted(given):
            section, separator, key = variable.removeprefix(PREFIX).lower().partition("__")
            if not separator:
                form = f"must have the form {PREFIX}SECTION__KEY"
                self._problems.append(f"{variable}: {form}{self._instead(section)}")
            elif section == ROOMS:
                self._problems.append(f"{variable}: rooms are declared in a file, [rooms.ID]")
            elif section not in self._sections:
                self._problems.append(f"{variable}: {self._unknown_section(section)}")
            else:
                self._add_variable(section, key, environ[variable], variable)

    def _add_variable(self, section: str, key: str, text: str, variable: str) -> None:
        fields = self._sections[section].model_fields
        outer, _, rest = key.partition("__")
        model = table_model(fields.get(outer))
        if model is None or not rest:
            field = fields.get(key)
            self._add(section, key, parsed(field, text) if field else text, variable)
            return
        name, _, leaf = rest.rpartition("__")
        field = model.model_fields.get(leaf)
        value = parsed(field, text) if field else text
        name = name_in_variable(section, outer, name)
        self._add(section, outer, {name: {leaf: value}}, variable)

    def add_flags(self, overrides: Mapping[str, Mapping[str, object]]) -> None:
        for section, values in overrides.items():
            if section == ROOMS:
                self._add_rooms(values, "flag")
                continue
            for key, value in values.items():
                if value is not None:
                    self._add(section, key, value, FLAGS.get((section, key), "flag"))

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

    def _add_rooms(self, values: object, source: str) -> None:
        if not isinstance(values, Mapping):
            self._problems.append(f"{source}: {ROOMS}: must be tables, [{ROOMS}.ID]")
            return
        for room, definition in values.items():
            if isinstance(definition, Mapping):
                self._rooms[room] = (definition, source)
            else:
                self._problems.append(
                    f"{source}: {ROOMS}.{room}: must be a table, [{ROOMS}.{room}]"
                )

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

    def _add(self, section: str, key: str, value: object, source: str) -> None:
        known = self._sections[section].model_fields
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"[{section}] has {', '.join(known)}"
            self._problems.append(f"{source}: {section}.{key}: is not a setting; {hint}")
            return
        if table_model(known[key]) is not None:
            self._add_tables(section, key, value, source)
            return
        self._values.setdefault(section, {})[key] = value
        self._sources[section, key] = source

    def _add_tables(self, section: str, key: str, value: object, source: str) -> None:
        """Merge tables by name with those of earlier sources."""
        model, names = table_model(self._sections[section].model_fields[key]), NAMES[section, key]
        assert model is not None

        def report(place: str, what: str) -> None:
            self._problems.append(f"{source}: {section}.{place}: {what}")

        if not isinstance(value, dict):
            report(key, f"must be tables, [{section}.{key}.NAME]")
            return
        kept: Any = self._values.setdefault(section, {}).setdefault(key, {})
        for name, leaves in value.items():
            place = full_key(key, name)
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
                report(place, f"is not a type of job; {hint}")
                continue
            if not isinstance(leaves, dict):
                report(place, f"must be a table, [{section}.{place}]")
                continue
            for leaf, inner in leaves.items():
                place = full_key(key, name, leaf)
                if leaf not in model.model_fields:
                    report(place, f"is not a setting; there are {', '.join(model.model_fields)}")
                    continue
                kept.setdefault(name, {})[leaf] = inner
                self._sources[section, place] = source

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

    def _unknown_section(self, section: str) -> str:
        return f"there is no section {section}; there are {', '.join(self._sections)}"

    def _instead(self, name: str) -> str:
        """A suggestion for YOKED_SERVER_PORT, a likely mistake."""
        for section, model in self._sections.items():
            key = name.removeprefix(f"{section}_")
            if key != name and key in model.model_fields:
                return f"; did you mean {PREFIX}{section.upper()}__{key.upper()}?"
        return ""


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
