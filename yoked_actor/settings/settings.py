"""All sections of the settings, and the rules that hold between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from yoked_actor.domain.rules import Rules
from yoked_actor.settings.base import Conflict, SettingsModel
from yoked_actor.settings.doors import (
    AuthSettings,
    ConsoleSettings,
    EdgeSettings,
    LogSettings,
    ServerSettings,
    SessionSettings,
)
from yoked_actor.settings.objectives import ObjectiveSettings
from yoked_actor.settings.people import (
    DateSettings,
    MatchingSettings,
    OfferSettings,
    PrivacySettings,
    SafetySettings,
)
from yoked_actor.settings.work import (
    AlertSettings,
    JobSettings,
    MatchmakerSettings,
    StoreSettings,
    SupervisorSettings,
)


class Settings(SettingsModel):
    """All settings, by section."""

    server: ServerSettings = ServerSettings()
    auth: AuthSettings = AuthSettings()
    matching: MatchingSettings = MatchingSettings()
    date: DateSettings = DateSettings()
    edge: EdgeSettings = EdgeSettings()
    session: SessionSettings = SessionSettings()
    console: ConsoleSettings = ConsoleSettings()
    store: StoreSettings = StoreSettings()
    matchmaker: MatchmakerSettings = MatchmakerSettings()
    supervisor: SupervisorSettings = SupervisorSettings()
    jobs: JobSettings = JobSettings()
    offers: OfferSettings = OfferSettings()
    alerts: AlertSettings = AlertSettings()
    objectives: ObjectiveSettings = ObjectiveSettings()
    privacy: PrivacySettings = PrivacySettings()
    safety: SafetySettings = SafetySettings()
    log: LogSettings = LogSettings()

    def model_post_init(self, context: Any) -> None:
        """Own every section: a reload must not change the defaults that others have."""
        for name in type(self).model_fields:
            self.__dict__[name] = getattr(self, name).model_copy()

    def conflicts(self) -> Iterator[Conflict]:
        """A session forgotten while its user holds a place; credentials that end before a date."""
        if self.session.forget_after_s < self.matching.liveness_s:
            keys = ("session.forget_after_s", "matching.liveness_s")
            rule = f"must be at least matching.liveness_s ({self.matching.liveness_s})"
            yield Conflict(keys, rule)
        if self.date.turn_urls and self.date.turn_ttl_s < self.matching.date_length_s:
            keys = ("date.turn_ttl_s", "matching.date_length_s")
            rule = f"must be at least matching.date_length_s ({self.matching.date_length_s})"
            yield Conflict(keys, rule)

    def rules(self) -> Rules:
        """These settings, as the lobby reads them."""
        # However many events are kept, signals are at most the half of them.
        kept = min(self.date.max_kept_signals, self.session.kept_events // 2)
        return replace(self.matching.rules(), max_kept_signals=kept)
