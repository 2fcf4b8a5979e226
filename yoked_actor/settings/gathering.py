"""Gathers the values of settings from a TOML file, the environment and flags.

Each value keeps its source. What is no setting is a problem; whether a value is valid is checked
later, when all sources are read.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from yoked_actor.settings.fields import parsed
from yoked_actor.settings.settings import sections
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


class Gathered:
    """Values from all sources, the source of each, and the problems so far."""

    def __init__(self) -> None:
        self.sections = sections()
        self.values: dict[str, dict[str, object]] = {}
        self.sources: dict[tuple[str, str], str] = {}
        """The source of each value, by section and key; a key may lie inside a table."""
        self.problems: list[str] = []
        self.rooms: dict[str, tuple[Mapping[str, Any], str]] = {}
        """The definition of each room, and its source."""

    def add_file(self, file: Path) -> None:
        """Add the values of a TOML file."""
        try:
            content = tomllib.loads(file.read_bytes().decode("utf-8"))
        except OSError as error:
            self.problems.append(f"{file}: cannot be read: {error.strerror}")
            return
        except ValueError as error:  # not TOML, or not UTF-8
            self.problems.append(f"{file}: is not valid TOML: {error}")
            return
        for section, values in content.items():
            if section == ROOMS:
                self._add_rooms(values, str(file))
            elif section not in self.sections:
                self.problems.append(f"{file}: [{section}]: {self._unknown_section(section)}")
            elif not isinstance(values, dict):
                self.problems.append(f"{file}: {section}: must be a section, [{section}]")
            else:
                for key, value in values.items():
                    self._add(section, key, value, str(file))

    def add_environment(self, environ: Mapping[str, str]) -> None:
        """Add the values of the variables that begin with `YOKED_`."""
        given = {name for name in environ if name.startswith(PREFIX)} - {PURE_PYTHON}
        for variable in sorted(given):
            section, separator, key = variable.removeprefix(PREFIX).lower().partition("__")
            if not separator:
                form = f"must have the form {PREFIX}SECTION__KEY"
                self.problems.append(f"{variable}: {form}{self._instead(section)}")
            elif section == ROOMS:
                self.problems.append(f"{variable}: rooms are declared in a file, [rooms.ID]")
            elif section not in self.sections:
                self.problems.append(f"{variable}: {self._unknown_section(section)}")
            else:
                self._add_variable(section, key, environ[variable], variable)

    def add_flags(self, overrides: Mapping[str, Mapping[str, object]]) -> None:
        """Add the values of flags, by section and key; None is a flag that was not given."""
        for section, values in overrides.items():
            if section == ROOMS:
                self._add_rooms(values, "flag")
                continue
            for key, value in values.items():
                if value is not None:
                    self._add(section, key, value, FLAGS.get((section, key), "flag"))

    def _add_variable(self, section: str, key: str, text: str, variable: str) -> None:
        fields = self.sections[section].model_fields
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

    def _add(self, section: str, key: str, value: object, source: str) -> None:
        known = self.sections[section].model_fields
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"[{section}] has {', '.join(known)}"
            self.problems.append(f"{source}: {section}.{key}: is not a setting; {hint}")
            return
        if table_model(known[key]) is not None:
            self._add_tables(section, key, value, source)
            return
        self.values.setdefault(section, {})[key] = value
        self.sources[section, key] = source

    def _add_tables(self, section: str, key: str, value: object, source: str) -> None:
        """Merge tables by name with those of earlier sources."""
        model, names = table_model(self.sections[section].model_fields[key]), NAMES[section, key]
        assert model is not None

        def report(place: str, what: str) -> None:
            self.problems.append(f"{source}: {section}.{place}: {what}")

        if not isinstance(value, dict):
            report(key, f"must be tables, [{section}.{key}.NAME]")
            return
        kept: Any = self.values.setdefault(section, {}).setdefault(key, {})
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
                self.sources[section, place] = source

    def _add_rooms(self, values: object, source: str) -> None:
        if not isinstance(values, Mapping):
            self.problems.append(f"{source}: {ROOMS}: must be tables, [{ROOMS}.ID]")
            return
        for room, definition in values.items():
            if isinstance(definition, Mapping):
                self.rooms[room] = (definition, source)
            else:
                self.problems.append(f"{source}: {ROOMS}.{room}: must be a table, [{ROOMS}.{room}]")

    def _unknown_section(self, section: str) -> str:
        return f"there is no section {section}; there are {', '.join(self.sections)}"

    def _instead(self, name: str) -> str:
        """A suggestion for YOKED_SERVER_PORT, a likely mistake."""
        for section, model in self.sections.items():
            key = name.removeprefix(f"{section}_")
            if key != name and key in model.model_fields:
                return f"; did you mean {PREFIX}{section.upper()}__{key.upper()}?"
        return ""
