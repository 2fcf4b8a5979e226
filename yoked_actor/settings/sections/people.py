"""Settings of what is kept about users: `[privacy]`, `[safety]`."""

from __future__ import annotations

from pydantic import Field

from yoked_actor.settings.base import (
    Count,
    Days,
    DurationOrZero,
    SettingsModel,
)


class PrivacySettings(SettingsModel):
    """How long what is known of people is kept."""

    RELOADS = frozenset(
        {"keep_reports_days", "keep_quality_days", "keep_audit_days", "export_every_s"}
    )

    keep_reports_days: Days = Field(
        365, description="After so many days a report is deleted, reviewed or not."
    )
    keep_quality_days: Days = Field(
        400, description="After so many days the figures on a match's quality are deleted."
    )
    keep_audit_days: Days = Field(
        730, description="After so many days the record of what an operator did is deleted."
    )
    export_every_s: DurationOrZero = Field(
        60.0, description="How often a user may have all their data exported."
    )


class SafetySettings(SettingsModel):
    """What people may do about each other."""

    RELOADS = frozenset({"reports_per_day", "reports_per_pair"})

    reports_per_day: Count = Field(
        20, description="The most reports that one user may make within 24 hours."
    )
    reports_per_pair: Count = Field(
        3, description="The most open reports that one user may have about another."
    )
