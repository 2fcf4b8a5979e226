"""What a planted fault is."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """A fault to plant: in each file, the text before and after."""

    name: str
    what: str
    edits: tuple[tuple[str, str, str], ...]
    seed: int = 22
    """The fixed seed that is likely to show it, which is simulated first."""


def one(name: str, what: str, file: str, old: str, new: str, seed: int = 22) -> Mutant:
    """A fault of one edit."""
    return Mutant(name, what, ((file, old, new),), seed)
