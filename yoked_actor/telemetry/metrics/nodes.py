"""Metrics of a node: its rooms, and the nodes that it sees. Without `node.id` all are absent."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge


class NodeMetrics:
    """Counts rooms that come and go, and clients that are sent to other nodes."""

    def __init__(self, registry: CollectorRegistry) -> None:
        r = registry
        self.live = Gauge("yoked_node_live", "Nodes heard within the life of a lease", registry=r)
        self.epochs = Gauge(
            "yoked_node_epoch", "Epoch of the lease of a room of this node", ["room"], registry=r
        )
        self.taken = Counter("yoked_node_rooms_taken", "Rooms that this node took", registry=r)
        self.given = Counter("yoked_node_rooms_given", "Rooms that were handed over", registry=r)
        self.lost = Counter("yoked_node_rooms_lost", "Leases that another node took", registry=r)
        self._refused_writes = Counter(
            "yoked_node_refused_writes",
            "Commits that the database refused, because another node has the room",
            ["room"],
            registry=r,
        )
        self.moved = Counter(
            "yoked_node_moved", "Clients and calls that were sent to another node", registry=r
        )
        self._shown: set[str] = set()
        self._refused: set[str] = set()

    def count_refused_write(self, room: str) -> None:
        """Count a late commit that the database refused."""
        self._refused.add(room)
        self._refused_writes.labels(room).inc()

    def keep_only(self, rooms: Collection[str]) -> None:
        """Remove the counts of all other rooms."""
        for room in [one for one in self._refused if one not in rooms]:
            self._refused.remove(room)
            self._refused_writes.remove(room)

    def show(self, live: int, epochs: Mapping[str, int]) -> None:
        """The live nodes, and the epochs of this node's rooms."""
        self.live.set(live)
        for room in self._shown - set(epochs):
            self.epochs.remove(room)
        for room, epoch in epochs.items():
            self.epochs.labels(room).set(epoch)
        self._shown = set(epochs)
