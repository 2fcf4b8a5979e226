"""One of several servers: it holds the leases of its rooms, and knows the other nodes."""

from __future__ import annotations

from yoked_actor.actors.nodes.directory import Directory
from yoked_actor.actors.nodes.keeper import Keeper, RoomRegistry
from yoked_actor.actors.nodes.node_rooms import NodeRooms
from yoked_actor.actors.nodes.shown import nodes_part

__all__ = ["Directory", "Keeper", "NodeRooms", "RoomRegistry", "nodes_part"]
