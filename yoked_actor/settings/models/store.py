"""Settings of the store and of restarts: `[store]`, `[supervisor]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field, SecretStr

from yoked_actor.settings.base import (
    Conflict,
    Count,
    Duration,
    DurationOrZero,
    SettingsModel,
)


class StoreSettings(SettingsModel):
    """How decisions are stored."""

    RELOADS = frozenset({"retry_first_s", "retry_cap_s", "max_reported"})

    url: SecretStr = Field(
        SecretStr(""),
        description="The PostgreSQL database, as `postgresql://user:password@host:5432/database`."
        " Empty: SQLite in the data directory.",
    )
    connect_timeout_s: Duration = Field(
        5.0, description="How long an attempt to connect to PostgreSQL may take."
    )
    runner: Literal["thread", "inline"] = Field(
        "thread",
        description="Where SQL runs: in a thread of its own, or in the event loop's thread.",
    )
    busy_timeout_s: DurationOrZero = Field(
        1.0, description="How long SQLite waits for a lock before a commit fails."
    )
    max_batch: Count = Field(1000, description="The most commits that share one transaction.")
    max_pending: Count = Field(10000, description="The most commits in the queue.")
    retry_first_s: Duration = Field(0.05, description="The pause after a first failed commit.")
    retry_cap_s: Duration = Field(2.0, description="The longest pause between two attempts.")
    max_reported: Count = Field(
        50_000, description="The most matches, newest first, that a report on quality reads."
    )
    checkpoint_pages: Count = Field(4000, description="How many WAL pages trigger a checkpoint.")

    @property
    def is_shared(self) -> bool:
        """Whether processes on several machines may use the database."""
        return bool(self.url.get_secret_value())

    def conflicts(self) -> Iterator[Conflict]:
        """A first pause that is longer than the longest."""
        if self.retry_first_s > self.retry_cap_s:
            keys = ("retry_first_s", "retry_cap_s")
            yield Conflict(keys, f"must be at most store.retry_cap_s ({self.retry_cap_s})")


class SupervisorSettings(SettingsModel):
    """How side actors are restarted after an error."""

    RELOADS = frozenset({"restart_first_s", "restart_cap_s", "well_after_s"})

    restart_first_s: Duration = Field(0.5, description="The pause after a first failure.")
    restart_cap_s: Duration = Field(
        60.0, description="The longest pause; each is up to twice the one before."
    )
    well_after_s: Duration = Field(
        60.0,
        description="After this long without a failure, the next pause is the first one again.",
    )

    def conflicts(self) -> Iterator[Conflict]:
        """A first pause that is longer than the longest."""
        if self.restart_first_s > self.restart_cap_s:
            keys = ("restart_first_s", "restart_cap_s")
            rule = f"must be at most supervisor.restart_cap_s ({self.restart_cap_s})"
            yield Conflict(keys, rule)
