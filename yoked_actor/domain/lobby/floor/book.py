"""A table of frozen values that remembers what it was.

The lobby changes its books as it decides. When the decision is safely stored, the books `settle`;
when it cannot be stored, they `undo` and are what they were, value by value. The same memory of
what was touched says what has to be stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Book(Generic[K, V]):
    """A dictionary with one level of undo."""

    __slots__ = ("_before", "_restated", "rows")

    def __init__(self) -> None:
        self.rows: dict[K, V] = {}
        self._before: dict[K, V | None] = {}
        self._restated: set[K] = set()

    def get(self, key: K) -> V | None:
        """The value of a key, if it has one."""
        return self.rows.get(key)

    def put(self, key: K, value: V) -> None:
        """Set a value; the one it replaces can come back."""
        if key not in self._before:
            self._before[key] = self.rows.get(key)
        self.rows[key] = value

    def remove(self, key: K) -> None:
        """Take a key out; it can come back."""
        if key in self.rows:
            if key not in self._before:
                self._before[key] = self.rows[key]
            del self.rows[key]

    def revise(self, key: K, value: V) -> None:
        """Set a value for good: `undo` does not bring back the one it replaces."""
        assert not self._before, "a book is revised when it is settled"
        self.rows[key] = value

    def touch(self, key: K) -> None:
        """Have the value of a key stored as it is."""
        self._before.setdefault(key, self.rows[key])
        self._restated.add(key)

    def touched(self) -> Iterable[K]:
        """The keys that were changed since the book last settled."""
        return self._before.keys()

    def changed(self) -> list[V]:
        """The present values of the touched keys that have one."""
        rows = self.rows
        return [rows[key] for key in self._before if key in rows]

    def differences(self) -> list[tuple[K, V | None]]:
        """What each touched key holds now (None: nothing), where that is to be stored."""
        rows = self.rows
        return [
            (key, rows.get(key))
            for key, before in self._before.items()
            if rows.get(key) is not before or key in self._restated
        ]

    def settled(self, key: K) -> V | None:
        """The value that a key had when the book last settled."""
        return self._before[key] if key in self._before else self.rows.get(key)

    def settled_values(self) -> Iterator[V]:
        """All values that stood when the book last settled."""
        before = self._before
        yield from (value for key, value in self.rows.items() if key not in before)
        yield from (value for value in before.values() if value is not None)

    def settle(self) -> None:
        """Forget how it was: the changes stand."""
        if self._before:
            self._before = {}
            self._restated.clear()

    def undo(self) -> list[K]:
        """Return to how it was when it last settled; say which keys were touched."""
        touched = list(self._before)
        for key, before in self._before.items():
            if before is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = before
        self._before = {}
        self._restated.clear()
        return touched
