"""Tokens (JWT) that identify a caller, verified against the clock of the server (R1)."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from sys import intern
from typing import TypedDict

import jwt
import msgspec

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.ops import Role, role_named
from yoked_actor.domain.people import is_user_id
from yoked_actor.domain.time import MICROSECONDS, Instant
from yoked_actor.edge.auth.key_set import KeySet
from yoked_actor.settings import AuthSettings

_SECRET_FILE = "dev-secret"
_LATEST_S = 253_402_300_799
"""The last second that a time in the protocol can express."""
_MOST_OVERTIME_S = 29.0
"""The longest that a socket outlives its token, whatever the leeway; the contract says 30 s."""
_FARTHEST_S = 1e12
"""Times of a token lie within 30,000 years of 1970."""


class BadToken(Exception):
    """The token does not identify a user; the message says why."""


class UnknownKey(BadToken):
    """The token names a key that is not known, perhaps a new one."""


class NoSigningKey(Exception):
    """The settings give no usable key to verify tokens with."""


class Identity(msgspec.Struct, frozen=True):
    """The caller that a token identifies."""

    user_id: str
    role: Role | None = None
    """The role of an operator; None for every other user."""
    expires_at: Instant = 0
    """The token's `exp`."""


class Tokens:
    """Verifies tokens, and signs them where the key is a shared secret."""

    def __init__(
        self,
        algorithm: str,
        key: str | KeySet,
        *,
        leeway_s: float = 0.0,
        issuer: str = "",
        audience: str = "",
    ) -> None:
        """Issuer and audience, unless empty, are checked, and put into signed tokens."""
        self._algorithm = algorithm
        self._key = key
        self._leeway_s = leeway_s
        self._issuer = issuer
        self._audience = audience

    @classmethod
    def from_settings(cls, auth: AuthSettings, *, dev_data_dir: Path | None) -> Tokens:
        """From the settings; with `dev_data_dir`, a secret is created there if there is none."""
        if auth.jwks_url:
            return cls(auth.algorithm, KeySet(auth), **_checks(auth))
        if auth.algorithm != "HS256":
            try:
                key = Path(auth.public_key_file).read_text()
            except OSError as error:
                reason = f"auth.public_key_file cannot be read: {error.strerror}"
                raise NoSigningKey(f"{reason} ({auth.public_key_file})") from None
            return cls(auth.algorithm, key, **_checks(auth))
        key = auth.secret.get_secret_value()
        if not key and dev_data_dir is not None:
            key = _dev_secret(dev_data_dir)
        if not key:
            raise NoSigningKey(
                "no key to verify tokens with: set auth.secret (or auth.algorithm with"
                " auth.public_key_file), or use --dev on your own machine"
            )
        return cls("HS256", key, **_checks(auth))

    @property
    def can_sign(self) -> bool:
        """Whether tokens can be signed here, not only verified."""
        return self._algorithm == "HS256"

    @property
    def keys(self) -> KeySet | None:
        """The key set, if the keys come from a URL; it must `run` while tokens are verified."""
        return self._key if isinstance(self._key, KeySet) else None

    def check_key(self) -> None:
        """Raise `NoSigningKey` unless the key fits the algorithm."""
        if isinstance(self._key, KeySet):
            return
        try:
            jwt.get_algorithm_by_name(self._algorithm).prepare_key(self._key)
        except (jwt.InvalidKeyError, ValueError, TypeError) as error:
            raise NoSigningKey(f"the key does not fit {self._algorithm}: {error}") from None

    async def check(self, token: str, clock: Clock) -> Identity:
        """As `identify`, now; fetches the key set again for a key that is not known."""
        try:
            return self.identify(token, clock.now())
        except UnknownKey:
            assert isinstance(self._key, KeySet)
            await self._key.refresh()
        return self.identify(token, clock.now())

    def identify(self, token: str, now: Instant) -> Identity:
        """The caller of a token at an instant. Raises `BadToken`, or its subclass `UnknownKey`."""
        now_s = now / MICROSECONDS
        try:
            claims = jwt.decode(
                token,
                self._key_of(token),
                algorithms=[self._algorithm],
                issuer=self._issuer or None,
                audience=self._audience or None,
                # Times are checked below: PyJWT would read the system's clock.
                options={
                    "require": ["sub", "exp"],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                    "verify_aud": bool(self._audience),
                    "verify_iss": bool(self._issuer),
                },
            )
        except jwt.MissingRequiredClaimError as error:
            raise BadToken(f"the token has no {error.claim}") from None
        except jwt.InvalidAudienceError:
            raise BadToken("the token is not for this server") from None
        except jwt.InvalidIssuerError:
            raise BadToken("the token is of another issuer") from None
        except (jwt.InvalidTokenError, ValueError, RecursionError):
            raise BadToken("the token is not valid") from None
        expires = _seconds(claims, "exp")
        if expires is None or expires + self._leeway_s <= now_s:
            raise BadToken("the token has expired")
        not_before = _seconds(claims, "nbf")
        if not_before is not None and not_before - self._leeway_s > now_s:
            raise BadToken("the token is not valid yet")
        user_id = claims["sub"]
        if not isinstance(user_id, str) or not is_user_id(user_id):
            raise BadToken("the token's sub is not the id of a user")
        expires_at = int(min(expires, _LATEST_S) * MICROSECONDS)
        # Interned, as the ids of the store are: a dictionary finds the same object faster.
        return Identity(intern(user_id), role_named(claims.get("role")), expires_at)

    def _key_of(self, token: str) -> str | jwt.PyJWK:
        if not isinstance(self._key, KeySet):
            return self._key
        header = jwt.get_unverified_header(token)
        # A token of another algorithm is refused without fetching keys.
        if header.get("alg") != self._algorithm:
            raise BadToken("the token is not valid")
        key = self._key.find(header.get("kid"))
        if key is None:
            raise UnknownKey("the token is signed with a key that is not known")
        return key

    def ends_at(self, identity: Identity) -> Instant:
        """When a socket that was opened with a token has to end."""
        return identity.expires_at + round(min(self._leeway_s, _MOST_OVERTIME_S) * MICROSECONDS)

    def sign(
        self,
        user_id: str,
        now: Instant,
        ttl_s: float,
        *,
        admin: bool = False,
        role: Role | None = None,
    ) -> str:
        """A token for a user that is valid from `now` for `ttl_s`; `admin` is the role of that."""
        role = Role.ADMIN if admin else role
        now_s = now // MICROSECONDS
        claims: dict[str, object] = {"sub": user_id, "iat": now_s, "exp": now_s + round(ttl_s)}
        if role is not None:
            claims["role"] = role.value
        if self._issuer:
            claims["iss"] = self._issuer
        if self._audience:
            claims["aud"] = self._audience
        assert isinstance(self._key, str)
        return jwt.encode(claims, self._key, algorithm=self._algorithm)


class _Checks(TypedDict):
    leeway_s: float
    issuer: str
    audience: str


def _checks(auth: AuthSettings) -> _Checks:
    return {"leeway_s": auth.leeway_s, "issuer": auth.issuer, "audience": auth.audience}


def _seconds(claims: dict[str, object], name: str) -> float | None:
    """The time in a claim, if the token has it."""
    value = claims.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    # Excludes NaN, which compares with nothing, and integers that do not fit into a float.
    if not -_FARTHEST_S <= value <= _FARTHEST_S:
        raise BadToken(f"the token's {name} is not a time")
    return float(value)


def _dev_secret(data_dir: Path) -> str:
    """A secret in the data directory, so that tokens stay valid after a restart."""
    path = data_dir / _SECRET_FILE
    try:
        return path.read_text()
    except FileNotFoundError:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        secret = secrets.token_urlsafe(48)
        # Renamed when complete: a process that is killed here must not leave half a secret.
        draft = path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secret)
        draft.replace(path)
        return secret
