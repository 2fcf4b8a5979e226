"""Members of enumerations that several modules of the lobby compare with.

A constant is read faster than a member of an enumeration. A compiled module reads the constants of
another one as directly as its own.
"""

from __future__ import annotations

from typing import Final

from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.records import MatchStatus

IDLE: Final = State.IDLE
WAITING: Final = State.WAITING
STATUS_MATCHED: Final = MatchStatus.MATCHED
STATUS_VOTING: Final = MatchStatus.VOTING
