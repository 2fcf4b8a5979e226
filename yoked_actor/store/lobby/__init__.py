"""Rows of the live loop."""

from __future__ import annotations

from yoked_actor.store.lobby import rows

__all__ = [
    "rows",
]
