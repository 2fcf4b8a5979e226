"""What keeps two users apart: blocks, having met, and the short bar after a cancelled match.

Held in memory for the users in memory, so that a check is a dictionary lookup. A block has a
direction; having met and bars belong to the pair.
"""

from __future__ import annotations

from typing import Final

from yoked_actor.domain.lobby.floor.book import Book
from yoked_actor.domain.lobby.records import Changes, Known, Pair, pair_of
from yoked_actor.domain.matching import NOBODY, Apart, Numbers
from yoked_actor.domain.time import MICROSECONDS, Instant

_DAY: Final = 86_400 * MICROSECONDS
_NONE: Final[frozenset[str]] = frozenset()


class Acquaintance:
    """Blocks, history and bars, with undo."""

    def __init__(self, rematch_after_days: float | None, numbers: Numbers | None = None) -> None:
        self.blocks: Book[tuple[str, str], Instant] = Book()
        self.met: Book[Pair, Instant] = Book()
        self.bars: Book[Pair, Instant] = Book()
        self._rematch_after = (
            None if rematch_after_days is None else round(rematch_after_days * _DAY)
        )
        self._numbers = Numbers() if numbers is None else numbers
        self._apart: dict[str, Apart] = {}
        """For each user in memory exactly the others in memory whom something keeps apart."""
        # The keys to drop when a user leaves memory.
        self._others: dict[str, set[str]] = {}
        self._blocked: dict[str, frozenset[str]] = {}
        """The users whom each user in memory has blocked; most have blocked nobody."""
        self._blockers: dict[str, set[str]] = {}

    def learn(self, known: Known) -> None:
        """Add what the store has of a user. It is stored already, so it is settled."""
        user_id = known.user_id
        for other, at in known.met.items():
            pair = pair_of(user_id, other)
            self.met.rows.setdefault(pair, at)
            self._note(user_id, other)
        for other, until in known.bars.items():
            self.bars.rows.setdefault(pair_of(user_id, other), until)
            self._note(user_id, other)
        for other, at in known.blocks.items():
            self.blocks.rows.setdefault((user_id, other), at)
            self._blockers.setdefault(other, set()).add(user_id)
        self._blocked[user_id] = frozenset(known.blocks)
        for other in (*known.met, *known.bars, *known.blocks, *self._blockers.get(user_id, ())):
            self._compare(user_id, other)

    def forget(self, user_id: str) -> None:
        """Drop what is known of a user who left memory.

        A pair is kept while the other user is in memory; the store has the rest.
        """
        for other in self._apart.pop(user_id, NOBODY):
            self._unpart(other, user_id)
        self._numbers.release(user_id)
        for other in self._blocked.pop(user_id, ()):
            self.blocks.rows.pop((user_id, other), None)
            blockers = self._blockers[other]
            blockers.discard(user_id)
            if not blockers:
                del self._blockers[other]
        for other in self._others.pop(user_id, ()):
            if other in self._blocked:
                continue
            pair = pair_of(user_id, other)
            self.met.rows.pop(pair, None)
            self.bars.rows.pop(pair, None)
            # The other user may have left memory before, with their side of the pair.
            theirs = self._others.get(other)
            if theirs is not None:
                theirs.discard(user_id)
                if not theirs:
                    del self._others[other]

    def erase(self, user_id: str) -> None:
        """Drop everything between an erased user and all others, on both sides."""
        for blocker in self._blockers.pop(user_id, set()):
            self.blocks.rows.pop((blocker, user_id), None)
            if blocker in self._blocked:
                self._blocked[blocker] -= {user_id}
        for other in self._others.pop(user_id, set()):
            pair = pair_of(user_id, other)
            self.met.rows.pop(pair, None)
            self.bars.rows.pop(pair, None)
            theirs = self._others.get(other, set())
            theirs.discard(user_id)
            if not theirs:
                self._others.pop(other, None)
        for other in list(self._apart.get(user_id, NOBODY)):
            self._compare(user_id, other)

    def met_by(self, user_id: str) -> dict[str, Instant]:
        """The users that a user in memory has met, and when."""
        return self._between(user_id, self.met)

    def barred_from(self, user_id: str) -> dict[str, Instant]:
        """The users that a user in memory is kept apart from for a while, and until when."""
        return self._between(user_id, self.bars)

    def _between(self, user_id: str, book: Book[Pair, Instant]) -> dict[str, Instant]:
        found = {}
        for other in self._others.get(user_id, ()):
            at = book.rows.get(pair_of(user_id, other))
            if at is not None:
                found[other] = at
        return found

    def drop_erased(self, user_id: str) -> None:
        """Remove everything between others and a user who was erased in another room."""
        for blocker in list(self._blockers.get(user_id, ())):
            self.unblock(blocker, user_id)
        for other in list(self._others.get(user_id, ())):
            self.unmeet(user_id, other)
            self.lift_bar(pair_of(user_id, other))

    def is_blocked(self, a: str, b: str) -> bool:
        """Whether either has blocked the other."""
        rows = self.blocks.rows
        return (a, b) in rows or (b, a) in rows

    def have_met(self, a: str, b: str, spun_at: Instant) -> bool:
        """Whether two have met, and may not meet again yet.

        `spun_at` is the later of their two spins. It is used instead of the present instant so
        that the answer does not change while both wait.
        """
        met_at = self.met.rows.get(pair_of(a, b))
        if met_at is None:
            return False
        return self._rematch_after is None or spun_at < met_at + self._rematch_after

    def is_barred(self, a: str, b: str) -> bool:
        """Whether a recent cancelled match keeps these two apart."""
        return pair_of(a, b) in self.bars.rows

    def apart_from(self, user_id: str) -> Apart:
        """The users in memory with a block, a meeting or a bar between them and this user."""
        return self._apart.get(user_id, NOBODY)

    def around(self, user_id: str) -> set[str]:
        """All users who may have a block, a meeting or a bar with this user."""
        return {
            *self._others.get(user_id, ()),
            *self._blocked.get(user_id, ()),
            *self._blockers.get(user_id, ()),
        }

    def count_settled_blocks(self, user_id: str) -> int:
        """How many blocks of a user are stored."""
        others = self._blocked.get(user_id, ())
        return sum(1 for other in others if self.blocks.settled((user_id, other)) is not None)

    def blocked_by(self, user_id: str) -> dict[str, Instant]:
        """The users that a user has blocked, and since when."""
        rows = self.blocks.rows
        return {
            other: rows[user_id, other]
            for other in sorted(self._blocked.get(user_id, ()))
            if (user_id, other) in rows
        }

    def block(self, blocker: str, blocked: str, at: Instant) -> None:
        """Record a block."""
        self.blocks.put((blocker, blocked), at)
        self._blocked[blocker] = self._blocked.get(blocker, _NONE) | {blocked}
        self._blockers.setdefault(blocked, set()).add(blocker)
        self._compare(blocker, blocked)

    def unblock(self, blocker: str, blocked: str) -> bool:
        """Remove a block; return whether there was one."""
        found = (blocker, blocked) in self.blocks.rows
        self.blocks.remove((blocker, blocked))
        self._compare(blocker, blocked)
        return found

    def meet(self, a: str, b: str, at: Instant) -> None:
        """Record, once, that two have met."""
        pair = (a, b) if a < b else (b, a)
        self.met.put(pair, at)
        self._note(a, b)
        self._compare(a, b)

    def unmeet(self, a: str, b: str) -> None:
        """Record that two have not met after all."""
        self.met.remove(pair_of(a, b))
        self._compare(a, b)

    def bar(self, a: str, b: str, until: Instant) -> Pair:
        """Keep two apart until an instant."""
        pair = pair_of(a, b)
        self.bars.put(pair, until)
        self._note(a, b)
        self._compare(a, b)
        return pair

    def lift_bar(self, pair: Pair) -> None:
        """End a bar."""
        self.bars.remove(pair)
        self._compare(*pair)

    def collect(self, changes: Changes) -> None:
        """Add what must be stored."""
        changes.met = self.met.differences()
        changes.blocks = self.blocks.differences()
        changes.bars = self.bars.differences()

    def settle(self) -> None:
        """Keep the changes."""
        self.blocks.settle()
        self.met.settle()
        self.bars.settle()

    def undo(self) -> list[Pair]:
        """Undo the changes; return the bars whose deadlines must be set again."""
        bars = self.bars.undo()
        for a, b in (*self.blocks.undo(), *self.met.undo(), *bars):
            self._compare(a, b)
        return [pair for pair in bars if pair in self.bars.rows]

    def _note(self, a: str, b: str) -> None:
        self._others.setdefault(a, set()).add(b)
        self._others.setdefault(b, set()).add(a)

    def _compare(self, a: str, b: str) -> None:
        """Note whether something keeps two apart, if both are in memory."""
        if a == b or a not in self._blocked or b not in self._blocked:
            return
        pair = (a, b) if a < b else (b, a)
        if pair in self.met.rows or pair in self.bars.rows or self.is_blocked(a, b):
            for one, other in ((a, b), (b, a)):
                apart = self._apart.get(one)
                if apart is None:
                    apart = self._apart[one] = Apart()
                apart.add(other, self._numbers.of(other))
        else:
            self._unpart(a, b)
            self._unpart(b, a)

    def _unpart(self, user_id: str, other: str) -> None:
        apart = self._apart.get(user_id)
        if apart is not None:
            apart.discard(other)
            if not len(apart):
                del self._apart[user_id]
