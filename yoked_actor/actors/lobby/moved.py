"""A room that another node serves."""

from __future__ import annotations


class RoomMoved(Exception):
    """Another node serves the user's room; `url` is its public base URL, None if there is none."""

    def __init__(self, room: str, url: str | None) -> None:
        if url is None:
            super().__init__(f"no node serves the room {room} at the moment; try again")
        else:
            super().__init__(f"another node serves the room {room}")
        self.room = room
        self.url = url
