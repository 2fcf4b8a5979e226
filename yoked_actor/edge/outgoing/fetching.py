"""One GET over a stream of our own: small documents of services that the operator has named.

No redirect is followed, and nothing is read beyond the size that the caller allows. The caller
bounds the time with a cancel scope.
"""

from __future__ import annotations

from urllib.parse import urlsplit

import h11
import trio

from yoked_actor import __version__
from yoked_actor.edge.outgoing.webhook import MOST_HEAD_BYTES, Dial


class FetchFailed(Exception):
    """There is no document, and why."""


async def fetch(url: str, dial: Dial, most_bytes: int) -> bytes:
    """The document at a URL. Raises `FetchFailed` unless the answer is a 200 of that size."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    is_secure = parts.scheme == "https"
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        stream = await dial(parts.hostname, parts.port or (443 if is_secure else 80), is_secure)
        try:
            return await _get(stream, parts.netloc, target, most_bytes)
        finally:
            await trio.aclose_forcefully(stream)
    except (OSError, trio.BrokenResourceError, h11.RemoteProtocolError) as error:
        raise FetchFailed(f"it cannot be reached: {error!r}") from error


async def _get(stream: trio.abc.Stream, authority: str, target: str, most_bytes: int) -> bytes:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD_BYTES)
    headers = [
        ("Host", authority),
        ("Connection", "close"),
        ("Accept", "application/json"),
        ("User-Agent", f"yoked-actor/{__version__}"),
    ]
    request = h11.Request(method="GET", target=target, headers=headers)
    sent = (connection.send(request) or b"") + (connection.send(h11.EndOfMessage()) or b"")
    await stream.send_all(sent)
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(bytes(await stream.receive_some(MOST_HEAD_BYTES)))
        elif isinstance(event, h11.Response):
            if event.status_code != 200:
                raise FetchFailed(f"the answer is {event.status_code}")
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
            if len(body) > most_bytes:
                raise FetchFailed(f"the answer has more than {most_bytes} bytes")
        elif isinstance(event, h11.EndOfMessage):
            return body
        elif not isinstance(event, h11.InformationalResponse):
            raise FetchFailed("the connection was closed before the end of the answer")
