"""Several servers over one database: which node serves which room, and for how long."""

from __future__ import annotations

from yoked_actor.domain.nodes.lease import HeldLease, Node, RoomLease, renew_every_s
from yoked_actor.domain.nodes.placement import Moves, moves_of, spread

__all__ = [
    "HeldLease",
    "Moves",
    "Node",
    "RoomLease",
    "moves_of",
    "renew_every_s",
    "spread",
]
