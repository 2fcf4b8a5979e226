"""Settings of connections and sessions: `[edge]`, `[session]`."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from yoked_actor.settings.base import (
    NETWORK,
    ORIGIN,
    Bytes,
    Conflict,
    Count,
    Duration,
    DurationOrZero,
    Rate,
    SettingsModel,
)


class EdgeSettings(SettingsModel):
    """Limits and timeouts of connections."""

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
        description="Origins whose pages may connect, such as https://example.org; * allows any.",
    )
    max_message_bytes: Bytes = Field(16384, description="The largest WebSocket message accepted.")
    max_buffered_bytes: Bytes = Field(
        262144,
        description="How many bytes may wait to be sent to a client before it is a slow reader.",
    )
    send_buffer_bytes: Bytes = Field(
        65536, description="The kernel's send buffer of a socket. A large one hides slow readers."
    )
    stall_timeout_s: Duration = Field(
        5.0,
        description="A client that reads no byte for this long is a slow reader. It then has the"
        " same time again to read why it is closed.",
    )
    handshake_timeout_s: Duration = Field(
        10.0, description="How long TLS and the request head may take."
    )
    hello_timeout_s: Duration = Field(
        5.0, description="How long a new WebSocket may take to send its hello."
    )
    welcome_timeout_s: Duration = Field(
        30.0, description="How long the server may take to answer a hello with a welcome."
    )
    ping_interval_s: Duration = Field(20.0, description="How often a WebSocket is pinged.")
    ping_timeout_s: Duration = Field(20.0, description="How long a pong may take.")
    close_timeout_s: Duration = Field(2.0, description="How long a closing handshake may take.")
    max_connections: Count = Field(20000, description="The most open connections.")
    connections_per_s: Rate = Field(
        50.0, description="New connections per second and address; loopback is exempt."
    )
    connections_burst: Count = Field(1000, description="The burst of new connections per address.")
    commands_per_s: Rate = Field(20.0, description="Commands per second and user.")
    commands_burst: Count = Field(100, description="The burst of commands per user.")
    frames_per_s: Rate = Field(50.0, description="Frames per second and WebSocket.")
    frames_burst: Count = Field(250, description="The burst of frames per WebSocket.")
    frames_before_hello: Count = Field(
        20, description="The most frames of a WebSocket up to and including its hello."
    )
    max_head_bytes: Bytes = Field(16384, description="The largest head of a request.")
    max_body_bytes: Bytes = Field(16384, description="The largest body of a request.")
    request_timeout_s: Duration = Field(30.0, description="How long an HTTP request may take.")
    http_keep_alive_s: Duration = Field(
        15.0, description="How long an HTTP connection is kept open between two requests."
    )
    http_stall_timeout_s: Duration = Field(
        20.0, description="How long an HTTP client may read no byte of a response."
    )
    http_requests_per_connection: Count = Field(
        1000, description="The most requests on one HTTP connection."
    )
    last_words_s: Duration = Field(
        1.0, description="How long a refused connection may take to read why."
    )
    remembered_addresses: Count = Field(
        10000, description="How many addresses the rate limit of new connections remembers."
    )
    trusted_proxies: tuple[Annotated[str, Field(pattern=NETWORK, title="networks")], ...] = Field(
        (),
        max_length=1000,
        description="Addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto"
        " are trusted, such as 127.0.0.1 or 10.0.0.0/8. A client behind one is rate-limited by"
        " its own address.",
    )
    hsts_max_age_s: DurationOrZero = Field(
        31_536_000.0,
        description="The max-age of the Strict-Transport-Security header over TLS; 0 sends none.",
    )
    tls_certificate: str = Field(
        "", description="A PEM file: the certificate chain. With tls_key it turns TLS on."
    )
    tls_key: str = Field("", description="A PEM file: the private key of the certificate.")

    def conflicts(self) -> Iterator[Conflict]:
        """A buffer too small for one message, an invalid network, half a TLS pair."""
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
    """What is kept of a session, so that a client can resume it; how users enter rooms."""

    RELOADS = frozenset(
        {
            "room_closing_notice_s",
            "wrong_codes",
            "wrong_codes_within_s",
            "wrong_codes_users",
        }
    )

    kept_events: Count = Field(64, description="Events kept for a client that resumes.")
    kept_replies: Count = Field(
        128, description="Replies kept, so that a repeated command has no second effect."
    )
    max_pending_commands: Count = Field(64, description="Commands that may wait for their reply.")
    forget_after_s: Duration = Field(
        120.0, description="How long an idle session without a connection is kept."
    )
    room_closing_notice_s: Duration = Field(
        60.0, description="How long before a room closes its users are told."
    )
    wrong_codes: Count = Field(
        5, description="Wrong invitation codes of a user within wrong_codes_within_s; then none."
    )
    wrong_codes_within_s: Duration = Field(
        60.0, description="How long a wrong invitation code counts."
    )
    wrong_codes_users: Count = Field(
        10_000, description="Users whose wrong invitation codes are remembered; the last ones."
    )
