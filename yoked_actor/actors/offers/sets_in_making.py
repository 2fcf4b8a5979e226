"""The sets of a run between their making and their storing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import trio

from yoked_actor.domain.offers import FrozenRun, OfferSet, joint_digest
from yoked_actor.store import PreparedSet, prepare_set

Sets = Mapping[str, PreparedSet]


class SetsInMaking:
    """The sets of a run that were made, while a thread prepares them in the order of user ids.

    Jobs come in that order. The thread gives way to transactions, so a job may be faster: then it
    prepares its set, and the thread takes that one.
    """

    def __init__(self, frozen: FrozenRun, made: dict[str, OfferSet], began: float) -> None:
        self.frozen = frozen
        self.began = began
        self.is_over = trio.Event()
        """Set when all sets are prepared, or none will be any more."""
        self._made = made
        self._prepared: dict[str, PreparedSet] = {}
        self._early: dict[str, PreparedSet] = {}
        """Prepared by a job, and not reached by the thread yet."""

    def get(self, user_id: str) -> PreparedSet | None:
        """A user's set, if the run makes one."""
        made = self._made.get(user_id)
        if (prepared := self._prepared.get(user_id)) is not None or made is None:
            return prepared
        if (prepared := self._early.get(user_id)) is None:
            prepared = self._early[user_id] = self._prepare(made)
        return prepared

    def prepare_all(self, go_on: Callable[[], object]) -> tuple[Sets, str]:
        """Prepare all sets; returns them, in the order of user ids, and their digest."""
        for user_id in list(self._made):
            early = self._early.pop(user_id, None)
            self._prepared[user_id] = early or self._prepare(self._made[user_id])
            # A prepared set takes a third of the memory of the made one.
            del self._made[user_id]
            go_on()
        return self._prepared, joint_digest(one.digest for one in self._prepared.values())

    def _prepare(self, made: OfferSet) -> PreparedSet:
        return prepare_set(self.frozen.zone, made, self.frozen.inputs)
