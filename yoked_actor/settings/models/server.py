"""Settings of the process: `[server]`, `[log]`, `[console]`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from yoked_actor.settings.base import (
    Duration,
    DurationOrZero,
    SettingsModel,
)


class ServerSettings(SettingsModel):
    """Where the server listens, where it keeps its data, and how it stops."""

    RELOADS = frozenset({"drain_s", "drain_votes_s", "reconnect_after_s"})

    host: str = Field("127.0.0.1", min_length=1, description="The address to listen on.")
    port: int = Field(8080, ge=0, le=65535, description="The TCP port; 0 takes a free one.")
    data_dir: Path = Field(
        Path("data"),
        strict=False,
        description="The folder of the database, relative to the working directory.",
    )
    drain_s: DurationOrZero = Field(
        5.0, description="How long a shutdown waits for clients to disconnect."
    )
    drain_votes_s: DurationOrZero = Field(
        8.0,
        description="How long, at most, a shutdown waits for open matches to be decided.",
    )
    clock_step_s: Duration = Field(
        1.0,
        description="How far the system clock must differ from the monotonic clock to count as a"
        " step. A step is logged, and deadlines follow it.",
    )
    reconnect_after_s: DurationOrZero = Field(
        2.0, description="How long clients are asked to wait before they reconnect after a drain."
    )


class LogSettings(SettingsModel):
    """What is logged, to standard error."""

    RELOADS = frozenset({"level", "format"})

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least severe entry that is written."
    )
    format: Literal["auto", "pretty", "json"] = Field(
        "auto",
        description="The format of entries; auto is pretty on a terminal and JSON elsewhere.",
    )
    sentry_dsn: SecretStr = Field(
        SecretStr(""),
        description="The DSN of a Sentry project to which errors are reported. Empty: none are.",
    )


class ConsoleSettings(SettingsModel):
    """The operator's console."""

    RELOADS = frozenset({"status_every_s", "max_watchers", "longest_shown", "history_shown"})

    status_every_s: Duration = Field(
        2.0, description="How often the status is sent to a console that watches."
    )
    max_watchers: int = Field(
        16, ge=1, le=1000, description="The most consoles that watch at the same time."
    )
    longest_shown: int = Field(
        10,
        ge=0,
        le=100,
        description="How many of the longest waiting users are shown, with the reason.",
    )
    history_shown: int = Field(
        50,
        ge=1,
        le=1000,
        description="How many matches, dates, offers, reports and actions of one user are shown,"
        " the newest of each.",
    )
