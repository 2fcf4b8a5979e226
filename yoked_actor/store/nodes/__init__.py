"""Nodes and the leases of rooms, in the database. PostgreSQL only."""

from __future__ import annotations

from yoked_actor.store.nodes.nodes import NodeIdTaken, Nodes, RoomLeaseLost

__all__ = ["NodeIdTaken", "Nodes", "RoomLeaseLost"]
