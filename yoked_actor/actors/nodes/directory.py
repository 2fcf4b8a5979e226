"""What this node knows of the others, as of its last look into the database."""

from __future__ import annotations

from collections.abc import Iterable

from yoked_actor.domain.nodes import HeldLease, Node


class Directory:
    """The nodes, and which of them serves which room."""

    def __init__(self, me: str, lease_s: float) -> None:
        self.me = me
        self.lease_s = lease_s
        self.nodes: tuple[Node, ...] = ()
        self.leases: tuple[HeldLease, ...] = ()
        self.urls: set[str] = set()
        """The public base URLs of the other nodes. It is changed in place."""
        self.is_known = False
        """Whether the database was read since the start."""
        self.read_s = float("-inf")
        """When it was last read, on trio's clock."""

    def update(self, nodes: Iterable[Node], leases: Iterable[HeldLease], now_s: float) -> None:
        """Keep what the database says."""
        self.nodes, self.leases = tuple(nodes), tuple(leases)
        self.is_known, self.read_s = True, now_s
        self.urls.clear()
        self.urls.update(one.url for one in self.nodes if one.node != self.me)

    @property
    def live(self) -> set[str]:
        """The nodes that were heard within the life of a lease."""
        return {one.node for one in self.nodes if one.is_live(self.lease_s)}

    @property
    def owners(self) -> dict[str, str]:
        """The node of each room whose lease is valid."""
        return {lease.room: lease.node for lease in self.leases if lease.is_valid}

    def url_of(self, room: str) -> str | None:
        """The public base URL of another node that serves a room; None if there is none."""
        owner = self.owners.get(room)
        if owner is None or owner == self.me:
            return None
        return next((one.url for one in self.nodes if one.node == owner), None)

    def next_expiry_s(self, rooms: Iterable[str]) -> float:
        """How long after the last look the first lease of another node on these rooms expires."""
        wanted = set(rooms)
        left = [one.left_s for one in self.leases if one.room in wanted and one.node != self.me]
        return min((seconds for seconds in left if seconds > 0), default=float("inf"))
