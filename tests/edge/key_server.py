"""An identity provider: signs tokens, and serves its public keys."""

from __future__ import annotations

import json
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from jwt.algorithms import OKPAlgorithm, RSAAlgorithm

from tests.http_server import MemoryServer, Reply, Request
from yoked_actor.settings import AuthSettings

URL = "https://id.test/keys?v=1"
ISSUER, AUDIENCE = "https://id.test", "dates"
PrivateKey = ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


def auth_settings(**more: Any) -> AuthSettings:
    given = {"algorithm": "EdDSA", "jwks_url": URL, "issuer": ISSUER, "audience": AUDIENCE}
    return AuthSettings(**given | more)


class KeyServer(MemoryServer):
    """Serves `document`, or what `trouble` says: refuses, is_silent, fails, redirects, is_cut."""

    def __init__(self) -> None:
        super().__init__(("https", "id.test", 443))
        self.private: dict[str, PrivateKey] = {}
        self.document: Any = {"keys": []}

    def add(self, kid: str, key: PrivateKey | None = None, **fields: Any) -> None:
        """Publish one more key."""
        key = ed25519.Ed25519PrivateKey.generate() if key is None else key
        self.private[kid] = key
        self.document["keys"].append({**public(key), "kid": kid, **fields})

    def sign(self, kid: str, exp: float, *, header: Any = None, **claims: Any) -> str:
        """A token for our service, signed with one of the keys."""
        key = self.private[kid]
        algorithm = "EdDSA" if isinstance(key, ed25519.Ed25519PrivateKey) else "RS256"
        given = {"sub": "ana", "exp": exp, "iss": ISSUER, "aud": AUDIENCE} | claims
        return jwt.encode(given, key, algorithm, headers={"kid": kid} if header is None else header)

    def reply(self, request: Request) -> Reply:
        assert (request.method, request.target) == ("GET", "/keys?v=1")
        body = self.document if isinstance(self.document, bytes) else _json(self.document)
        status = {"fails": 500, "redirects": 302}.get(self.trouble or "", 200)
        headers = [("Content-Length", str(len(body))), ("Location", "https://evil.test/")]
        cut_at = len(body) // 2 if self.trouble == "is_cut" else None
        return Reply(status, headers, body, cut_at)


def public(key: PrivateKey) -> dict[str, Any]:
    """The public half of a key, as a set of keys has it."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return dict(OKPAlgorithm.to_jwk(key.public_key(), as_dict=True))
    return dict(RSAAlgorithm.to_jwk(key.public_key(), as_dict=True))


def _json(document: Any) -> bytes:
    return json.dumps(document).encode()
