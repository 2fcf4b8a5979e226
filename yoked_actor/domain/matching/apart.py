"""The users whom a block, a meeting or a bar keeps apart from one user, as a set and as numbers.

A search that reads a whole group masks them in one NumPy operation: every user in memory has a
number, the columns of a group have the numbers of its rows, and `Apart` has those to leave out.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray


class Numbers:
    """A small number for each user in memory. Released numbers are given to others."""

    __slots__ = ("_free", "_numbers")

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._free: list[int] = []

    def of(self, user_id: str) -> int:
        """The number of a user, who gets one if there is none."""
        number = self._numbers.get(user_id)
        if number is None:
            number = self._free.pop() if self._free else len(self._numbers)
            self._numbers[user_id] = number
        return number

    def release(self, user_id: str) -> None:
        """Take the number of a user who is in no group and in no `Apart`."""
        number = self._numbers.pop(user_id, None)
        if number is not None:
            self._free.append(number)


_MANY: Final = 16
"""An `Apart` keeps its mask if the mask has at most so many bytes for each of its users."""


class Apart:
    """The users who are kept apart from one user."""

    __slots__ = ("_free", "_highest", "_numbers", "_places", "_users")

    def __init__(self, users: Iterable[tuple[str, int]] = ()) -> None:
        """The users and their numbers."""
        self._numbers = array("l")
        self._highest = 0
        self._users: list[str] = []
        self._places: dict[str, int] = {}
        self._free: NDArray[np.bool_] | None = None
        """Which numbers are not of these users, if it is worth keeping."""
        for user_id, number in users:
            self.add(user_id, number)

    def __len__(self) -> int:
        return len(self._users)

    def __contains__(self, user_id: str) -> bool:
        return user_id in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._users)

    def add(self, user_id: str, number: int) -> None:
        """Add a user, if absent."""
        if user_id not in self._places:
            self._places[user_id] = len(self._numbers)
            self._numbers.append(number)
            self._users.append(user_id)
            self._highest = max(self._highest, number)
            self._mark(number, is_free=False)

    def discard(self, user_id: str) -> None:
        """Remove a user, if present. The user who was added last gets the place."""
        place = self._places.pop(user_id, None)
        if place is None:
            return
        self._mark(self._numbers[place], is_free=True)
        number, moved = self._numbers.pop(), self._users.pop()
        if moved != user_id:
            self._numbers[place], self._users[place] = number, moved
            self._places[moved] = place

    def free_of(self, numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of these numbers are not of users who are kept apart."""
        free, most = self._free, max(int(numbers.max()), self._highest) + 1
        if free is None or len(free) < most:
            free = np.ones(most + most // 8, np.bool_)
            free[np.frombuffer(self._numbers, np.dtype("l"))] = False
            if most <= _MANY * len(self._users):
                self._free = free
        found: NDArray[np.bool_] = free[numbers]
        return found

    def _mark(self, number: int, *, is_free: bool) -> None:
        # A number beyond the mask is the highest one: the next use makes a longer mask.
        if self._free is not None and number < len(self._free):
            self._free[number] = is_free


NOBODY: Final = Apart()
"""For a user from whom nobody is kept apart; nothing is added to it."""
