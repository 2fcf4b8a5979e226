"""Reloads the settings while the server runs (SIGHUP): all valid changes, or none.

A user of a setting holds its section and reads the setting at each use. So a reload puts new
values into the sections that are in use; which settings that is true of, each section says
(`RELOADS`). The others are named in the log, and wait for a restart.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import structlog

from yoked_actor.settings import Settings, SettingsError, sections

_log = structlog.get_logger()


class Reloaded(msgspec.Struct, frozen=True):
    """The settings that a reload changed, and those that need a restart, as `section.key`."""

    changed: list[str]
    needs_restart: list[str]


def reload(settings: Settings, load: Callable[[], Settings]) -> Reloaded | None:
    """Apply the settings that `load` returns; None, and no change, when they are invalid."""
    try:
        reloaded = take_over(settings, load())
    except SettingsError as error:
        _log.error("settings_not_usable", problems=list(error.problems))
        return None
    _log.info("settings_reloaded", changed=reloaded.changed)
    if reloaded.needs_restart:
        _log.warning("settings_not_reloaded", names=reloaded.needs_restart)
    return reloaded


def take_over(settings: Settings, newer: Settings) -> Reloaded:
    """Change the settings in use; `SettingsError` when old and new values conflict."""
    changed: list[str] = []
    needs_restart: list[str] = []
    updates: dict[str, dict[str, object]] = {}
    for name, model in sections().items():
        ours, theirs = getattr(settings, name), getattr(newer, name)
        for key in model.model_fields:
            if getattr(ours, key) == getattr(theirs, key):
                continue
            if key in model.RELOADS:
                changed.append(f"{name}.{key}")
                updates.setdefault(name, {})[key] = getattr(theirs, key)
            else:
                needs_restart.append(f"{name}.{key}")
    if settings.rooms != newer.rooms:
        changed.append("rooms")
    _check_together(settings, updates)
    for name, values in updates.items():
        getattr(settings, name).renew(values)
    if settings.rooms != newer.rooms:
        settings.rooms.clear()
        settings.rooms.update(newer.rooms)
    settings.keep_sources(newer.sources, only=_reloaded_names())
    return Reloaded(changed, needs_restart)


def _reloaded_names() -> list[str]:
    return [f"{name}.{key}" for name, model in sections().items() for key in model.RELOADS]


def _check_together(settings: Settings, updates: dict[str, dict[str, object]]) -> None:
    """Check the new values against old values that stay."""
    mixed = settings.model_copy(
        update={name: getattr(settings, name).model_copy(update=v) for name, v in updates.items()}
    )
    problems = [
        f"{name}.{conflict.keys[0]} {conflict.rule}, which a reload does not change"
        for name in sections()
        for conflict in getattr(mixed, name).conflicts()
    ]
    problems += [
        f"{conflict.keys[0]} {conflict.rule}, which a reload does not change"
        for conflict in mixed.conflicts()
    ]
    if problems:
        raise SettingsError(problems)
