"""An HTTP server on memory streams, in the form of the httpx transport that reaches it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import h11
import httpx
import msgspec
import trio
from trio.testing import memory_stream_pair

from yoked_actor.client.transport import DialTransport


class Request(msgspec.Struct):
    """A request that has arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    is_taken: bool

    def json(self) -> Any:
        return msgspec.json.decode(self.body)


class Reply(msgspec.Struct):
    """What is sent back: `cut_at` closes the stream after so many bytes of the body."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""
    cut_at: int | None = None


class MemoryServer(httpx.AsyncBaseTransport, ABC):
    """Answers with `reply`, unless in `trouble`: refuses, is_silent, babbles."""

    def __init__(self, origin: tuple[str, str, int], trouble: str | None = None) -> None:
        self._origin = origin
        self._streams = DialTransport(self._open_stream)
        self.trouble = trouble
        self.requests: list[Request] = []
        self.attempts = 0

    @abstractmethod
    def reply(self, request: Request) -> Reply:
        """The answer to a request."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await trio.lowlevel.checkpoint()
        port = request.url.port or {"http": 80, "https": 443}[request.url.scheme]
        assert (request.url.scheme, request.url.host, port) == self._origin
        self.attempts += 1
        if self.trouble == "refuses":
            raise httpx.ConnectError("nobody is listening")
        return await self._streams.handle_async_request(request)

    async def _open_stream(self) -> trio.abc.Stream:
        ours, theirs = memory_stream_pair()
        # In no nursery of the test, which then has nothing to wait for at its end.
        trio.lowlevel.spawn_system_task(self._serve, theirs)
        return ours

    async def _serve(self, stream: trio.abc.Stream) -> None:
        connection, trouble = h11.Connection(h11.SERVER), self.trouble
        try:
            request = await _receive(connection, stream, is_taken=trouble is None)
            if request is None:
                return
            self.requests.append(request)
            if trouble == "is_silent":
                while await stream.receive_some():
                    pass
            elif trouble == "babbles":
                await stream.send_all(b"x" * 100_000)
            else:
                await _send(connection, stream, self.reply(request))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            await stream.aclose()


async def _receive(
    connection: h11.Connection, stream: trio.abc.Stream, *, is_taken: bool
) -> Request | None:
    head, body = None, b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(bytes(await stream.receive_some()))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage):
            break
        else:
            return None
    assert head is not None
    headers = {name.decode(): value.decode() for name, value in head.headers}
    return Request(head.method.decode(), head.target.decode(), headers, body, is_taken)


async def _send(connection: h11.Connection, stream: trio.abc.Stream, reply: Reply) -> None:
    head = h11.Response(status_code=reply.status, headers=reply.headers)
    await stream.send_all(connection.send(head) or b"")
    if reply.body:
        part = reply.body[: reply.cut_at]
        await stream.send_all(connection.send(h11.Data(data=part)) or b"")
    if reply.cut_at is None:
        await stream.send_all(connection.send(h11.EndOfMessage()) or b"")
