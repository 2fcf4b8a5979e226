"""How the matchmaker ends the server.

A module of its own that is not compiled: mypyc drops the cause of `raise ... from`.
"""

from __future__ import annotations

from typing import NoReturn


class MatchmakerCrashed(Exception):
    """The matchmaker has a bug, or the store broke its contract; the server cannot continue."""


def crash(error: Exception) -> NoReturn:
    """Raise `MatchmakerCrashed` because of an error."""
    raise MatchmakerCrashed("the matchmaker has crashed") from error
