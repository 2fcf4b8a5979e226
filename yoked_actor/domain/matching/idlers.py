"""The idle users with a socket, who can be nudged (R13).

There is a queue for each (gender, seeking). A user who was checked goes to its end, so that each
gets their turn. The order of a queue decides only whose turn it is, so an undo does not restore it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from yoked_actor.domain.people import Person

Kind = tuple[str, frozenset[str]]


class Idlers:
    """Idle users, by gender and seeking."""

    __slots__ = ("_kinds", "_queues")

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}
        self._queues: dict[Kind, dict[str, None]] = {}

    def __len__(self) -> int:
        return len(self._kinds)

    def __contains__(self, user_id: str) -> bool:
        return user_id in self._kinds

    def put(self, person: Person) -> None:
        """Add a user at the end of their queue, unless they are in it."""
        kind = (person.gender, person.seeking)
        if self._kinds.get(person.user_id) != kind:
            self.discard(person.user_id)
            self._kinds[person.user_id] = kind
            self._queues.setdefault(kind, {})[person.user_id] = None

    def discard(self, user_id: str) -> None:
        """Remove a user, if present."""
        kind = self._kinds.pop(user_id, None)
        if kind is not None:
            queue = self._queues[kind]
            del queue[user_id]
            if not queue:
                del self._queues[kind]

    def next_for(self, person: Person, most: int) -> Iterator[str]:
        """The next users whose genders suit a person; each goes to the end of their queue."""
        for (gender, seeking), queue in list(self._queues.items()):
            if gender not in person.seeking or person.gender not in seeking:
                continue
            for user_id in list(islice(queue, most)):
                del queue[user_id]
                queue[user_id] = None
                most -= 1
                yield user_id
