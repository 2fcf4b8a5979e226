"""What a new process takes over from the one before."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.lobby.records import Known, Match, VideoDate


class Recovered(msgspec.Struct, frozen=True):
    """What a new process takes over from the one before."""

    users: list[Known]
    """Everyone who is not idle or is on an open date."""
    matches: list[Match]
    """The open ones."""
    dates: list[VideoDate]
    """The open ones."""
    next_number: int
    """Greater than the number in the id of every match and date."""
    boot: int
    """How many times this data directory was started, this time included."""
