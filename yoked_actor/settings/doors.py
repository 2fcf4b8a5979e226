"""Settings of the process and of its doors: addresses, keys, limits, sessions, the log."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from yoked_actor.settings.base import (
    NETWORK,
    ORIGIN,
    WEBHOOK_URL,
    Bytes,
    Conflict,
    Count,
    Duration,
    DurationOrZero,
    Rate,
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
        5.0, description="How long a stopping server lets clients go by themselves."
    )
    drain_votes_s: DurationOrZero = Field(
        8.0,
        description="How long, at most, a stopping server waits for matches to be decided; when"
        " there are none it does not wait.",
    )
    clock_step_s: Duration = Field(
        1.0,
        description="How far the system's clock has to move away from the machine's own time before"
        " that counts as a step, which is logged and followed.",
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
    jwks_url: str = Field(
        "",
        pattern=WEBHOOK_URL,
        title="an https:// URL, or http:// on this machine",
        description="Where the public keys of EdDSA or RS256 are: a JSON Web Key Set. In place of"
        " public_key_file; needs issuer and audience.",
    )
    jwks_refresh_s: Duration = Field(
        3600.0, description="How often the keys of jwks_url are fetched again."
    )
    jwks_retry_s: Duration = Field(
        30.0,
        description="How often they are fetched at most: after a failure, or for unknown keys.",
    )
    jwks_timeout_s: Duration = Field(5.0, description="How long the answer may take.")
    jwks_max_bytes: Bytes = Field(65536, description="The largest answer that is read.")
    issuer: str = Field(
        "",
        description="The `iss` that a token must have. Empty: any. Set it when tokens are signed"
        " with a key pair.",
    )
    audience: str = Field(
        "",
        description="What a token's `aud` must be or hold. Empty: any. Set it when tokens are"
        " signed with a key pair: else a token made for another service is good here.",
    )
    dev_token_ttl_s: Duration = Field(
        86400.0, description="How long a token of the development login is good."
    )
    leeway_s: DurationOrZero = Field(
        0.0,
        description="How long after its expiry a token is still taken, for skewed clocks. An open"
        " socket ends within 30 seconds of the expiry all the same.",
    )

    def unchecked_claims(self) -> list[str]:
        """Which settings are missing that keep out tokens made for another service.

        Only this server and its deployer have the secret of HS256; a key pair signs for others too.
        """
        if self.algorithm == "HS256":
            return []
        named = {"auth.issuer": self.issuer, "auth.audience": self.audience}
        return [name for name, value in named.items() if not value]

    def conflicts(self) -> Iterator[Conflict]:
        """A key that does not fit the algorithm."""
        if 0 < len(self.secret.get_secret_value().encode()) < 32:
            yield Conflict(("secret",), "must be at least 32 bytes long, or empty")
        if self.algorithm == "HS256" and self.public_key_file:
            keys = ("public_key_file", "algorithm")
            yield Conflict(keys, "must be empty when auth.algorithm is HS256")
        if self.algorithm != "HS256" and not self.public_key_file and not self.jwks_url:
            keys = ("public_key_file", "algorithm")
            yield Conflict(keys, f"must name a file when auth.algorithm is {self.algorithm}")
        if self.public_key_file and self.jwks_url:
            keys = ("public_key_file", "jwks_url")
            yield Conflict(keys, "must be empty when auth.jwks_url is set")
        if self.jwks_url:
            yield from self._jwks_conflicts()

    def _jwks_conflicts(self) -> Iterator[Conflict]:
        if self.algorithm == "HS256":
            yield Conflict(("jwks_url", "algorithm"), "must be empty when auth.algorithm is HS256")
        elif missing := self.unchecked_claims():
            yield Conflict(("jwks_url",), f"needs {' and '.join(missing)}")
        try:
            parts = urlsplit(self.jwks_url)
            parts.port  # noqa: B018
        except ValueError as error:
            yield Conflict(("jwks_url",), f"must be a URL: {error}")
        else:
            if parts.scheme != "https" and not _is_loopback(parts.hostname or ""):
                yield Conflict(("jwks_url",), "must begin with https://, or name this machine")


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
        5.0,
        description="A client that takes no byte for this long is a slow reader; it then has as"
        " long again to read why it is closed.",
    )
    handshake_timeout_s: Duration = Field(
        10.0, description="How long TLS and the request head may take."
    )
    hello_timeout_s: Duration = Field(5.0, description="How long a new WebSocket may be silent.")
    welcome_timeout_s: Duration = Field(
        30.0, description="How long the server may take to welcome a client that has said hello."
    )
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
    frames_before_hello: Count = Field(
        20, description="Frames of a WebSocket up to its hello, that one included."
    )
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
        description="Addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto"
        " are believed, such as 127.0.0.1 or 10.0.0.0/8; a client who comes through one is counted"
        " by their own address.",
    )
    hsts_max_age_s: DurationOrZero = Field(
        31_536_000.0,
        description="How long a browser that has come over TLS keeps to it; 0 tells it nothing.",
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


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
