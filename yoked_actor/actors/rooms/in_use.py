"""The rooms in use: what operators, probes and metrics read of them."""

from __future__ import annotations

from yoked_actor.actors.rooms.open_room import OpenRoom
from yoked_actor.domain.lobby import MAIN, Floor, SettledView
from yoked_actor.telemetry import RoomNumbers


class RoomsInUse:
    """The open rooms by id, and their numbers."""

    def __init__(self, floors: dict[str, Floor]) -> None:
        self.rooms: dict[str, OpenRoom] = {}
        self.floors = floors
        """The floors of the rooms in use, for views."""

    @property
    def stalled(self) -> bool:
        """Whether the last commit of a room failed and is being retried."""
        return any(one.matchmaker.stalled for one in self.rooms.values())

    @property
    def backlog(self) -> int:
        """How many messages wait in the mailboxes."""
        return sum(len(one.link.mailbox) for one in self.rooms.values())

    def waiting(self) -> int:
        """How many users can be paired, in all rooms; decisions in progress count."""
        floors = self.floors
        if len(floors) == 1 and MAIN in floors:
            return len(floors[MAIN].pool)
        return sum(len(floor.pool) for floor in floors.values())

    async def ping(self) -> None:
        """Return when every room's matchmaker has played a round: see `Matchmaker.ping`."""
        for one in list(self.rooms.values()):
            if one.room in self.rooms:
                await one.matchmaker.ping()

    def wake(self) -> None:
        """Have every matchmaker play a round soon."""
        for one in self.rooms.values():
            one.matchmaker.wake()

    def counts(self) -> dict[str, RoomNumbers]:
        """The numbers of each room in use."""
        return {
            room: RoomNumbers(
                one.link.members, SettledView(one.lobby.floor).waiting(), len(one.link.mailbox)
            )
            for room, one in self.rooms.items()
        }

    def open_matches(self, room: str) -> int:
        """How many matches are open in a room."""
        found = self.rooms.get(room)
        return 0 if found is None else len(SettledView(found.lobby.floor).open_matches())

    def owned(self) -> set[str]:
        """The rooms in use here."""
        return set(self.rooms)

    def here(self, room: str) -> int:
        """How many users are in a room: in memory there, or about to enter."""
        found = self.rooms.get(room)
        return 0 if found is None else found.link.members
