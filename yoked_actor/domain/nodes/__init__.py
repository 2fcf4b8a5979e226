"""Several servers over one database: which node serves which room, and for how long."""

from __future__ import annotations

from yoked_actor.domain.nodes.lease import (
    HeldLease,
    Node,
    RoomLease,
    doubted_after_s,
    orphaned_after_s,
    renew_every_s,
)
from yoked_actor.domain.nodes.placement import Moves, moves_of, spread

__all__ = [
    "HeldLease",
    "Moves",
    "Node",
    "RoomLease",
    "doubted_after_s",
    "moves_of",
    "orphaned_after_s",
    "renew_every_s",
    "spread",
]
