"""What a new process restores from the one before."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.lobby.records import Known, Match, VideoDate


class Recovered(msgspec.Struct, frozen=True):
    """What a new process restores from the one before, of one room."""

    users: list[Known]
    """All users who are not idle, or are on an open date."""
    matches: list[Match]
    """All open matches."""
    dates: list[VideoDate]
    """All open dates."""
    next_number: int
    """Greater than the number in the id of every match and date, of all rooms."""
    boot: int
    """How many times the server was started on this data directory, including this one."""
