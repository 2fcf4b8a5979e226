"""An identity provider: signs tokens, and serves its public keys on memory streams."""

from __future__ import annotations

import json
from typing import Any

import h11
import jwt
import trio
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from jwt.algorithms import OKPAlgorithm, RSAAlgorithm
from trio.testing import memory_stream_pair

from yoked_actor.settings import AuthSettings

URL = "https://id.test/keys?v=1"
ISSUER, AUDIENCE = "https://id.test", "dates"
PrivateKey = ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


def auth_settings(**more: Any) -> AuthSettings:
    given = {"algorithm": "EdDSA", "jwks_url": URL, "issuer": ISSUER, "audience": AUDIENCE}
    return AuthSettings(**given | more)


class KeyServer:
    """Serves `document`, or what `trouble` says: refuses, is_silent, fails, redirects, is_cut."""

    def __init__(self) -> None:
        self.trouble: str | None = None
        self.fetches = 0
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

    async def dial(self, host: str, port: int, is_secure: bool) -> trio.abc.Stream:
        await trio.lowlevel.checkpoint()
        assert (host, port, is_secure) == ("id.test", 443, True)
        self.fetches += 1
        if self.trouble == "refuses":
            raise ConnectionRefusedError("nobody is listening")
        ours, theirs = memory_stream_pair()
        trio.lowlevel.spawn_system_task(self._serve, theirs)
        return ours

    async def _serve(self, stream: trio.abc.Stream) -> None:
        connection = h11.Connection(h11.SERVER)
        async with stream:
            while not isinstance(event := connection.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    connection.receive_data(bytes(await stream.receive_some()))
                elif isinstance(event, h11.Request):
                    assert (event.method, event.target) == (b"GET", b"/keys?v=1")
            if self.trouble == "is_silent":
                await trio.sleep(3600)
            body = self.document if isinstance(self.document, bytes) else _json(self.document)
            status = {"fails": 500, "redirects": 302}.get(self.trouble or "", 200)
            headers = [("Content-Length", str(len(body))), ("Location", "https://evil.test/")]
            out = connection.send(h11.Response(status_code=status, headers=headers)) or b""
            if self.trouble == "is_cut":
                body = body[: len(body) // 2]
            out += connection.send(h11.Data(data=body)) or b""
            try:
                await stream.send_all(out)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return


def public(key: PrivateKey) -> dict[str, Any]:
    """The public half of a key, as a set of keys has it."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return dict(OKPAlgorithm.to_jwk(key.public_key(), as_dict=True))
    return dict(RSAAlgorithm.to_jwk(key.public_key(), as_dict=True))


def _json(document: Any) -> bytes:
    return json.dumps(document).encode()
