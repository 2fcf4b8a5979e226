"""The nodes of a service and the leases of its rooms, as operators see them."""

from __future__ import annotations

import msgspec


class NodePart(msgspec.Struct, frozen=True):
    """A server that has registered; it is live if it was heard within the life of a lease."""

    node: str
    url: str
    is_live: bool
    silent_s: float


class LeasePart(msgspec.Struct, frozen=True):
    """The node that serves a room, and how long its lease is valid; 0 when it has expired."""

    room: str
    node: str
    epoch: int
    left_s: float


class NodesPart(msgspec.Struct, frozen=True):
    """What this node knows of all nodes and rooms, as of its last look into the database."""

    node: str
    nodes: tuple[NodePart, ...]
    leases: tuple[LeasePart, ...]
