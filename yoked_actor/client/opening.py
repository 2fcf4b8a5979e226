"""Opening and closing a client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from yoked_actor.client.dialing import Address, Dial
from yoked_actor.client.live import Client
from yoked_actor.client.tokens import TokenProvider


@asynccontextmanager
async def open_client(
    url: str, token: str | TokenProvider, *, dial: Dial | None = None
) -> AsyncIterator[Client]:
    """Connect a user; the socket is closed on exit. `dial` opens streams of another kind.

    `token` may be an async function that returns a token: it is called for the first one, and
    again before each expires. With a plain token the connection ends with it (4003).

    Raises `ConnectionLost` when there is no server, or when it does not accept this user.
    """
    address = Address.parse(url)
    client = Client(address, dial or address.dial(), token)
    failed: BaseException | None = None
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(client.run)
            try:
                await client.wait_connected()
                yield client
            except BaseException as error:
                failed = error
                raise
            await client.close()
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # The task of the client is an implementation detail: raise the caller's error as it is.
        if failed is not None and group.exceptions == (failed,):
            raise failed from failed.__cause__
        raise
