"""Those who are connected and do nothing: who could be asked to spin (R13).

They stand in a queue for each kind of wish, and whoever is looked at goes to its end, so that
everybody gets their turn however few are looked at. The queues follow from the books; their order
decides nothing but whose turn it is, and is let be when a round is undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from yoked_actor.domain.people import Person

Kind = tuple[str, frozenset[str]]


class Idlers:
    """Idle people, by gender and whom they seek."""

    __slots__ = ("_kinds", "_queues")

    def __init__(self) -> None:
        self._kinds: dict[str, Kind] = {}
        self._queues: dict[Kind, dict[str, None]] = {}

    def __len__(self) -> int:
        return len(self._kinds)

    def __contains__(self, user_id: str) -> bool:
        return user_id in self._kinds

    def put(self, person: Person) -> None:
        """Take somebody in, at the end, or leave them where they stand."""
        kind = (person.gender, person.seeking)
        if self._kinds.get(person.user_id) != kind:
            self.discard(person.user_id)
            self._kinds[person.user_id] = kind
            self._queues.setdefault(kind, {})[person.user_id] = None

    def discard(self, user_id: str) -> None:
        """Let somebody go, if they are here."""
        kind = self._kinds.pop(user_id, None)
        if kind is not None:
            queue = self._queues[kind]
            del queue[user_id]
            if not queue:
                del self._queues[kind]

    def next_for(self, person: Person, most: int) -> Iterator[str]:
        """Those whose turn it is among whom a person's wishes suit; each goes to the end."""
        for (gender, seeking), queue in list(self._queues.items()):
            if gender not in person.seeking or person.gender not in seeking:
                continue
            for user_id in list(islice(queue, most)):
                del queue[user_id]
                queue[user_id] = None
                most -= 1
                yield user_id
