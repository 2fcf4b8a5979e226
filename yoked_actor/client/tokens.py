"""The token of a client: given once, or requested from a provider whenever one expires."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import trio

TokenProvider = Callable[[], Awaitable[str]]
"""Returns a token of the user that is valid from now on."""

_LONGEST_MARGIN_S = 60.0
_MARGIN_SHARE = 0.2


class TokenUnavailable(OSError):
    """The provider has raised an error; it is called again later."""


class TokenSource:
    """Holds the current token, and knows when to renew it."""

    def __init__(self, token: str | TokenProvider) -> None:
        self._provider = None if isinstance(token, str) else token
        self._token = token if isinstance(token, str) else None
        self._renew_at = float("inf")
        self._server_ahead_s = 0.0

    @property
    def can_renew(self) -> bool:
        """Whether there is a provider of new tokens."""
        return self._provider is not None

    @property
    def renew_at(self) -> float:
        """When, on trio's clock, the token should be renewed."""
        return self._renew_at if self.can_renew else float("inf")

    async def current(self) -> str:
        """The token; a new one when it is time to renew it."""
        if self._token is None or trio.current_time() >= self.renew_at:
            return await self.renewed()
        return self._token

    async def renewed(self) -> str:
        """A new token, if there is a provider. Raises `TokenUnavailable` when it fails."""
        if self._provider is not None:
            try:
                self._token = await self._provider()
            except Exception as error:
                raise TokenUnavailable(f"no new token: {error!r}") from error
            self._renew_at = float("inf")
        assert self._token is not None
        return self._token

    def forget(self) -> None:
        """The server does not accept the token: request another one."""
        if self._provider is not None:
            self._token = None

    def set_server_time(self, at: str) -> None:
        """Note the server's time: tokens expire by its clock."""
        self._server_ahead_s = _timestamp(at) - trio.current_time()

    def expires(self, expires_at: str) -> None:
        """Note when the token expires, by the server's clock."""
        left_s = _timestamp(expires_at) - self._server_ahead_s - trio.current_time()
        margin_s = min(_LONGEST_MARGIN_S, _MARGIN_SHARE * left_s)
        self._renew_at = trio.current_time() + max(0.0, left_s - margin_s)

    def try_again_in(self, seconds: float) -> None:
        """Renew after so many seconds: it has failed now."""
        self._renew_at = trio.current_time() + seconds


def _timestamp(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
