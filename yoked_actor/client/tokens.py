"""Where a client has its token from: given once, or asked for whenever the last one ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import trio

TokenProvider = Callable[[], Awaitable[str]]
"""Returns a token of the user that is good from now on."""

_LONGEST_MARGIN_S = 60.0
_MARGIN_SHARE = 0.2


class TokenUnavailable(OSError):
    """The provider has raised an error; it is asked again later."""


class TokenSource:
    """The token to speak with now."""

    def __init__(self, token: str | TokenProvider) -> None:
        self._provider = None if isinstance(token, str) else token
        self._token = token if isinstance(token, str) else None
        self._renew_at = float("inf")
        self._server_ahead_s = 0.0

    @property
    def can_renew(self) -> bool:
        """Whether there will be another token when this one has ended."""
        return self._provider is not None

    @property
    def renew_at(self) -> float:
        """When, on trio's clock, the token should be renewed."""
        return self._renew_at if self.can_renew else float("inf")

    async def current(self) -> str:
        """The token; a new one when the last should be renewed by now."""
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
        """The server does not take the token: ask for another one."""
        if self._provider is not None:
            self._token = None

    def set_server_time(self, at: str) -> None:
        """The server has said what time it is: tokens are judged by its clock, not by ours."""
        self._server_ahead_s = _timestamp(at) - trio.current_time()

    def expires(self, expires_at: str) -> None:
        """The server has said when the token ends."""
        left_s = _timestamp(expires_at) - self._server_ahead_s - trio.current_time()
        margin_s = min(_LONGEST_MARGIN_S, _MARGIN_SHARE * left_s)
        self._renew_at = trio.current_time() + max(0.0, left_s - margin_s)

    def try_again_in(self, seconds: float) -> None:
        """It could not be renewed just now."""
        self._renew_at = trio.current_time() + seconds


def _timestamp(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
