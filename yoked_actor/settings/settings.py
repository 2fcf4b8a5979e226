"""All sections of the settings, and the rules that hold between them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec.structs import replace
from pydantic import Field, PrivateAttr

from yoked_actor.domain.rules import Rules
from yoked_actor.settings.base import Conflict, SettingsModel
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
    RoomSettings,
    SafetySettings,
    ServerSettings,
    SessionSettings,
    StoreSettings,
    SupervisorSettings,
)


class Settings(SettingsModel):
    """All settings, by section. No two values share a section."""

    server: ServerSettings = Field(default_factory=ServerSettings)
    auth: AuthSettings = Field(default_factory=AuthSettings)
    matching: MatchingSettings = Field(default_factory=MatchingSettings)
    date: DateSettings = Field(default_factory=DateSettings)
    edge: EdgeSettings = Field(default_factory=EdgeSettings)
    session: SessionSettings = Field(default_factory=SessionSettings)
    console: ConsoleSettings = Field(default_factory=ConsoleSettings)
    store: StoreSettings = Field(default_factory=StoreSettings)
    node: NodeSettings = Field(default_factory=NodeSettings)
    matchmaker: MatchmakerSettings = Field(default_factory=MatchmakerSettings)
    supervisor: SupervisorSettings = Field(default_factory=SupervisorSettings)
    jobs: JobSettings = Field(default_factory=JobSettings)
    offers: OfferSettings = Field(default_factory=OfferSettings)
    alerts: AlertSettings = Field(default_factory=AlertSettings)
    objectives: ObjectiveSettings = Field(default_factory=ObjectiveSettings)
    privacy: PrivacySettings = Field(default_factory=PrivacySettings)
    safety: SafetySettings = Field(default_factory=SafetySettings)
    log: LogSettings = Field(default_factory=LogSettings)
    rooms: dict[str, RoomSettings] = Field(default_factory=dict)

    _sources: dict[str, str] = PrivateAttr(default_factory=dict)
    """Where settings come from that are not the default, by section and key."""

    def source_of(self, section: str, key: str) -> str:
        """Where a setting comes from: `default`, a file, a variable or a flag."""
        return self._sources.get(f"{section}.{key}", "default")

    def keep_sources(self, sources: Mapping[str, str], only: Collection[str] | None = None) -> None:
        """Remember where settings come from; with `only`, of these settings alone."""
        if only is None:
            self._sources = dict(sources)
            return
        for name in only:
            self._sources.pop(name, None)
            if name in sources:
                self._sources[name] = sources[name]

    @property
    def sources(self) -> dict[str, str]:
        """Where settings come from that are not the default, by section and key."""
        return dict(self._sources)

    def conflicts(self) -> Iterator[Conflict]:
        """A session dropped while its user is in line; credentials that expire during a date."""
        if self.session.forget_after_s < self.matching.liveness_s:
            keys = ("session.forget_after_s", "matching.liveness_s")
            rule = f"must be at least matching.liveness_s ({self.matching.liveness_s})"
            yield Conflict(keys, rule)
        if self.node.is_set and not self.store.url.get_secret_value():
            rule = "needs store.url: several servers share one PostgreSQL database"
            yield Conflict(("node.id", "store.url"), rule)
        if self.date.turn_urls and self.date.turn_ttl_s < self.matching.date_length_s:
            keys = ("date.turn_ttl_s", "matching.date_length_s")
            rule = f"must be at least matching.date_length_s ({self.matching.date_length_s})"
            yield Conflict(keys, rule)

    def rules(self) -> Rules:
        """The rules of the lobby."""
        # At most half of the kept events are signals.
        kept = min(self.date.max_kept_signals, self.session.kept_events // 2)
        of_dates = self.date.rules() | {"max_kept_signals": kept}
        return replace(self.matching.rules(), **of_dates)


def sections() -> dict[str, type[SettingsModel]]:
    """The sections by name, in the order of the documentation."""
    return {
        name: field.annotation
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, SettingsModel)
    }
