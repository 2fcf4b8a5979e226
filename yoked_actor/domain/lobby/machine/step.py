"""One step of the lobby: everything that follows from one event or one deadline.

A user who enters or re-enters the line in a step gets an attempt at its end, in the order of the
policy (R9). The notice `waiting` is sent only if that attempt finds no partner.
"""

from __future__ import annotations

from msgspec.structs import replace

from yoked_actor.domain.lobby.constants import WAITING
from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.lifecycle import Cause, State
from yoked_actor.domain.lobby.machine.moves import move
from yoked_actor.domain.lobby.notices import IdleReason, Notice, NowIdle, NowWaiting, WaitReason
from yoked_actor.domain.lobby.records import Seat
from yoked_actor.domain.matching import Ticket, Tier
from yoked_actor.domain.time import Instant


class Step:
    """The floor at one instant, and the notices and attempts of the step."""

    __slots__ = ("attempts", "floor", "notices", "now", "unpaired", "widened")

    def __init__(self, floor: Floor, now: Instant) -> None:
        self.floor = floor
        self.now = now
        floor.now = now
        self.notices: list[tuple[str, Notice]] = []
        self.attempts: dict[str, WaitReason | None] = {}
        """The users who get an attempt, and the reason to send if it finds no partner."""
        self.widened: dict[str, Tier] = {}
        """The users who get it because they have just left this tier."""
        self.unpaired: list[Ticket] = []
        """The tickets whose attempt found no partner."""

    def tell(self, user_id: str, notice: Notice) -> None:
        """Add a notice; it is delivered when the round is stored."""
        self.notices.append((user_id, notice))

    def rest(
        self, user_id: str, cause: Cause, reason: IdleReason | None, *, credit: int | None = None
    ) -> Seat:
        """Move a user out of line, with a notice if there is a reason."""
        seat = _moved(self.floor.seat(user_id), cause, None, credit)
        assert seat.state is State.IDLE
        self.floor.put_seat(seat)
        self.attempts.pop(user_id, None)
        if reason is not None:
            self.tell(user_id, NowIdle(reason))
        return seat

    def queue(
        self,
        user_id: str,
        cause: Cause,
        reason: WaitReason,
        *,
        fresh: bool,
        credit: int | None = None,
    ) -> Seat:
        """Move a user to the end of the line (`fresh`), or back to their old place."""
        before = self.floor.seat(user_id)
        since = self.now if fresh or before.waiting_since is None else before.waiting_since
        seat = _moved(before, cause, since, credit)
        assert seat.state is WAITING
        self.floor.line_up(user_id, since)
        self.floor.put_seat(seat)
        self.attempts[user_id] = reason
        return seat

    def try_again(self, user_id: str) -> None:
        """Give a waiting user an attempt, without a notice if it finds no partner."""
        if self.floor.seat(user_id).state is WAITING:
            self.attempts.setdefault(user_id, None)

    def notify_waiting(self) -> None:
        """Notify the users whose attempt found no partner."""
        for user_id, reason in self.attempts.items():
            seat = self.floor.seat(user_id)
            if reason is not None and seat.waiting_since is not None:
                self.tell(user_id, NowWaiting(seat.waiting_since, reason))


def _moved(seat: Seat, cause: Cause, since: Instant | None, credit: int | None) -> Seat:
    """A seat that leaves its match, if any, for the state that the cause leads to."""
    return replace(
        seat,
        state=move(seat.state, cause),
        waiting_since=since,
        match_id=None,
        credit=seat.credit if credit is None else credit,
        last_match_id=seat.match_id or seat.last_match_id,
    )
