"""Who somebody is: tokens signed for us, judged by our own clock (R1)."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import jwt
import msgspec

from yoked_actor.domain.instants import MICROSECONDS, Instant
from yoked_actor.domain.people import is_user_id
from yoked_actor.settings import AuthSettings

ADMIN = "admin"
_SECRET_FILE = "dev-secret"
_FARTHEST_S = 1e12
"""Times of a token lie within 30,000 years of 1970."""


class BadToken(Exception):
    """The token does not say who this is, and why it does not."""


class NoSigningKey(Exception):
    """The settings give no key to judge tokens by."""


class Identity(msgspec.Struct, frozen=True):
    """Who speaks, as a token says."""

    user_id: str
    is_admin: bool = False


class Tokens:
    """Reads tokens, and signs them where the key is a shared secret."""

    def __init__(self, algorithm: str, key: str, *, leeway_s: float = 0.0) -> None:
        self._algorithm = algorithm
        self._key = key
        self._leeway_s = leeway_s

    @classmethod
    def from_settings(cls, auth: AuthSettings, *, dev_data_dir: Path | None) -> Tokens:
        """By the settings; with `dev_data_dir`, a secret of its own is made if there is none."""
        if auth.algorithm != "HS256":
            try:
                key = Path(auth.public_key_file).read_text()
            except OSError as error:
                reason = f"auth.public_key_file cannot be read: {error.strerror}"
                raise NoSigningKey(f"{reason} ({auth.public_key_file})") from None
            return cls(auth.algorithm, key, leeway_s=auth.leeway_s)
        key = auth.secret.get_secret_value()
        if not key and dev_data_dir is not None:
            key = _dev_secret(dev_data_dir)
        if not key:
            raise NoSigningKey(
                "no key to judge tokens by: set auth.secret (or auth.algorithm with"
                " auth.public_key_file), or use --dev on your own machine"
            )
        return cls("HS256", key, leeway_s=auth.leeway_s)

    @property
    def can_sign(self) -> bool:
        """Whether tokens can be made here, not only judged."""
        return self._algorithm == "HS256"

    def check_key(self) -> None:
        """See that tokens could be judged by the key, or raise `NoSigningKey`."""
        try:
            jwt.get_algorithm_by_name(self._algorithm).prepare_key(self._key)
        except (jwt.InvalidKeyError, ValueError, TypeError) as error:
            raise NoSigningKey(f"the key does not fit {self._algorithm}: {error}") from None

    def identify(self, token: str, now: Instant) -> Identity:
        """Who a token speaks for at an instant, or `BadToken`."""
        now_s = now / MICROSECONDS
        try:
            claims = jwt.decode(
                token,
                self._key,
                algorithms=[self._algorithm],
                # Times are checked below: the library would read the system's clock.
                options={
                    "require": ["sub", "exp"],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                    "verify_aud": False,
                },
            )
        except jwt.MissingRequiredClaimError as error:
            raise BadToken(f"the token has no {error.claim}") from None
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
        return Identity(user_id, claims.get("role") == ADMIN)

    def sign(self, user_id: str, now: Instant, ttl_s: float, *, admin: bool = False) -> str:
        """A token that speaks for a user from now on, for so long."""
        now_s = now // MICROSECONDS
        claims: dict[str, object] = {"sub": user_id, "iat": now_s, "exp": now_s + round(ttl_s)}
        if admin:
            claims["role"] = ADMIN
        return jwt.encode(claims, self._key, algorithm=self._algorithm)


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
