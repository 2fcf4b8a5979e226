"""The socket of a client: what is sent on it, how it is closed, and the tasks that keep it alive.

The tasks send heartbeats, drop a socket on which the server says nothing, and renew the token.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec
import trio
from trio_websocket import ConnectionClosed, HandshakeError, WebSocketConnection
from wsproto.utilities import LocalProtocolError

from yoked_actor.client.commands import CommandRefused, Commands, ConnectionLost
from yoked_actor.client.reconnects import UNREACHABLE
from yoked_actor.client.tokens import TokenSource, TokenUnavailable

_CLOSE_S = 2.0
_RENEW_AGAIN_S = 10.0
_WELCOME_S = 15.0
SOCKET_ERRORS = (
    ConnectionClosed,
    HandshakeError,
    # trio-websocket answers a ping that comes after its own close frame, which wsproto refuses.
    LocalProtocolError,
    OSError,
    trio.BrokenResourceError,
    trio.TooSlowError,
)


class LiveSocket(Commands):
    """The one socket that a client has at a time, and whether the client is connected by it."""

    def __init__(self, tokens: TokenSource) -> None:
        self._tokens = tokens
        self._socket: WebSocketConnection | None = None
        self._stream: trio.abc.Stream | None = None
        self._connected = trio.Event()
        self._was_silent = False
        self._heard_s = 0.0
        """When the server last said something, on trio's clock."""
        self._count = 0
        self.beating = True
        """Whether the client sends heartbeats."""
        self.heartbeat_every_s = 3.0
        self.lost: ConnectionLost | None = None

    @property
    def is_connected(self) -> bool:
        """Whether the client has been welcomed on a socket that is open."""
        return self._connected.is_set()

    async def _send(self, text: str) -> None:
        # A command that finds no socket is sent after the next welcome.
        if self.lost is not None:
            raise self.lost
        if self._socket is not None and self._connected.is_set():
            with suppress(*SOCKET_ERRORS):
                await self._socket.send_message(text)

    def _next_id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    async def _lose_socket(self) -> None:
        """Close the stream without a close frame."""
        if self._stream is not None:
            await trio.aclose_forcefully(self._stream)

    async def _close_socket(self) -> None:
        # The socket's reader task must run until both sides have closed.
        if self._socket is not None:
            with trio.move_on_after(_CLOSE_S):
                await self._socket.aclose()

    async def _send_heartbeats(self) -> None:
        while True:
            await trio.sleep(self.heartbeat_every_s)
            if self.beating and self._connected.is_set():
                heartbeat = {"type": "heartbeat", "id": self._next_id("b")}
                await self._send(msgspec.json.encode(heartbeat).decode())

    async def _watch_silence(self) -> None:
        """Lose a socket on which the server says nothing: it hangs, or its machine is gone.

        Heartbeats are answered, so two of them are missing then.
        """
        while True:
            if not self.beating:
                self._heard_s = trio.current_time()
            is_connected = self._connected.is_set()
            patience_s = 2 * self.heartbeat_every_s + 2 if is_connected else _WELCOME_S
            until_s = self._heard_s + patience_s
            if trio.current_time() >= until_s:
                self._was_silent = True
                await self._lose_socket()
                return
            await trio.sleep_until(until_s)

    async def _keep_token_fresh(self) -> None:
        """Renew the token before it expires, if there is a provider."""
        await self._connected.wait()
        while self._tokens.can_renew:
            await trio.sleep_until(self._tokens.renew_at)
            try:
                renewed = await self.command("hello", token=await self._tokens.renewed())
            except (CommandRefused, TokenUnavailable):
                self._tokens.try_again_in(_RENEW_AGAIN_S)
            else:
                self._tokens.expires(renewed.expires_at)


def close_reason(group: BaseExceptionGroup[BaseException]) -> tuple[int | None, str | None]:
    """The close code and reason that the server sent, if any error in the group has them."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            found = close_reason(error)
        elif isinstance(error, ConnectionClosed) and error.reason is not None:
            found = (error.reason.code, error.reason.reason)
        else:
            continue
        # trio-websocket gives 1006 to a socket that ended without a close frame.
        if found[0] not in (None, UNREACHABLE):
            return found
    return (None, None)
