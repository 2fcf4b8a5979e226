"""Settings of the live loop: `[matching]`, `[date]`, `[matchmaker]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr

from yoked_actor.domain.matching import MOST_CREDIT
from yoked_actor.domain.people import WITHOUT_SECRET
from yoked_actor.domain.rules import PolicyName, Rules
from yoked_actor.settings.base import (
    STUN_URL,
    TURN_URL,
    WORD,
    Bytes,
    Conflict,
    Count,
    Days,
    Duration,
    DurationOrZero,
    Factor,
    Rate,
    SettingsModel,
    Years,
)

# The defaults are those of the domain.
_RULES = Rules()


class MatchingSettings(SettingsModel):
    """The order of the line, tiers, and the durations of each step."""

    policy: PolicyName = Field(
        _RULES.policy,
        description="The order of the line. fair_queue: starved users first, then by credit and"
        " wait. weighted: by points for the wait, narrow preferences, skips, credit and fit.",
    )
    starvation_after_s: Duration = Field(
        _RULES.starvation_after_s,
        description="After this wait a user is starved: fair_queue puts them first.",
    )
    tier2_after_s: DurationOrZero = Field(
        _RULES.tier2_after_s,
        description="From this wait on a user is in tier 2: their own limits widen.",
    )
    tier2_years: Years = Field(
        _RULES.tier2_years, description="How many years tier 2 adds at both ends of the age range."
    )
    tier2_distance: Factor = Field(
        _RULES.tier2_distance, description="The factor by which tier 2 multiplies the distance."
    )
    tier3_after_s: DurationOrZero = Field(
        _RULES.tier3_after_s,
        description="From this wait on a user is in tier 3; at least tier2_after_s.",
    )
    tier3_years: Years = Field(
        _RULES.tier3_years,
        description="How many years tier 3 adds at both ends; at least tier2_years.",
    )
    tier3_distance: Factor = Field(
        _RULES.tier3_distance,
        description="The factor by which tier 3 multiplies the distance; at least tier2_distance.",
    )
    forced_after_s: DurationOrZero = Field(
        _RULES.forced_after_s,
        description="From this wait on any age and any distance is accepted if tier 3 finds no"
        " partner; at least tier3_after_s.",
    )
    nudge_every_s: Duration = Field(
        _RULES.nudge_every_s, description="An idle user is nudged at most once in this time."
    )
    nudge_good_for_s: Duration = Field(
        _RULES.nudge_good_for_s, description="How long a nudge is valid."
    )
    liveness_s: Duration = Field(
        _RULES.liveness_s, description="A user silent for this long is lost."
    )
    heartbeat_every_s: Duration = Field(
        3.0, description="How often clients must send a heartbeat; less than liveness_s."
    )
    acknowledge_window_s: Duration = Field(
        _RULES.acknowledge_window_s, description="How long both users have to acknowledge a match."
    )
    vote_window_s: Duration = Field(
        _RULES.vote_window_s, description="How long both users have to vote."
    )
    date_length_s: Duration = Field(
        _RULES.date_length_s, description="The longest duration of a video date."
    )
    resume_grace_s: DurationOrZero = Field(
        _RULES.resume_grace_s,
        description="How long after a restart places in line and open matches are kept.",
    )
    bar_s: DurationOrZero = Field(
        _RULES.bar_s,
        description="How long a pair is kept apart whose match was cancelled before voting.",
    )
    rematch_after_days: Annotated[int, Field(ge=1, le=36500)] | None = Field(
        None,
        description="After this many days two users who met may meet again; unset means never.",
        examples=[90],
    )
    credit_step: int = Field(
        _RULES.credit_step,
        ge=0,
        le=MOST_CREDIT,
        description="The credit for a yes that the partner did not return.",
    )
    credit_cap: int = Field(
        _RULES.credit_cap, ge=0, le=MOST_CREDIT, description="The most credit of a user."
    )
    genders: tuple[Annotated[str, Field(pattern=WORD, title="lower-case words")], ...] = Field(
        ("woman", "man", "nonbinary"),
        min_length=1,
        max_length=64,
        description="The genders a profile can name, in lower case.",
    )
    max_interests: int = Field(32, ge=0, le=256, description="The most interests of a profile.")
    shown_place_every_s: DurationOrZero = Field(
        WITHOUT_SECRET.every_s,
        description="How often a changed position may change the place that others are shown."
        " Matching uses the new position at once.",
    )
    max_blocks: Count = Field(
        _RULES.max_blocks, description="The most users that one user can block."
    )

    def rules(self) -> Rules:
        """The rules of the lobby."""
        given = dict(self)
        return Rules(**{name: given[name] for name in Rules.__struct_fields__ if name in given})

    def conflicts(self) -> Iterator[Conflict]:
        """Tiers out of order, heartbeats too rare, a step above the cap, a gender named twice."""
        for key, least in (
            ("tier3_after_s", "tier2_after_s"),
            ("tier3_years", "tier2_years"),
            ("tier3_distance", "tier2_distance"),
            ("forced_after_s", "tier3_after_s"),
        ):
            if getattr(self, key) < getattr(self, least):
                rule = f"must be at least matching.{least} ({getattr(self, least)})"
                yield Conflict((key, least), rule)
        if self.heartbeat_every_s >= self.liveness_s:
            keys = ("heartbeat_every_s", "liveness_s")
            yield Conflict(keys, f"must be less than matching.liveness_s ({self.liveness_s})")
        if self.credit_step > self.credit_cap:
            keys = ("credit_step", "credit_cap")
            yield Conflict(keys, f"must be at most matching.credit_cap ({self.credit_cap})")
        if len(set(self.genders)) < len(self.genders):
            yield Conflict(("genders",), "must name each gender once")


class DateSettings(SettingsModel):
    """How two users call each other and connect on a video date."""

    RELOADS = frozenset({"stun_urls", "turn_urls", "turn_secret", "turn_ttl_s"})

    stun_urls: tuple[Annotated[str, Field(pattern=STUN_URL, title="stun: URLs")], ...] = Field(
        (),
        max_length=16,
        description="STUN servers, such as stun:turn.example.org:3478; without any, users connect"
        " only inside one network.",
    )
    turn_urls: tuple[Annotated[str, Field(pattern=TURN_URL, title="turn: URLs")], ...] = Field(
        (),
        max_length=16,
        description="TURN servers, such as turn:turn.example.org:3478?transport=udp, for users"
        " whose networks block direct connections.",
    )
    turn_secret: SecretStr = Field(
        SecretStr(""),
        description="The secret shared with the TURN servers, used to make short-lived"
        " credentials. Required with turn_urls.",
    )
    turn_ttl_s: Duration = Field(
        600.0,
        description="How long TURN credentials are valid; at least matching.date_length_s.",
    )

    max_signal_bytes: Bytes = Field(8192, description="The largest data of a signal.")
    signals_per_s: Rate = Field(10.0, description="Signals per second and user.")
    signals_burst: Count = Field(
        30,
        description="The burst of signals per user. Times max_signal_bytes it should be less than"
        " edge.max_buffered_bytes, or a burst makes the partner a slow reader.",
    )
    max_kept_signals: Count = Field(
        _RULES.max_kept_signals,
        description="How many signals are kept for a partner without a socket; never more than"
        " half of session.kept_events.",
    )

    ring_s: Duration = Field(_RULES.ring_s, description="How long a call rings.")
    calls_per_pair: Count = Field(
        _RULES.calls_per_pair,
        description="The most calls of one user to another within calls_within_s. An accepted call"
        " starts the count again.",
    )
    calls_within_s: Duration = Field(
        _RULES.calls_within_s, description="How long a call counts towards calls_per_pair."
    )

    touch_after_s: DurationOrZero = Field(
        _RULES.touch_after_s,
        description="The shortest date after which both are asked whether to stay in touch.",
    )
    touch_for_s: Duration = Field(
        _RULES.touch_for_s, description="How long after a date both can answer that."
    )
    met_days: Days = Field(30, description="For so many days a user sees whom they have met.")
    max_met: Count = Field(200, description="The most met users that a user sees.")

    def rules(self) -> dict[str, Any]:
        """The part of the rules of the lobby that is set here."""
        return {name: value for name, value in self if name in Rules.__struct_fields__}

    def conflicts(self) -> Iterator[Conflict]:
        """Half of what TURN needs."""
        secret = self.turn_secret.get_secret_value()
        if self.turn_urls and not secret:
            yield Conflict(("turn_secret", "turn_urls"), "must be set with date.turn_urls")
        if secret and not self.turn_urls:
            yield Conflict(("turn_urls", "turn_secret"), "must be set with date.turn_secret")


class MatchmakerSettings(SettingsModel):
    """The task that decides."""

    RELOADS = frozenset({"audit"})

    mailbox: Count = Field(100_000, description="The most events in its mailbox.")
    audit: Literal["off", "log", "raise"] = Field(
        "log", description="What a broken invariant causes: nothing, a log entry, or a stop."
    )
    edges_every_s: DurationOrZero = Field(
        0.1,
        le=1.0,
        description="The least time between two rounds for tier edges alone; not on a mock clock.",
    )
