"""Answers and calls about the settings in use, for operators."""

from __future__ import annotations

from typing import Any

import msgspec

from yoked_actor.domain.ops import Role
from yoked_actor.wire.call import Call


class SettingEntry(msgspec.Struct, frozen=True):
    """A setting in use."""

    name: str
    """Section and key, such as `matching.liveness_s`."""
    value: Any
    """The value; for a secret null when it is empty, and `(hidden)` otherwise."""
    default: Any
    source: str
    """Where it comes from: `default`, or the file, the variable or the flag that sets it."""
    reloads: bool
    """Whether a reload changes it; otherwise it needs a restart."""
    description: str


class SettingsAnswer(msgspec.Struct, frozen=True):
    """Every setting in use, by section."""

    settings: list[SettingEntry]


SETTING_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/settings",
        "Operation",
        "The settings in use, and where each comes from. Secrets are hidden.",
        SettingsAnswer(
            [
                SettingEntry(
                    "edge.commands_per_s",
                    50.0,
                    20.0,
                    "/etc/yoked.toml",
                    True,
                    "How many commands a client may send each second.",
                )
            ]
        ),
        needs=Role.VIEWER,
    ),
)
"""The settings."""
