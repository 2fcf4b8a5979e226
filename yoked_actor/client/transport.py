"""An httpx transport over the streams that a `Dial` opens: one stream for each request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx
import trio

from yoked_actor.client.dialing import Dial


class DialTransport(httpx.AsyncBaseTransport):
    """Sends each request over a new stream. Errors of the stream are raised as they are."""

    def __init__(self, dial: Dial) -> None:
        self._dial = dial

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the stream is closed with the response."""
        url = request.url
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        stream = await self._dial()
        connection = httpcore.AsyncHTTP11Connection(sent.url.origin, _NetworkStream(stream))
        with _httpx_errors():
            received = await connection.handle_async_request(sent)
        return httpx.Response(
            status_code=received.status,
            headers=received.headers,
            stream=_Body(received, connection),
            extensions=received.extensions,
        )


class _NetworkStream(httpcore.AsyncNetworkStream):
    """A trio stream as httpcore reads and writes it. Time-outs are the caller's cancel scopes."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        return bytes(await self._stream.receive_some(max_bytes))

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if buffer:
            await self._stream.send_all(buffer)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def get_extra_info(self, info: str) -> Any:
        return None


class _Body(httpx.AsyncByteStream):
    def __init__(
        self, response: httpcore.Response, connection: httpcore.AsyncHTTP11Connection
    ) -> None:
        self._response = response
        self._connection = connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _httpx_errors():
            async for part in self._response.aiter_stream():
                yield part

    async def aclose(self) -> None:
        await self._connection.aclose()


@contextmanager
def _httpx_errors() -> Iterator[None]:
    try:
        yield
    except httpcore.RemoteProtocolError as error:
        raise httpx.RemoteProtocolError(str(error)) from error
