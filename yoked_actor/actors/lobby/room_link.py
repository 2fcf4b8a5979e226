"""The link of sessions to the matchmaker of the room that their users are in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from yoked_actor.actors.lobby.messages import Message
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.domain.lobby import MAIN

if TYPE_CHECKING:
    from yoked_actor.actors.lobby.sessions.sessions import Sessions


class RoomLink:
    """The mailbox of a room's matchmaker, and when the users in the room were heard."""

    __slots__ = ("is_gone", "mailbox", "members", "room", "signs_of_life")

    def __init__(self, mailbox: Mailbox[Message], room: str = MAIN) -> None:
        self.room = room
        self.mailbox = mailbox
        self.is_gone = False
        """Whether the room is not served here any more: nobody reads the mailbox."""
        self.members = 0
        """How many sessions are in the room, or about to enter it."""
        self.signs_of_life: dict[str, float] = {}
        """When each user was last heard since the last round, on trio's clock. A sign of life is no
        message: it changes nothing, so it needs no round."""


class RoomAudience:
    """The audience of one room's matchmaker: all sessions, and the signs of life of this room."""

    def __init__(self, sessions: Sessions, link: RoomLink) -> None:
        self._sessions = sessions
        self._link = link
        # Bound once: these are called for each reply and notice.
        self.tell = sessions.tell
        self.answer = sessions.answer
        self.may_forget = sessions.may_forget
        self.flush = sessions.flush

    def take_signs_of_life(self) -> dict[str, float]:
        """When users of the room were heard since the last call, on trio's clock."""
        signs = self._link.signs_of_life
        if signs:
            self._link.signs_of_life = {}
        return signs

    def catch_up(self, user_ids: Iterable[str]) -> None:
        """Read what these users have sent and what was not read yet."""
        self._sessions.catch_up(user_ids)
