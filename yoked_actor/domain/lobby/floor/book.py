"""A table of frozen values with one level of undo.

The lobby changes its books as it decides. When the round is stored, the books `settle`; when it
cannot be stored, they `undo`. The record of changed keys also says what to store.
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
        """The value of a key, or None."""
        return self.rows.get(key)

    def put(self, key: K, value: V) -> None:
        """Set a value; `undo` restores the one it replaces."""
        if key not in self._before:
            self._before[key] = self.rows.get(key)
        self.rows[key] = value

    def remove(self, key: K) -> None:
        """Remove a key; `undo` restores it."""
        if key in self.rows:
            if key not in self._before:
                self._before[key] = self.rows[key]
            del self.rows[key]

    def revise(self, key: K, value: V) -> None:
        """Set a value permanently: `undo` does not restore the one it replaces."""
        assert not self._before, "a book is revised only when it is settled"
        self.rows[key] = value

    def touch(self, key: K) -> None:
        """Have the value of a key stored again, unchanged."""
        self._before.setdefault(key, self.rows[key])
        self._restated.add(key)

    def is_restated(self, key: K) -> bool:
        """Whether the value of a key must be stored again even if it is unchanged."""
        return key in self._restated

    def touched(self) -> Iterable[K]:
        """The keys that were changed since the book last settled."""
        return self._before.keys()

    def changed(self) -> list[V]:
        """The present values of the changed keys, without removed ones."""
        rows = self.rows
        return [rows[key] for key in self._before if key in rows]

    def differences(self) -> list[tuple[K, V | None]]:
        """The changed keys that must be stored, with their values; None for a removed key."""
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
        """All values as of when the book last settled."""
        before = self._before
        yield from (value for key, value in self.rows.items() if key not in before)
        yield from (value for value in before.values() if value is not None)

    def settle(self) -> None:
        """Keep the changes."""
        if self._before:
            self._before = {}
            self._restated.clear()

    def undo(self) -> list[K]:
        """Return to the state when the book last settled; return the changed keys."""
        touched = list(self._before)
        for key, before in self._before.items():
            if before is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = before
        self._before = {}
        self._restated.clear()
        return touched
