"""A receiver of alerts."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from tests.http_server import MemoryServer, Reply, Request

SECRET = "what we and they know"
URL = "http://ops.test:8099/hooks/yoked?to=ops"


class Receiver(MemoryServer):
    """Takes alerts, unless in `trouble`: refuses, is_silent, fails, redirects, babbles."""

    def __init__(self, trouble: str | None = None) -> None:
        super().__init__(("http", "ops.test", 8099), trouble)

    def news(self) -> list[Any]:
        """The alerts that it has taken, each with a good signature."""
        for request in self.requests:
            expected = hmac.new(SECRET.encode(), request.body, hashlib.sha256).hexdigest()
            assert request.headers["x-yoked-signature"] == f"sha256={expected}"
        return [request.json() for request in self.requests if request.is_taken]

    def reply(self, request: Request) -> Reply:
        trouble = None if request.is_taken else self.trouble
        status = {None: 204, "fails": 500, "redirects": 301}[trouble]
        headers = [("Connection", "close"), ("X-Request-Id", f"request-{len(self.requests)}")]
        if trouble == "redirects":
            headers.append(("Location", "http://elsewhere.test/"))
        return Reply(status, headers, b"" if status == 204 else b"no, \x00\n")
