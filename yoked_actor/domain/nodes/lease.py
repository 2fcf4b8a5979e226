"""The lease of a room: the right of one node to decide about it.

A lease has an epoch, which grows each time that a node takes the room. Every commit of a lobby
names its epoch, and the database refuses a commit of an older one. So a node that was paused, or
cut off, cannot write, however long it believes in its lease: the expiry decides only when another
node may take the room.
"""

from __future__ import annotations

import msgspec

_RENEWALS_IN_A_LIFE = 3


class RoomLease(msgspec.Struct, frozen=True):
    """The right of a node to decide about a room, as the node holds it."""

    room: str
    node: str
    epoch: int


class HeldLease(msgspec.Struct, frozen=True):
    """A lease as it stands in the database, judged by the clock of the database."""

    room: str
    node: str
    epoch: int
    left_s: float
    """How long it is valid; zero or less when it has expired."""
    here: int = 0
    """How many users were in the room when the lease was renewed."""

    @property
    def is_valid(self) -> bool:
        """Whether no other node may take the room."""
        return self.left_s > 0


class Node(msgspec.Struct, frozen=True):
    """A server that has registered in the database."""

    node: str
    url: str
    """Its public base URL."""
    boot: int
    """The number of its start, unique among all starts of all nodes."""
    silent_s: float
    """How long ago it was heard, by the clock of the database."""

    def is_live(self, lease_s: float) -> bool:
        """Whether it was heard within the life of a lease."""
        return self.silent_s < lease_s


def renew_every_s(lease_s: float) -> float:
    """How often a lease is renewed: two renewals may fail before it expires."""
    return lease_s / _RENEWALS_IN_A_LIFE


def doubted_after_s(lease_s: float) -> float:
    """When a lease was not renewed for this long, its node is probably gone.

    Another node may not take the room yet, but it sends no more clients there.
    """
    return lease_s / 2


def orphaned_after_s(lease_s: float) -> float:
    """When a room had no node for this long, the node that should take it is gone as well."""
    return 1.25 * renew_every_s(lease_s)
