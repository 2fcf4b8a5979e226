"""One HTTP exchange with a service that the settings name, over httpx.

No redirect is followed, no proxy is used, and a server's certificate is checked against those of
the system. The caller bounds the time with a cancel scope. The transport is called without an
`httpx.AsyncClient`, which adds headers, cookies and time-outs of its own.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import trio

from yoked_actor import __version__

EXCHANGE_FAILURES = (httpx.HTTPError, httpx.InvalidURL)
_HEADERS = {"Connection": "close", "User-Agent": f"yoked-actor/{__version__}"}


@asynccontextmanager
async def exchange(
    method: str,
    url: str,
    headers: dict[str, str],
    body: bytes | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator[httpx.Response]:
    """Send a request over a new connection; read the body, as far as it is wanted, in the block.

    Raises one of `EXCHANGE_FAILURES` when there is no complete response.
    """
    request = httpx.Request(method, url, headers={**_HEADERS, **headers}, content=body)
    async with transport or httpx.AsyncHTTPTransport(verify=_context(request.url)) as opened:
        response = await opened.handle_async_request(request)
        try:
            yield response
        finally:
            await response.aclose()


def in_words(error: Exception) -> str:
    """A failure as text; some failures of httpx have no text of their own."""
    return str(error) or type(error).__name__


async def read_body(response: httpx.Response, most_bytes: int) -> bytes:
    """The body, not decoded. Of one with more than `most_bytes` only a beginning is read."""
    body = b""
    # Not `break`: the async generators of httpx would be closed only by the garbage collector.
    with trio.CancelScope() as reading:
        async for part in response.aiter_raw():
            body += part
            if len(body) > most_bytes:
                reading.cancel()
    return body


def _context(url: httpx.URL) -> ssl.SSLContext:
    if url.scheme == "https":
        return ssl.create_default_context()
    # Not used, and without the system's certificates, which take long to load.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
