"""One model for each section of the settings."""

from __future__ import annotations

from yoked_actor.settings.sections.alerts import AlertSettings
from yoked_actor.settings.sections.auth import AuthSettings
from yoked_actor.settings.sections.edge import EdgeSettings, SessionSettings
from yoked_actor.settings.sections.jobs import JobSettings
from yoked_actor.settings.sections.lobby import (
    DateSettings,
    MatchingSettings,
    MatchmakerSettings,
)
from yoked_actor.settings.sections.objectives import ObjectiveSettings
from yoked_actor.settings.sections.offers import OfferSettings
from yoked_actor.settings.sections.people import PrivacySettings, SafetySettings
from yoked_actor.settings.sections.retries import RetrySettings
from yoked_actor.settings.sections.server import ConsoleSettings, LogSettings, ServerSettings
from yoked_actor.settings.sections.store import StoreSettings, SupervisorSettings

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
    "ObjectiveSettings",
    "OfferSettings",
    "PrivacySettings",
    "RetrySettings",
    "SafetySettings",
    "ServerSettings",
    "SessionSettings",
    "StoreSettings",
    "SupervisorSettings",
]
