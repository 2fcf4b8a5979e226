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
    """How long data about users is kept."""

    RELOADS = frozenset(
        {
            *("keep_reports_days", "keep_quality_days", "keep_audit_days", "export_every_s"),
            "rewrite_mb",
        }
    )

    keep_reports_days: Days = Field(
        365, description="After so many days a report or a warning is deleted."
    )
    keep_quality_days: Days = Field(
        400, description="After so many days the quality of a match is deleted."
    )
    keep_audit_days: Days = Field(
        730, description="After so many days an entry of the audit log is deleted."
    )
    export_every_s: DurationOrZero = Field(
        60.0, description="The shortest time between two data exports of a user."
    )
    rewrite_mb: Count = Field(
        64,
        description="A SQLite file of up to so many megabytes is rewritten when SQLite has left a"
        " copy of an erased user in free space; nothing is written meanwhile.",
    )


class SafetySettings(SettingsModel):
    """Limits of reports and appeals."""

    RELOADS = frozenset(
        {"reports_per_day", "reports_per_pair", "appeal_every_s", "max_unseen_warnings"}
    )

    reports_per_day: Count = Field(
        20, description="The most reports that one user may make within 24 hours."
    )
    reports_per_pair: Count = Field(
        3, description="The most open reports that one user may have about another."
    )
    appeal_every_s: DurationOrZero = Field(
        86400.0, description="The shortest time between two appeals of a suspended user."
    )
    max_unseen_warnings: Count = Field(
        20, description="The most warnings of one user that the user has not seen yet."
    )
