"""Settings of tokens: `[auth]`."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from yoked_actor.settings.base import (
    WEBHOOK_URL,
    Bytes,
    Conflict,
    Duration,
    DurationOrZero,
    SettingsModel,
)


class AuthSettings(SettingsModel):
    """How tokens are signed and checked."""

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
        description="The URL of a JSON Web Key Set with the public keys of EdDSA or RS256. It"
        " replaces public_key_file, and needs issuer and audience.",
    )
    jwks_refresh_s: Duration = Field(
        3600.0, description="How often the keys of jwks_url are fetched again."
    )
    jwks_retry_s: Duration = Field(
        30.0,
        description="The shortest time between two fetches, after a failure or for unknown keys.",
    )
    jwks_timeout_s: Duration = Field(5.0, description="How long a fetch may take.")
    jwks_max_bytes: Bytes = Field(65536, description="The largest response that is read.")
    issuer: str = Field(
        "",
        description="The `iss` that a token must have. Empty: any. Set it when tokens are signed"
        " with a key pair.",
    )
    audience: str = Field(
        "",
        description="What a token's `aud` must be or contain. Empty: any. Set it when tokens are"
        " signed with a key pair: otherwise tokens made for other services are accepted.",
    )
    dev_token_ttl_s: Duration = Field(
        86400.0, description="How long a token of the development login is valid."
    )
    leeway_s: DurationOrZero = Field(
        0.0,
        description="How long after its expiry a token is still accepted, for clocks that differ."
        " An open socket is closed within 30 seconds of the expiry in any case.",
    )

    def unchecked_claims(self) -> list[str]:
        """The settings that are missing to reject tokens made for other services.

        The secret of HS256 is only for this server; a key pair may sign tokens for others, too.
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


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
