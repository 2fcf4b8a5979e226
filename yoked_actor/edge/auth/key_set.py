"""The public keys of an identity provider, from a URL (a JSON Web Key Set, RFC 7517).

The set is fetched at the start and then periodically. A token with an unknown `kid` causes a fetch
at once, but fetches are at least `jwks_retry_s` apart. When a fetch fails, the last good set stays
in use. Only keys for the algorithm of the settings are kept, and only their public parts are read:
a symmetric key is never accepted.
"""

from __future__ import annotations

from typing import Any

import httpx
import jwt
import msgspec
import structlog
import trio

from yoked_actor.edge.outgoing import FetchFailed, fetch
from yoked_actor.settings import AuthSettings

_log = structlog.get_logger()

MOST_KEYS = 100
_LEAST_RSA_BITS = 2048
_KINDS = {"RS256": ("RSA", ("n", "e")), "EdDSA": ("OKP", ("crv", "x"))}
"""For each algorithm: the type of its keys, and their public parts."""


class KeySet:
    """Keys by their `kid`; `run` fetches them periodically."""

    def __init__(
        self, auth: AuthSettings, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._url = auth.jwks_url
        self._algorithm = auth.algorithm
        self._settings = auth
        self._transport = transport
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._lock = trio.Lock()
        self._next_try_at = -float("inf")
        self._is_fresh = False

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, kid: str | None) -> jwt.PyJWK | None:
        """The key of a token; without a `kid`, the key of a set that has only one."""
        if kid is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(kid)

    async def run(self) -> None:
        """Fetch the set periodically until cancelled."""
        while True:
            await self.refresh()
            settings = self._settings
            await trio.sleep(settings.jwks_refresh_s if self._is_fresh else settings.jwks_retry_s)

    async def refresh(self) -> None:
        """Fetch the set, unless that was tried less than `jwks_retry_s` ago. Failures are logged.

        Callers during a fetch wait for its end.
        """
        async with self._lock:
            if trio.current_time() < self._next_try_at:
                return
            self._next_try_at = trio.current_time() + self._settings.jwks_retry_s
            self._is_fresh = False
            try:
                with trio.fail_after(self._settings.jwks_timeout_s):
                    text = await fetch(self._url, self._settings.jwks_max_bytes, self._transport)
                keys = usable_keys(text, self._algorithm)
            except (FetchFailed, trio.TooSlowError) as error:
                reason = str(error) or f"no answer within {self._settings.jwks_timeout_s:g} s"
                _log.error("keys_not_fetched", url=self._url, reason=reason, kept=len(self._keys))
                return
            self._keys, self._is_fresh = keys, True
            _log.info("keys_fetched", url=self._url, keys=len(keys))


def usable_keys(text: bytes, algorithm: str) -> dict[str | None, jwt.PyJWK]:
    """The keys of a set that fit the algorithm. Raises `FetchFailed` when there are none."""
    try:
        entries = msgspec.json.decode(text, type=dict[str, Any])["keys"]
    except (msgspec.DecodeError, KeyError, RecursionError, UnicodeDecodeError):
        raise FetchFailed("the answer is not a set of keys") from None
    if not isinstance(entries, list) or len(entries) > MOST_KEYS:
        raise FetchFailed(f"the answer is not a list of at most {MOST_KEYS} keys")
    keys: dict[str | None, jwt.PyJWK] = {}
    for entry in entries:
        key = _usable(entry, algorithm)
        if key is not None:
            keys[key.key_id] = key
    if not keys:
        raise FetchFailed(f"the set has no key for {algorithm}")
    return keys


def _usable(entry: Any, algorithm: str) -> jwt.PyJWK | None:
    """The key of an entry, if it can verify tokens of the algorithm; otherwise None."""
    kind, parts = _KINDS[algorithm]
    if not isinstance(entry, dict) or entry.get("kty") != kind:
        return None
    kid = entry.get("kid")
    if entry.get("use", "sig") != "sig" or entry.get("alg", algorithm) != algorithm:
        return None
    if kid is not None and not isinstance(kid, str):
        return None
    public = {"kty": kind} | {part: entry.get(part) for part in parts}
    if kid is not None:
        public["kid"] = kid
    try:
        key = jwt.PyJWK(public, algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    if algorithm == "RS256" and key.key.key_size < _LEAST_RSA_BITS:
        return None
    return key
