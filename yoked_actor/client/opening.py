"""Opening and closing a client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import trio

from yoked_actor.client.dialing import Address, Dial, DialTo
from yoked_actor.client.live import Client
from yoked_actor.client.routing import MOST_HOPS, Route
from yoked_actor.client.tokens import TokenProvider


@asynccontextmanager
async def open_client(
    url: str,
    token: str | TokenProvider,
    *,
    dial: Dial | None = None,
    dial_to: DialTo | None = None,
    others: Sequence[str] = (),
    hops: int = MOST_HOPS,
    room: str | None = None,
    code: str | None = None,
) -> AsyncIterator[Client]:
    """Connect a user; the socket is closed on exit. `dial` opens streams of another kind to `url`,
    `dial_to` to any address.

    `others` are URLs of other nodes of the same service, for when `url` cannot be reached. The
    client follows `moved` at most `hops` times in a row.

    `room` is the room to enter, with the invitation `code` if it needs one; the server may refuse
    it with `RoomRefused`. Without it the user is where they were, or in `main`.

    `token` may be an async function that returns a token: it is called for the first one, and
    again before each expires. With a plain token the connection ends with it (4003).

    Raises `ConnectionLost` when there is no server, or when it does not accept this user.
    """
    home, given = Address.parse(url), dial

    def dial_anywhere(address: Address) -> Dial:
        if dial_to is not None:
            return dial_to(address)
        return given if given is not None and address == home else address.dial()

    client = Client(Route([url, *others], hops), dial_anywhere, token, room, code)
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
