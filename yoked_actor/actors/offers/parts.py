"""Parts of a run that another worker has made: read when a job names a user of one.

Jobs are claimed in the order of user ids, so the jobs that a worker holds need one or two parts. A
part is read again after a second, because its run may have been frozen again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from datetime import date

import trio

from yoked_actor.store import Offers, PreparedSet

MOST_HELD = 4
_FRESH_FOR_S = 1.0


class RunParts:
    """The parts that were read last."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers
        self._lock = trio.Lock()
        self._held: OrderedDict[tuple[str, date, str], tuple[float, Mapping[str, PreparedSet]]] = (
            OrderedDict()
        )

    async def find(self, zone: str, day: date, user_id: str) -> PreparedSet | None:
        """A user's set, if it is stored in a part. Checkpoints unless the part was just read."""
        if (made := self._get(zone, day, user_id)) is not None:
            return made
        async with self._lock:
            if (made := self._get(zone, day, user_id)) is not None:
                return made
            part = await self._offers.load_part(zone, day, user_id)
            if part is None or user_id not in part:
                return None
            key = (zone, day, next(iter(part)))
            self._held[key] = (trio.current_time() + _FRESH_FOR_S, part)
            self._held.move_to_end(key)
            while len(self._held) > MOST_HELD:
                self._held.popitem(last=False)
            return part[user_id]

    def _get(self, zone: str, day: date, user_id: str) -> PreparedSet | None:
        now_s = trio.current_time()
        for (its_zone, its_day, _), (until_s, part) in self._held.items():
            if its_zone == zone and its_day == day and now_s < until_s and user_id in part:
                return part[user_id]
        return None
