"""Every setting of the server: its name, default, limits and meaning.

`models` has a model for each section. `loading` fills them from a file, the environment and
flags. `yoked-actor config` renders `config/yoked.toml` from them.
"""

from __future__ import annotations

from yoked_actor.settings.base import LONGEST_S, Conflict, SettingsModel
from yoked_actor.settings.fields import allowed
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
    NodeSettings,
    ObjectiveSettings,
    OfferSettings,
    PrivacySettings,
    RetrySettings,
    RoomSettings,
    SafetySettings,
    ServerSettings,
    SessionSettings,
    StoreSettings,
    SupervisorSettings,
)
from yoked_actor.settings.models.retries import policy_for
from yoked_actor.settings.rooms import room_of, room_problem
from yoked_actor.settings.settings import Settings, sections
from yoked_actor.settings.tables import NAMES, table_model

__all__ = [
    "LONGEST_S",
    "NAMES",
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
    "NodeSettings",
    "ObjectiveSettings",
    "OfferSettings",
    "PrivacySettings",
    "RetrySettings",
    "RoomSettings",
    "SafetySettings",
    "ServerSettings",
    "SessionSettings",
    "Settings",
    "SettingsError",
    "SettingsModel",
    "StoreSettings",
    "SupervisorSettings",
    "allowed",
    "load_settings",
    "policy_for",
    "room_of",
    "room_problem",
    "sections",
    "table_model",
]
