"""When a client reconnects after its socket was closed, and when it gives up."""

from __future__ import annotations

from typing import Any

from yoked_actor.client.commands import ConnectionLost, Suspended
from yoked_actor.client.tokens import TokenSource
from yoked_actor.wire.close_codes import CloseCode

UNREACHABLE = CloseCode.ABNORMAL_CLOSURE
_FINAL_CODES = frozenset({UNREACHABLE, CloseCode.REPLACED, CloseCode.UNAUTHORIZED})
_MOST_PROTOCOL_ERRORS = 3
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
_EXPIRED = "the token has expired"


class Reconnects:
    """Judges how each socket ended."""

    def __init__(self, tokens: TokenSource) -> None:
        self._tokens = tokens
        self._pause_s = _FIRST_PAUSE_S
        self._server_away_s = 0.0
        self._protocol_errors = 0
        self._has_renewed = False
        self._suspended: tuple[str, str | None] | None = None
        self._moved_to: str | None = None

    def note_welcome(self) -> None:
        """The server has accepted the token and the user."""
        self._pause_s = _FIRST_PAUSE_S
        self._protocol_errors = 0
        self._has_renewed = False

    def note_message(self, message: dict[str, Any]) -> None:
        """Keep what an event or an error says about the end of the connection."""
        if message["type"] == "draining":
            self._server_away_s = message["reconnect_after_s"]
        if "suspended" in (message["type"], message.get("code")):
            self._suspended = (message["reason"], message["until"])
        if message.get("code") == "moved":
            self._moved_to = message["url"]

    def take_moved(self, code: int | None) -> str | None:
        """The URL to follow, once, if the socket was closed because another node is needed."""
        url, self._moved_to = self._moved_to, None
        return url if code == CloseCode.MOVED else None

    def final_error(self, code: int | None, reason: str | None) -> ConnectionLost | None:
        """Why not to reconnect after a socket that ended so; None to reconnect."""
        if code == CloseCode.PROTOCOL_ERROR:
            # A single one can be a hello that a bad line delayed; repeated, it is this client's.
            self._protocol_errors += 1
        expired = code == CloseCode.UNAUTHORIZED and reason == _EXPIRED
        if expired and self._tokens.can_renew and not self._has_renewed:
            # The server's clock decides: try once with a new token.
            self._has_renewed = True
            self._tokens.forget()
            code = None
        if code not in _FINAL_CODES and self._protocol_errors < _MOST_PROTOCOL_ERRORS:
            return None
        if self._suspended is not None:
            return Suspended(code, reason, *self._suspended)
        return ConnectionLost(code, reason)

    def next_pause_s(self) -> float:
        """How long to wait before the next attempt: longer each time."""
        pause_s = max(self._pause_s, self._server_away_s)
        self._server_away_s = 0.0
        self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)
        return pause_s
