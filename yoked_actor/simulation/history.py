"""The history of a run: one line for everything that people did and were told.

The digest of all lines names the run: the same seed gives the same digest. Only the last lines of
each person are kept in memory, for the report of a violation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TextIO

from yoked_actor.domain.time import Instant, to_datetime

_KEPT = 40


class History:
    """Receives the lines of a run."""

    def __init__(self, now: Callable[[], Instant], file: TextIO | None = None) -> None:
        self._now = now
        self._file = file
        self._digest = sha256()
        self._last: dict[str, deque[tuple[int, str]]] = {}
        self.lines = 0

    def add(self, who: str, text: str) -> None:
        """Add a line about a person, or about the stage."""
        self.lines += 1
        line = f"{stamp(self._now())} {who:<8} {text}"
        self._digest.update(line.encode())
        self._digest.update(b"\n")
        kept = self._last.get(who)
        if kept is None:
            kept = self._last[who] = deque(maxlen=_KEPT)
        kept.append((self.lines, line))
        if self._file is not None:
            self._file.write(f"{line}\n")

    def last(self, who: Iterable[str], most: int) -> list[str]:
        """The newest lines about some persons, in order."""
        lines = sorted(line for name in set(who) for line in self._last.get(name, ()))
        return [text for _, text in lines[-most:]]

    @property
    def digest(self) -> str:
        """The digest of all lines so far."""
        return self._digest.hexdigest()


def stamp(at: Instant) -> str:
    """An instant, to the millisecond."""
    return to_datetime(at).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
