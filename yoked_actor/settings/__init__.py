"""Every setting of the server: its name, default, limits and meaning.

`models` has a model for each section. `loading` fills them from a file, the environment and
flags; `template` renders `config/yoked.toml` and the tables of `docs/configuration.md` from them.
"""

from __future__ import annotations

from yoked_actor.settings.base import LONGEST_S, Conflict, SettingsModel
from yoked_actor.settings.loading import SettingsError, load_settings
from yoked_actor.settings.models import (
    AlertSettings,
    AuthSettings,
    ConsoleSettings,
    DateSettings,
    EdgeSettings,
    JobSettings,
    LogSettings,
    MatchingSettings,
    MatchmakerSettings,
    ObjectiveSettings,
    OfferSettings,
    PrivacySettings,
    RetrySettings,
    SafetySettings,
    ServerSettings,
    SessionSettings,
    StoreSettings,
    SupervisorSettings,
)
from yoked_actor.settings.models.retries import policy_for
from yoked_actor.settings.settings import Settings, sections
from yoked_actor.settings.template import render_template

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
