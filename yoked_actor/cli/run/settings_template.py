"""Renders the documentation of the settings from their models.

Run as a program in the repository's root, it writes `config/yoked.toml` and the tables of
`docs/configuration.md`; `scripts/check --fix` does so.
"""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from yoked_actor.settings import (
    NAMES,
    MatchingSettings,
    RoomSettings,
    SettingsModel,
    allowed,
    sections,
    table_model,
)

TEMPLATE = Path("config/yoked.toml")
PAGE = Path("docs/configuration.md")
BEGIN = "<!-- settings: begin -->"
END = "<!-- settings: end -->"
ROOMS = "rooms"
ROOM_ID = "an id has 1 to 32 of a-z, 0-9, _ and -"
ROOM_EXAMPLE = {
    "name": "Friday evening",
    "description": "For people who like jazz.",
    "opens_at": "2026-01-01T00:00:00+01:00",
    "closes_at": "2036-01-01T00:00:00+01:00",
    "schedule": ["fri 20:00-23:00"],
    "time_zone": "Europe/Berlin",
    "capacity": 100,
    "entry": "code",
    "code": "come-in",
}
"""What the example of a room sets; a rule of matching has its default."""

INTRODUCTION = """\
Every setting of yoked-actor, with its default. Copy this file (config/local.toml is ignored by
git), remove the # from what you change, and start with `yoked-actor serve --config FILE`.
The environment overrides the file: YOKED_SERVER__PORT=9000. Flags override both.
"""


def render_template() -> str:
    """The text of `config/yoked.toml`: all settings, commented out, each under its description."""
    lines = [*_comment(INTRODUCTION)]
    for section, model in sections().items():
        lines += ["", "", *_comment(model.__doc__ or ""), f"[{section}]"]
        for key, field in model.model_fields.items():
            lines += ["", *_comment(field.description or ""), f"#{key} = {_example(field)}"]
    return "\n".join([*lines, *_room_lines()]) + "\n"


def _room_lines() -> list[str]:
    """An example of a room: there is a table for each, so all of it is commented out."""
    lines = ["", "", *_comment(f"{RoomSettings.__doc__} One table for each; {ROOM_ID}.")]
    lines.append(f"#[{ROOMS}.friday]")
    for key, field in RoomSettings.model_fields.items():
        text = _literal(ROOM_EXAMPLE.get(key, field.default))
        if field.default is None and key not in ROOM_EXAMPLE:
            text = _literal(getattr(MatchingSettings(), key))
        lines += ["", *_comment(field.description or ""), f"#    {key} = {text}"]
    return lines


def render_tables() -> str:
    """The tables of `docs/configuration.md`, one for each section."""
    parts = []
    for section, model in sections().items():
        rows = [f"### `[{section}]`", "", model.__doc__ or "", ""]
        rows += [
            "| key | default | takes | meaning | changes by |",
            "| --- | --- | --- | --- | --- |",
        ]
        for key, field in model.model_fields.items():
            default = "unset" if field.default is None else f"`{_literal(field.default)}`"
            how = "reload" if key in model.RELOADS else "restart"
            rows.append(f"| `{key}` | {default} | {allowed(field)} | {field.description} | {how} |")
        parts.append("\n".join(rows))
        parts += [
            _inner_table(section, key, table, how="reload" if key in model.RELOADS else "restart")
            for key, field in model.model_fields.items()
            if (table := table_model(field)) is not None
        ]
    return "\n\n".join([*parts, _room_table()])


def _room_table() -> str:
    """The keys of a room."""
    rows = [f"### `[{ROOMS}.ID]`", "", RoomSettings.__doc__ or "", ""]
    rows += [f"There is one table for each room; {ROOM_ID}. See [rooms](rooms.md).", ""]
    rows += ["| key | default | takes | meaning | changes by |", "| --- | --- | --- | --- | --- |"]
    for key, field in RoomSettings.model_fields.items():
        default = "unset" if field.default is None else f"`{_literal(field.default)}`"
        how = "next opening" if key in MatchingSettings.model_fields else "reload"
        rows.append(f"| `{key}` | {default} | {allowed(field)} | {field.description} | {how} |")
    return "\n".join(rows)


def _inner_table(section: str, key: str, model: type[SettingsModel], *, how: str) -> str:
    """The keys of a setting that holds tables by name."""
    names = ", ".join(f"`{name}`" for name in NAMES[section, key])
    rows = [f"### `[{section}.{key}.NAME]`", "", model.__doc__ or "", ""]
    rows += [f"NAME is one of {names}; one with a dot is written in quotes.", ""]
    rows += ["| key | default | takes | meaning | changes by |", "| --- | --- | --- | --- | --- |"]
    for leaf, field in model.model_fields.items():
        rows.append(f"| `{leaf}` | unset | {allowed(field)} | {field.description} | {how} |")
    return "\n".join(rows)


def with_tables(page: str) -> str:
    """The page, with the text between its markers replaced by the tables."""
    before, found_begin, rest = page.partition(BEGIN)
    _, found_end, after = rest.partition(END)
    if not (found_begin and found_end):
        raise ValueError(f"the page needs the markers {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{render_tables()}\n\n{END}{after}"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(" ".join(text.split()), 96)]


def _example(field: FieldInfo) -> str:
    """The default, or an example if the default is unset, which TOML cannot express."""
    return _literal((field.examples or [None])[0] if field.default is None else field.default)


def _literal(value: object) -> str:
    """A value in TOML; JSON is the same for all types that settings use."""
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    return json.dumps(value, default=str, ensure_ascii=False)


if __name__ == "__main__":
    TEMPLATE.write_text(render_template(), "utf-8")
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
