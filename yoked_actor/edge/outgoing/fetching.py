"""Fetches a small document from a service that the settings name."""

from __future__ import annotations

import httpx

from yoked_actor.edge.outgoing.exchange import EXCHANGE_FAILURES, exchange, in_words, read_body


class FetchFailed(Exception):
    """The document was not received; the message says why."""


async def fetch(
    url: str, most_bytes: int, transport: httpx.AsyncBaseTransport | None = None
) -> bytes:
    """The document at a URL. Raises `FetchFailed` unless the answer is a 200 of that size."""
    headers = {"Accept": "application/json"}
    try:
        async with exchange("GET", url, headers, transport=transport) as response:
            if response.status_code != 200:
                raise FetchFailed(f"the answer is {response.status_code}")
            body = await read_body(response, most_bytes)
    except EXCHANGE_FAILURES as error:
        raise FetchFailed(f"it cannot be reached: {in_words(error)}") from error
    if len(body) > most_bytes:
        raise FetchFailed(f"the answer has more than {most_bytes} bytes")
    return body
