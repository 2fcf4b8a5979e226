"""Every setting of the server: its name, default, limits and meaning.

These models are the one source. `loading` fills them from a file, the environment and flags;
`template` renders the commented `config/yoked.toml` and the tables of `docs/configuration.md`.
"""

from __future__ import annotations

from yoked_actor.settings.base import LONGEST_S, Conflict, SettingsModel
from yoked_actor.settings.doors import (
    AuthSettings,
    ConsoleSettings,
    EdgeSettings,
    LogSettings,
    ServerSettings,
    SessionSettings,
)
from yoked_actor.settings.loading import SettingsError, load_settings, sections
from yoked_actor.settings.objectives import ObjectiveSettings
from yoked_actor.settings.people import (
    DateSettings,
    MatchingSettings,
    OfferSettings,
    PrivacySettings,
    SafetySettings,
)
from yoked_actor.settings.retries import RetrySettings, policy_for
from yoked_actor.settings.settings import Settings
from yoked_actor.settings.template import render_template
from yoked_actor.settings.work import (
    AlertSettings,
    JobSettings,
    MatchmakerSettings,
    StoreSettings,
    SupervisorSettings,
)

__all__ = [
    "LONGEST_S",
    "AlertSettings",
    "AuthSettings",
    "Conflict",
    "ConsoleSettings",
    "DateSettings",
    "EdgeSettings",
    "JobSettings",
    "LogSettings",
    "MatchingSettings",
    "MatchmakerSettings",
    "ObjectiveSettings",
    "OfferSettings",
    "PrivacySettings",
    "RetrySettings",
    "SafetySettings",
    "ServerSettings",
    "SessionSettings",
    "Settings",
    "SettingsError",
    "SettingsModel",
    "StoreSettings",
    "SupervisorSettings",
    "load_settings",
    "policy_for",
    "render_template",
    "sections",
]
