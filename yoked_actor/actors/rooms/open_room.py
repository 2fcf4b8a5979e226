"""A room in use: its lobby, and the matchmaker that owns it."""

from __future__ import annotations

import trio

from yoked_actor.actors.lobby import LeaseGuard, Matchmaker, RoomLink
from yoked_actor.domain.lobby import Lobby
from yoked_actor.domain.time import Instant


class OpenRoom:
    """A room whose matchmaker runs. It may be closed, while matches and dates run out."""

    def __init__(
        self, link: RoomLink, lobby: Lobby, matchmaker: Matchmaker, guard: LeaseGuard | None = None
    ) -> None:
        """`guard` has the lease of the room if there are other nodes."""
        self.link = link
        self.guard = guard
        self.lobby = lobby
        self.matchmaker = matchmaker
        self.scope = trio.CancelScope()
        self.told_of: Instant | None = None
        """The closing of which the users in the room are told."""
        self.told: set[str] = set()
        """The users who were told of it."""

    @property
    def room(self) -> str:
        """The id of the room."""
        return self.link.room

    @property
    def is_over(self) -> bool:
        """Whether the room is closed, and nobody is in it any more."""
        return self.lobby.is_closed and self.link.members == 0
