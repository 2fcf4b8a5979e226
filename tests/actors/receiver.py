"""Somebody who is told of alerts: a small HTTP server on memory streams, with moods."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

import h11
import msgspec
import trio
from trio.testing import memory_stream_pair

SECRET = "what we and they know"
URL = "http://ops.test:8099/hooks/yoked?to=ops"


class Request(msgspec.Struct):
    """What has come."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    is_taken: bool

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Receiver:
    """Takes what is told, unless in `trouble`: refuses, is_silent, fails, redirects, babbles."""

    def __init__(self, trouble: str | None = None) -> None:
        self.trouble = trouble
        self.requests: list[Request] = []
        self.attempts = 0

    def news(self) -> list[Any]:
        """What it was told and has taken, each with a good signature."""
        for request in self.requests:
            expected = hmac.new(SECRET.encode(), request.body, hashlib.sha256).hexdigest()
            assert request.headers["x-yoked-signature"] == f"sha256={expected}"
        return [request.json() for request in self.requests if request.is_taken]

    async def dial(self, host: str, port: int, is_secure: bool) -> trio.abc.Stream:
        """Open a stream to it, as the webhook does."""
        await trio.lowlevel.checkpoint()
        assert (host, port, is_secure) == ("ops.test", 8099, False)
        self.attempts += 1
        if self.trouble == "refuses":
            raise ConnectionRefusedError("nobody is listening")
        ours, theirs = memory_stream_pair()
        # Of nobody's nursery: a test that ends has nothing to wait for here.
        trio.lowlevel.spawn_system_task(self._serve, theirs)
        return ours

    async def _serve(self, stream: trio.abc.Stream) -> None:
        connection, request, body = h11.Connection(h11.SERVER), None, b""
        trouble = self.trouble
        try:
            while True:
                event = connection.next_event()
                if event is h11.NEED_DATA:
                    connection.receive_data(bytes(await stream.receive_some()))
                elif isinstance(event, h11.Request):
                    request = event
                elif isinstance(event, h11.Data):
                    body += event.data
                elif isinstance(event, h11.EndOfMessage):
                    break
                else:
                    return
            assert request is not None
            headers = {name.decode(): value.decode() for name, value in request.headers}
            self.requests.append(
                Request(
                    request.method.decode(),
                    request.target.decode(),
                    headers,
                    body,
                    is_taken=trouble is None,
                )
            )
            if trouble == "is_silent":
                while await stream.receive_some():
                    pass
                return
            if trouble == "babbles":
                await stream.send_all(b"x" * 100_000)
                return
            status = {None: 204, "fails": 500, "redirects": 301}[trouble]
            more = [("Location", "http://elsewhere.test/")] if trouble == "redirects" else []
            more.append(("X-Request-Id", f"request-{len(self.requests)}"))
            answer = h11.Response(status_code=status, headers=[("Connection", "close"), *more])
            await stream.send_all(connection.send(answer) or b"")
            if status != 204:
                await stream.send_all(connection.send(h11.Data(data=b"no, \x00\n")) or b"")
            await stream.send_all(connection.send(h11.EndOfMessage()) or b"")
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            await stream.aclose()
