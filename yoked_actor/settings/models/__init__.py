"""One model for each section of the settings."""

from __future__ import annotations

from yoked_actor.settings.models.alerts import AlertSettings
from yoked_actor.settings.models.auth import AuthSettings
from yoked_actor.settings.models.edge import EdgeSettings, SessionSettings
from yoked_actor.settings.models.jobs import JobSettings
from yoked_actor.settings.models.lobby import (
    DateSettings,
    MatchingSettings,
    MatchmakerSettings,
)
from yoked_actor.settings.models.node import NodeSettings
from yoked_actor.settings.models.objectives import ObjectiveSettings
from yoked_actor.settings.models.offers import OfferSettings
from yoked_actor.settings.models.people import PrivacySettings, SafetySettings
from yoked_actor.settings.models.retries import RetrySettings
from yoked_actor.settings.models.rooms import RoomSettings
from yoked_actor.settings.models.server import ConsoleSettings, LogSettings, ServerSettings
from yoked_actor.settings.models.store import StoreSettings, SupervisorSettings

__all__ = [
    "AlertSettings",
    "AuthSettings",
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
    "StoreSettings",
    "SupervisorSettings",
]
