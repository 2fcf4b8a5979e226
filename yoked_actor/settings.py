"""Every setting of the server: its name, default, limits and meaning.

These models are the one source. `config` fills them from a file, the environment and flags;
`config_template` renders the commented `config/yoked.toml` and the tables of
`docs/configuration.md` from them.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from datetime import time
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self
from urllib.parse import urlsplit

from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from yoked_actor.domain.alerts import Limits
from yoked_actor.domain.fairness import MOST_CREDIT
from yoked_actor.domain.frozen_pool import OfferRules
from yoked_actor.domain.rules import Rules

# A year: longer makes no sense here, and keeps sums of instants far from overflow.
LONGEST_S = 31_622_400
LARGEST_BUFFER = 64 * 1024 * 1024
ORIGIN = r"^(https?://[^/?#\s]+|\*)$"
NETWORK = r"^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$"
WORD = r"^[a-z][a-z0-9_]{0,31}$"
STUN_URL = r"^stuns?:(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$"
TURN_URL = r"^turns?:(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(\?transport=(udp|tcp))?$"
WEBHOOK_URL = r"^(https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/[!$-~]*)?)?$"
TIME_OF_DAY = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"

Duration = Annotated[float, Field(gt=0, le=LONGEST_S)]
DurationOrZero = Annotated[float, Field(ge=0, le=LONGEST_S)]
Years = Annotated[int, Field(ge=0, le=100)]
Factor = Annotated[float, Field(ge=1, le=1000)]
Rate = Annotated[float, Field(gt=0, le=1_000_000)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Days = Annotated[int, Field(ge=1, le=36_500)]
Bytes = Annotated[int, Field(ge=1024, le=LARGEST_BUFFER)]


class Conflict(NamedTuple):
    """Settings that are each allowed but not together; the first is the one to blame."""

    keys: tuple[str, ...]
    rule: str


class SettingsModel(BaseModel):
    """What all sections share: frozen, strict, no unknown keys, rules between keys."""

    RELOADS: ClassVar[frozenset[str]] = frozenset()
    """The keys that a reload changes: whoever uses them reads them here each time."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, validate_default=True
    )

    def conflicts(self) -> Iterator[Conflict]:
        """The rules between settings that these break."""
        yield from ()

    def renew(self, values: Mapping[str, object]) -> None:
        """Take new values of keys that a reload changes, which were checked before."""
        assert self.RELOADS.issuperset(values)
        # Frozen for everybody else: nobody is to change a setting by accident.
        self.__dict__.update(values)

    @model_validator(mode="before")
    @classmethod
    def _lists_are_tuples(cls, values: Any) -> Any:
        # TOML and JSON have lists only; ours are tuples, because settings are frozen.
        if not isinstance(values, Mapping):
            return values
        return {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}

    @model_validator(mode="after")
    def _no_conflicts(self) -> Self:
        found = list(self.conflicts())
        if found:
            text = "; ".join(f"{conflict.keys[0]} {conflict.rule}" for conflict in found)
            raise PydanticCustomError("conflict", "{text}", {"text": text, "conflicts": found})
        return self


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
        5.0, description="How long a stopping server lets clients go by themselves."
    )
    drain_votes_s: DurationOrZero = Field(
        12.0,
        description="How long, at most, a stopping server waits for matches to be decided; when"
        " there are none it does not wait.",
    )
    reconnect_after_s: DurationOrZero = Field(
        2.0, description="What clients are told to wait before they come back after a drain."
    )


class AuthSettings(SettingsModel):
    """How tokens are signed and judged."""

    algorithm: Literal["HS256", "EdDSA", "RS256"] = Field(
        "HS256", description="How tokens are signed: with a shared secret, or with a key pair."
    )
    secret: SecretStr = Field(
        SecretStr(""),
        description="The shared secret of HS256, 32 bytes or more. Required unless --dev is given.",
    )
    public_key_file: str = Field(
        "", description="A PEM file: the public key of EdDSA or RS256. Empty with HS256."
    )
    dev_token_ttl_s: Duration = Field(
        86400.0, description="How long a token of the development login is good."
    )
    leeway_s: DurationOrZero = Field(
        0.0, description="How long after its expiry a token is still taken, for skewed clocks."
    )

    def conflicts(self) -> Iterator[Conflict]:
        """A key that does not fit the algorithm."""
        if 0 < len(self.secret.get_secret_value().encode()) < 32:
            yield Conflict(("secret",), "must be at least 32 bytes long, or empty")
        if self.algorithm == "HS256" and self.public_key_file:
            keys = ("public_key_file", "algorithm")
            yield Conflict(keys, "must be empty when auth.algorithm is HS256")
        if self.algorithm != "HS256" and not self.public_key_file:
            keys = ("public_key_file", "algorithm")
            yield Conflict(keys, f"must name a file when auth.algorithm is {self.algorithm}")


class MatchingSettings(SettingsModel):
    """Who meets whom, and how long each step may take."""

    policy: Literal["fair_queue", "weighted"] = Field(
        "fair_queue",
        description="Who goes first: by credit and wait, the starving before all, or by points"
        " for the wait, for narrow wishes, for being skipped, for credit and for the fit.",
    )
    starvation_after_s: Duration = Field(
        60.0, description="After this wait fair_queue puts a user before all who wait for less."
    )
    tier2_after_s: DurationOrZero = Field(
        2.0, description="From this wait on a user's own limits open a little."
    )
    tier2_years: Years = Field(2, description="How many years tier 2 adds at either end.")
    tier2_distance: Factor = Field(1.2, description="By what tier 2 multiplies the distance.")
    tier3_after_s: DurationOrZero = Field(
        10.0, description="From this wait on they open further; at least tier2_after_s."
    )
    tier3_years: Years = Field(5, description="How many years tier 3 adds; at least tier2_years.")
    tier3_distance: Factor = Field(
        1.5, description="By what tier 3 multiplies the distance; at least tier2_distance."
    )
    forced_after_s: DurationOrZero = Field(
        10.0,
        description="From this wait on any age and any distance will do when tier 3 finds nobody;"
        " at least tier3_after_s.",
    )
    nudge_every_s: Duration = Field(
        600.0, description="An idle user is nudged at most once in this time."
    )
    nudge_good_for_s: Duration = Field(60.0, description="How long a nudge is worth following.")
    liveness_s: Duration = Field(10.0, description="A user silent for this long is lost.")
    heartbeat_every_s: Duration = Field(
        3.0, description="How often clients are told to beat; less than liveness_s."
    )
    acknowledge_window_s: Duration = Field(
        5.0, description="How long both have to acknowledge a match."
    )
    vote_window_s: Duration = Field(10.0, description="How long both have to vote.")
    date_length_s: Duration = Field(300.0, description="The longest that a video date lasts.")
    resume_grace_s: DurationOrZero = Field(
        60.0, description="How long after a restart waiting places and open matches are kept."
    )
    bar_s: DurationOrZero = Field(
        60.0, description="How long a pair whose match was cancelled before voting stays apart."
    )
    rematch_after_days: Annotated[int, Field(ge=1, le=36500)] | None = Field(
        None,
        description="After this many days two who met may meet again; unset means never.",
        examples=[90],
    )
    credit_step: int = Field(
        10, ge=0, le=MOST_CREDIT, description="The credit for a yes that was not returned."
    )
    credit_cap: int = Field(
        50, ge=0, le=MOST_CREDIT, description="The most credit a user can hold."
    )
    genders: tuple[Annotated[str, Field(pattern=WORD, title="lower-case words")], ...] = Field(
        ("woman", "man", "nonbinary"),
        min_length=1,
        max_length=64,
        description="The genders a profile can name, in lower case.",
    )
    max_interests: int = Field(32, ge=0, le=256, description="The most interests of a profile.")
    max_blocks: Count = Field(5000, description="The most users that one user can block.")

    def rules(self) -> Rules:
        """These settings, as the lobby reads them."""
        return Rules(
            policy=self.policy,
            starvation_after_s=self.starvation_after_s,
            tier2_after_s=self.tier2_after_s,
            tier2_years=self.tier2_years,
            tier2_distance=self.tier2_distance,
            tier3_after_s=self.tier3_after_s,
            tier3_years=self.tier3_years,
            tier3_distance=self.tier3_distance,
            forced_after_s=self.forced_after_s,
            nudge_every_s=self.nudge_every_s,
            nudge_good_for_s=self.nudge_good_for_s,
            liveness_s=self.liveness_s,
            acknowledge_window_s=self.acknowledge_window_s,
            vote_window_s=self.vote_window_s,
            date_length_s=self.date_length_s,
            resume_grace_s=self.resume_grace_s,
            bar_s=self.bar_s,
            rematch_after_days=self.rematch_after_days,
            credit_step=self.credit_step,
            credit_cap=self.credit_cap,
            max_blocks=self.max_blocks,
        )

    def conflicts(self) -> Iterator[Conflict]:
        """Tiers out of order, beats too rare, a step over the cap, a gender named twice."""
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
    """How two people on a video date reach each other."""

    RELOADS = frozenset({"stun_urls", "turn_urls", "turn_secret", "turn_ttl_s"})

    stun_urls: tuple[Annotated[str, Field(pattern=STUN_URL, title="stun: URLs")], ...] = Field(
        (),
        max_length=16,
        description="STUN servers, such as stun:turn.example.org:3478; without any, people reach"
        " each other in one network only.",
    )
    turn_urls: tuple[Annotated[str, Field(pattern=TURN_URL, title="turn: URLs")], ...] = Field(
        (),
        max_length=16,
        description="TURN servers, such as turn:turn.example.org:3478?transport=udp, for people"
        " whose networks let nothing else through.",
    )
    turn_secret: SecretStr = Field(
        SecretStr(""),
        description="The secret that is shared with the TURN servers, from which short-lived"
        " credentials are made. Required with turn_urls.",
    )
    turn_ttl_s: Duration = Field(
        600.0,
        description="How long TURN credentials are good; at least matching.date_length_s.",
    )

    max_signal_bytes: Bytes = Field(8192, description="The largest data of a signal.")
    signals_per_s: Rate = Field(10.0, description="Signals per second and user.")
    signals_burst: Count = Field(
        30,
        description="Signals of a user at once. Times max_signal_bytes it should stay under"
        " edge.max_buffered_bytes, or a burst makes a slow reader of the partner.",
    )
    max_kept_signals: Count = Field(
        32,
        description="How many signals are kept for a partner who has no socket just now; never"
        " more than half of session.kept_events.",
    )

    def conflicts(self) -> Iterator[Conflict]:
        """Half of what TURN needs."""
        secret = self.turn_secret.get_secret_value()
        if self.turn_urls and not secret:
            yield Conflict(("turn_secret", "turn_urls"), "must be set with date.turn_urls")
        if secret and not self.turn_urls:
            yield Conflict(("turn_urls", "turn_secret"), "must be set with date.turn_secret")


class EdgeSettings(SettingsModel):
    """What a connection may do, and how long it may take."""

    RELOADS = frozenset(
        {
            "max_connections",
            "connections_per_s",
            "connections_burst",
            "commands_per_s",
            "commands_burst",
            "frames_per_s",
            "frames_burst",
        }
    )

    allowed_origins: tuple[Annotated[str, Field(pattern=ORIGIN, title="origins")], ...] = Field(
        (),
        max_length=1000,
        description="Origins whose pages may connect, such as https://example.org; * is any.",
    )
    max_message_bytes: Bytes = Field(16384, description="The largest WebSocket message taken.")
    max_buffered_bytes: Bytes = Field(
        262144, description="What may wait to be sent to a client before it is a slow reader."
    )
    send_buffer_bytes: Bytes = Field(
        65536, description="The kernel's send buffer of a socket; a large one hides slow readers."
    )
    stall_timeout_s: Duration = Field(
        5.0, description="A client that takes no byte for this long is a slow reader."
    )
    handshake_timeout_s: Duration = Field(
        10.0, description="How long TLS and the request head may take."
    )
    hello_timeout_s: Duration = Field(5.0, description="How long a new WebSocket may be silent.")
    ping_interval_s: Duration = Field(20.0, description="How often a WebSocket is pinged.")
    ping_timeout_s: Duration = Field(20.0, description="How long a ping may go unanswered.")
    close_timeout_s: Duration = Field(2.0, description="How long a closing handshake may take.")
    max_connections: Count = Field(20000, description="The most connections open at once.")
    connections_per_s: Rate = Field(
        50.0, description="New connections per second and address; loopback is exempt."
    )
    connections_burst: Count = Field(1000, description="New connections of an address at once.")
    commands_per_s: Rate = Field(20.0, description="Commands per second and user.")
    commands_burst: Count = Field(100, description="Commands of a user at once.")
    frames_per_s: Rate = Field(50.0, description="Frames per second and WebSocket.")
    frames_burst: Count = Field(250, description="Frames of a WebSocket at once.")
    max_head_bytes: Bytes = Field(16384, description="The largest head of a request.")
    max_body_bytes: Bytes = Field(16384, description="The largest body of a request.")
    request_timeout_s: Duration = Field(30.0, description="How long an HTTP request may take.")
    http_keep_alive_s: Duration = Field(
        15.0, description="How long an HTTP connection may wait for its next request."
    )
    http_stall_timeout_s: Duration = Field(
        20.0, description="How long an HTTP client may leave an answer unread."
    )
    http_requests_per_connection: Count = Field(
        1000, description="Requests on one HTTP connection before it is closed."
    )
    last_words_s: Duration = Field(
        1.0, description="How long a connection that is turned away may take to read why."
    )
    remembered_addresses: Count = Field(
        10000, description="How many addresses the rate of new connections is kept for."
    )
    trusted_proxies: tuple[Annotated[str, Field(pattern=NETWORK, title="networks")], ...] = Field(
        (),
        max_length=1000,
        description="Addresses or networks of proxies whose X-Forwarded-For is believed, such as"
        " 127.0.0.1 or 10.0.0.0/8; who comes through one is counted by their own address.",
    )
    tls_certificate: str = Field(
        "", description="A PEM file: the certificate chain. With tls_key it turns TLS on."
    )
    tls_key: str = Field("", description="A PEM file: the private key of the certificate.")

    def conflicts(self) -> Iterator[Conflict]:
        """A buffer too small for one message, a network that is none, half a TLS pair."""
        for network in self.trusted_proxies:
            try:
                ipaddress.ip_network(network)
            except ValueError as error:
                yield Conflict(("trusted_proxies",), f"must name addresses or networks: {error}")
        if self.max_message_bytes > self.max_buffered_bytes:
            keys = ("max_message_bytes", "max_buffered_bytes")
            rule = f"must be at most edge.max_buffered_bytes ({self.max_buffered_bytes})"
            yield Conflict(keys, rule)
        if self.tls_certificate and not self.tls_key:
            yield Conflict(("tls_key", "tls_certificate"), "must be set with edge.tls_certificate")
        if self.tls_key and not self.tls_certificate:
            yield Conflict(("tls_certificate", "tls_key"), "must be set with edge.tls_key")


class SessionSettings(SettingsModel):
    """What is remembered of a user's session, so that a client can resume it."""

    kept_events: Count = Field(64, description="Events kept for a client that resumes.")
    kept_replies: Count = Field(
        128, description="Replies kept, so that a repeated command has no second effect."
    )
    max_pending_commands: Count = Field(64, description="Commands that may wait for their reply.")
    forget_after_s: Duration = Field(
        120.0, description="How long an idle session without a connection is remembered."
    )


class ConsoleSettings(SettingsModel):
    """The operator's console."""

    RELOADS = frozenset({"status_every_s", "max_watchers", "longest_shown"})

    status_every_s: Duration = Field(
        2.0, description="How often a console that watches is told how things stand."
    )
    max_watchers: int = Field(
        16, ge=1, le=1000, description="How many consoles may watch at the same time."
    )
    longest_shown: int = Field(
        10, ge=0, le=100, description="How many of those who wait longest are shown, with why."
    )


class StoreSettings(SettingsModel):
    """How decisions reach the disk."""

    RELOADS = frozenset({"retry_first_s", "retry_cap_s", "max_reported"})

    runner: Literal["thread", "inline"] = Field(
        "thread", description="Where SQL runs: on a thread of its own, or between two steps."
    )
    busy_timeout_s: DurationOrZero = Field(
        1.0, description="How long SQLite waits for a lock before a commit fails."
    )
    max_batch: Count = Field(1000, description="The most commits that share one transaction.")
    max_pending: Count = Field(10000, description="The most commits that may wait.")
    retry_first_s: Duration = Field(0.05, description="The pause after a first failed commit.")
    retry_cap_s: Duration = Field(2.0, description="The longest pause between two attempts.")
    max_reported: Count = Field(
        50_000, description="The most matches that a report on quality looks at, newest first."
    )
    checkpoint_pages: Count = Field(4000, description="WAL pages before a checkpoint.")

    def conflicts(self) -> Iterator[Conflict]:
        """A first pause that is longer than the longest."""
        if self.retry_first_s > self.retry_cap_s:
            keys = ("retry_first_s", "retry_cap_s")
            yield Conflict(keys, f"must be at most store.retry_cap_s ({self.retry_cap_s})")


class MatchmakerSettings(SettingsModel):
    """The one task that decides."""

    RELOADS = frozenset({"audit"})

    mailbox: Count = Field(100_000, description="The most events that may wait for it.")
    audit: Literal["off", "log", "raise"] = Field(
        "log", description="What a broken invariant does: nothing, a log line, or a stop."
    )


class JobSettings(SettingsModel):
    """The queue of background jobs, and when somebody is alerted."""

    RELOADS = frozenset(
        {
            "run_timeout_s",
            "drain_s",
            "keep_finished_days",
            "keep_keys_days",
            "sample_every_s",
            "alert_window_s",
            "alert_failure_rate",
            "alert_duration_p95_s",
            "alert_depth",
        }
    )

    concurrency: int = Field(
        16, ge=1, le=1000, description="How many jobs run at once in this process."
    )
    cpu_threads: int = Field(
        1, ge=1, le=64, description="How many threads run jobs that do nothing but compute."
    )
    batch: int = Field(500, ge=1, le=10_000, description="The most jobs claimed at once.")
    ahead_s: Duration = Field(
        0.25, description="For how long the jobs that are claimed ahead should last."
    )
    lease_s: Duration = Field(
        60.0, description="How long a claimed job is kept from others; extended while it runs."
    )
    run_timeout_s: Duration = Field(
        900.0, description="A run that takes longer is ended, with the next extension of leases."
    )
    drain_s: DurationOrZero = Field(
        5.0, description="How long a stopping server lets jobs end before it gives them back."
    )
    keep_finished_days: int = Field(
        30, ge=0, le=36_500, description="After so many days an ended job is deleted."
    )
    keep_keys_days: int = Field(
        400,
        ge=1,
        le=36_500,
        description="After so many days the key of a deleted job is forgotten; at least"
        " keep_finished_days.",
    )
    sample_every_s: Duration = Field(
        15.0, description="How often the queue is measured while there is something to measure."
    )
    alert_window_s: Duration = Field(
        3600.0, description="Failures and durations are judged over this time."
    )
    alert_failure_rate: float = Field(
        0.01, ge=0, le=1, description="The share of dead letters above which there is an alert."
    )
    alert_duration_p95_s: Duration = Field(
        300.0, description="The 95th percentile of durations above which there is an alert."
    )
    alert_depth: Count = Field(
        1000, description="The number of jobs that are due above which there is an alert."
    )

    def conflicts(self) -> Iterator[Conflict]:
        """A key that is forgotten before its job."""
        if self.keep_keys_days < self.keep_finished_days:
            keys = ("keep_keys_days", "keep_finished_days")
            rule = f"must be at least jobs.keep_finished_days ({self.keep_finished_days})"
            yield Conflict(keys, rule)


class AlertSettings(SettingsModel):
    """When somebody is alerted, besides the alerts about jobs, and who is told."""

    RELOADS = frozenset(
        {
            "clear_after_s",
            "window_s",
            "fault_window_s",
            "loop_lag_s",
            "commit_failures",
            "audit_violations",
            "disk_min_free_share",
            "webhook_url",
            "webhook_secret",
            "webhook_timeout_s",
        }
    )

    clear_after_s: DurationOrZero = Field(
        60.0,
        description="An alert is over when its number has been within the limit for this long.",
    )
    window_s: Duration = Field(300.0, description="Commit failures are counted over this time.")
    fault_window_s: Duration = Field(
        3600.0,
        description="Faults of the program, which are duplicate offers and violations found by the"
        " auditor, are counted over this time.",
    )
    loop_lag_s: Duration = Field(
        0.25,
        description="The 99th percentile of the event loop's lag in the last minute above which"
        " there is an alert.",
    )
    commit_failures: int = Field(
        5, ge=0, le=1_000_000, description="The commit failures above which there is an alert."
    )
    audit_violations: int = Field(
        0, ge=0, le=1_000_000, description="The violations above which there is an alert."
    )
    disk_min_free_share: float = Field(
        0.05,
        ge=0,
        le=1,
        description="The share of the disk that is free below which there is an alert.",
    )
    webhook_url: str = Field(
        "",
        pattern=WEBHOOK_URL,
        title="an http:// or https:// URL",
        description="Who is told of alerts, with a POST; empty tells nobody.",
    )
    webhook_secret: SecretStr = Field(
        SecretStr(""),
        description="What the POST is signed with, 16 bytes or more. Required with webhook_url.",
    )
    webhook_timeout_s: Duration = Field(
        10.0, description="How long the receiver may take to answer."
    )

    def limits(self, jobs: JobSettings) -> Limits:
        """What is still well, here and in the queue of jobs."""
        return Limits(
            failure_rate=jobs.alert_failure_rate,
            duration_p95_s=jobs.alert_duration_p95_s,
            depth=jobs.alert_depth,
            loop_lag_s=self.loop_lag_s,
            commit_failures=self.commit_failures,
            audit_violations=self.audit_violations,
            disk_free_share=self.disk_min_free_share,
        )

    def conflicts(self) -> Iterator[Conflict]:
        """A webhook without a secret, a port that is none."""
        secret = self.webhook_secret.get_secret_value()
        if self.webhook_url and len(secret.encode()) < 16:
            keys = ("webhook_secret", "webhook_url")
            yield Conflict(keys, "must be at least 16 bytes long with alerts.webhook_url")
        try:
            urlsplit(self.webhook_url).port  # noqa: B018
        except ValueError as error:
            yield Conflict(("webhook_url",), f"must be a URL: {error}")


class OfferSettings(SettingsModel):
    """The daily offers of every time zone."""

    RELOADS = frozenset(
        {"daily_offer_count", "max_daily_exposure", "not_again_days", "scoring", "keep_pools_days"}
    )

    at: str = Field(
        "09:00",
        pattern=TIME_OF_DAY,
        title="a time of day",
        description="The local time at which a zone gets its offers.",
    )
    daily_offer_count: int = Field(5, ge=1, le=100, description="The offers of a user and day.")
    max_daily_exposure: int = Field(
        10, ge=1, le=10_000, description="The most sets of a run that one person appears in."
    )
    not_again_days: int = Field(
        30, ge=0, le=366, description="Nobody is offered to the same user again for so long."
    )
    scoring: Literal["v1", "v2"] = Field(
        "v2", description="How candidates are ranked: by profiles, or by votes as well."
    )
    keep_pools_days: int = Field(
        7,
        ge=1,
        le=366,
        description="How long what a run was made from is kept, for it to be verified in full.",
    )

    def time_of_day(self) -> time:
        """The local time of a run."""
        return time.fromisoformat(self.at)

    def rules(self, matching: MatchingSettings) -> OfferRules:
        """These settings, and the tiers, as a run reads them."""
        return OfferRules(
            daily_offer_count=self.daily_offer_count,
            max_daily_exposure=self.max_daily_exposure,
            not_again_days=self.not_again_days,
            scoring=self.scoring,
            tier2_years=matching.tier2_years,
            tier2_distance=matching.tier2_distance,
            tier3_years=matching.tier3_years,
            tier3_distance=matching.tier3_distance,
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


class LogSettings(SettingsModel):
    """What is logged, to standard error."""

    RELOADS = frozenset({"level", "format"})

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="The least severe entry that is written."
    )
    format: Literal["auto", "pretty", "json"] = Field(
        "auto", description="How entries look; auto is pretty on a terminal and JSON elsewhere."
    )
    sentry_dsn: SecretStr = Field(
        SecretStr(""),
        description="The DSN of a Sentry project: errors are reported there. Empty reports none.",
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
    jobs: JobSettings = JobSettings()
    offers: OfferSettings = OfferSettings()
    alerts: AlertSettings = AlertSettings()
    privacy: PrivacySettings = PrivacySettings()
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
