"""Who somebody is: tokens signed for us, judged by our own clock (R1)."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TypedDict

import jwt
import msgspec

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.people import is_user_id
from yoked_actor.domain.time import MICROSECONDS, Instant
from yoked_actor.edge.auth.key_set import KeySet
from yoked_actor.settings import AuthSettings

ADMIN = "admin"
_SECRET_FILE = "dev-secret"
_LATEST_S = 253_402_300_799
"""The last second that a wire time can show."""
_MOST_OVERTIME_S = 29.0
"""How long a socket outlives its token at most, whatever the leeway; the contract says 30 s."""
_FARTHEST_S = 1e12
"""Times of a token lie within 30,000 years of 1970."""


class BadToken(Exception):
    """The token does not say who this is, and why it does not."""


class UnknownKey(BadToken):
    """The token names a key that is not known; it may be a new one."""


class NoSigningKey(Exception):
    """The settings give no key to judge tokens by."""


class Identity(msgspec.Struct, frozen=True):
    """Who speaks, as a token says."""

    user_id: str
    is_admin: bool = False
    expires_at: Instant = 0
    """The token's `exp`."""


class Tokens:
    """Reads tokens, and signs them where the key is a shared secret."""

    def __init__(
        self,
        algorithm: str,
        key: str | KeySet,
        *,
        leeway_s: float = 0.0,
        issuer: str = "",
        audience: str = "",
    ) -> None:
        """Issuer and audience are checked, and put into what is signed, unless empty."""
        self._algorithm = algorithm
        self._key = key
        self._leeway_s = leeway_s
        self._issuer = issuer
        self._audience = audience

    @classmethod
    def from_settings(cls, auth: AuthSettings, *, dev_data_dir: Path | None) -> Tokens:
        """By the settings; with `dev_data_dir`, a secret of its own is made if there is none."""
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
                "no key to judge tokens by: set auth.secret (or auth.algorithm with"
                " auth.public_key_file), or use --dev on your own machine"
            )
        return cls("HS256", key, **_checks(auth))

    @property
    def can_sign(self) -> bool:
        """Whether tokens can be made here, not only judged."""
        return self._algorithm == "HS256"

    @property
    def keys(self) -> KeySet | None:
        """The keys by URL, if that is where they are; `run` them while tokens are judged."""
        return self._key if isinstance(self._key, KeySet) else None

    def check_key(self) -> None:
        """See that tokens could be judged by the key, or raise `NoSigningKey`."""
        if isinstance(self._key, KeySet):
            return
        try:
            jwt.get_algorithm_by_name(self._algorithm).prepare_key(self._key)
        except (jwt.InvalidKeyError, ValueError, TypeError) as error:
            raise NoSigningKey(f"the key does not fit {self._algorithm}: {error}") from None

    async def check(self, token: str, clock: Clock) -> Identity:
        """As `identify`, now; for a key that is not known the set of keys is fetched again."""
        try:
            return self.identify(token, clock.now())
        except UnknownKey:
            assert isinstance(self._key, KeySet)
            await self._key.refresh()
        return self.identify(token, clock.now())

    def identify(self, token: str, now: Instant) -> Identity:
        """Who a token speaks for at an instant, or `BadToken`; `UnknownKey` for its kind."""
        now_s = now / MICROSECONDS
        try:
            claims = jwt.decode(
                token,
                self._key_of(token),
                algorithms=[self._algorithm],
                issuer=self._issuer or None,
                audience=self._audience or None,
                # Times are checked below: the library would read the system's clock.
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
        return Identity(user_id, claims.get("role") == ADMIN, expires_at)

    def _key_of(self, token: str) -> str | jwt.PyJWK:
        if not isinstance(self._key, KeySet):
            return self._key
        header = jwt.get_unverified_header(token)
        # A token of another kind is refused, and is no reason to fetch anything.
        if header.get("alg") != self._algorithm:
            raise BadToken("the token is not valid")
        key = self._key.find(header.get("kid"))
        if key is None:
            raise UnknownKey("the token is signed with a key that is not known")
        return key

    def ends_at(self, identity: Identity) -> Instant:
        """When a socket that was opened with a token has to end."""
        return identity.expires_at + round(min(self._leeway_s, _MOST_OVERTIME_S) * MICROSECONDS)

    def sign(self, user_id: str, now: Instant, ttl_s: float, *, admin: bool = False) -> str:
        """A token that speaks for a user from now on, for so long."""
        now_s = now // MICROSECONDS
        claims: dict[str, object] = {"sub": user_id, "iat": now_s, "exp": now_s + round(ttl_s)}
        if admin:
            claims["role"] = ADMIN
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
    """A time of the token, if it has one."""
    value = claims.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    # NaN is neither before nor after anything, and not every whole number fits into a float.
    if not -_FARTHEST_S <= value <= _FARTHEST_S:
        raise BadToken(f"the token's {name} is not a time")
    return float(value)


def _dev_secret(data_dir: Path) -> str:
    """A secret kept in the data directory, so that tokens outlive a restart."""
    path = data_dir / _SECRET_FILE
    try:
        return path.read_text()
    except FileNotFoundError:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        secret = secrets.token_urlsafe(48)
        # Whole or not at all: a start that is killed here must not leave half a secret.
        draft = path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_text(secret)
        draft.replace(path)
        return secret
