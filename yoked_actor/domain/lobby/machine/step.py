"""One step of the lobby: the notices it gathers, the moves it makes, the attempts it owes.

A step is what follows from one event or one deadline. Whoever comes (back) into line in it gets an
attempt at its end, in the order of the policy (R9), and is told `waiting` only when that attempt
finds nobody.
"""

from __future__ import annotations

from msgspec.structs import replace

from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.lifecycle import Cause, State, move
from yoked_actor.domain.lobby.notices import IdleReason, Notice, NowIdle, NowWaiting, WaitReason
from yoked_actor.domain.lobby.records import Seat
from yoked_actor.domain.matching import Ticket, Tier
from yoked_actor.domain.time import Instant


class Step:
    """The floor at one instant, and what happens on it."""

    __slots__ = ("attempts", "floor", "in_vain", "notices", "now", "widened")

    def __init__(self, floor: Floor, now: Instant) -> None:
        self.floor = floor
        self.now = now
        floor.now = now
        self.notices: list[tuple[str, Notice]] = []
        self.attempts: dict[str, WaitReason | None] = {}
        """Who gets an attempt, and what to say to those for whom it finds nobody."""
        self.widened: dict[str, Tier] = {}
        """Who gets it because they have just left that tier behind."""
        self.in_vain: list[Ticket] = []
        """Whose attempt has found nobody."""

    def tell(self, user_id: str, notice: Notice) -> None:
        """Tell a user something, once all is stored."""
        self.notices.append((user_id, notice))

    def rest(
        self, user_id: str, cause: Cause, reason: IdleReason | None, *, credit: int | None = None
    ) -> Seat:
        """Move a user out of line, and say so unless there is nothing to say."""
        before = self.floor.seat(user_id)
        seat = replace(
            before,
            state=move(before.state, cause),
            waiting_since=None,
            match_id=None,
            credit=before.credit if credit is None else credit,
            last_match_id=before.match_id or before.last_match_id,
        )
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
        """Move a user into line, at the end of it (`fresh`) or back into the old place."""
        before = self.floor.seat(user_id)
        since = self.now if fresh or before.waiting_since is None else before.waiting_since
        seat = replace(
            before,
            state=move(before.state, cause),
            waiting_since=since,
            match_id=None,
            credit=before.credit if credit is None else credit,
            last_match_id=before.match_id or before.last_match_id,
        )
        assert seat.state is State.WAITING
        self.floor.line_up(user_id, since)
        self.floor.put_seat(seat)
        self.attempts[user_id] = reason
        return seat

    def try_again(self, user_id: str) -> None:
        """Owe an attempt to a user, if they wait; nothing is said when it finds nobody."""
        if self.floor.seat(user_id).state is State.WAITING:
            self.attempts.setdefault(user_id, None)

    def say_who_waits(self) -> None:
        """Tell those whose attempt found nobody that they wait."""
        for user_id, reason in self.attempts.items():
            seat = self.floor.seat(user_id)
            if reason is not None and seat.waiting_since is not None:
                self.tell(user_id, NowWaiting(seat.waiting_since, reason))
