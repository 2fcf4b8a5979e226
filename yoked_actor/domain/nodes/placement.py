"""Which node should serve which room: an even spread with as few moves as possible.

Every node computes the same spread from the same rows, so nodes need not talk to each other. Two
nodes that read at different moments may disagree; the database then gives the room to one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec


class Moves(msgspec.Struct, frozen=True):
    """What one node has to do to come closer to the spread."""

    take: tuple[str, ...]
    """Rooms without an owner that this node should serve."""
    give: tuple[str, ...]
    """Rooms of this node that another node should serve."""


def spread(
    rooms: Iterable[str], nodes: Collection[str], owners: Mapping[str, str]
) -> dict[str, str]:
    """The node of each room. The numbers of rooms of two nodes differ by one at most.

    `owners` has the present node of the rooms that have one. No spread as even has fewer moves.
    """
    if not nodes:
        return {}
    held: dict[str, list[str]] = {node: [] for node in sorted(nodes)}
    homeless: list[str] = []
    for room in sorted(rooms):
        held.get(owners.get(room, ""), homeless).append(room)
    share, extra = divmod(len(homeless) + sum(map(len, held.values())), len(held))
    # Nodes that serve the most keep one more: that moves the fewest.
    by_load = sorted(held, key=lambda node: (-len(held[node]), node))
    quotas = {node: share + (place < extra) for place, node in enumerate(by_load)}
    placed: dict[str, str] = {}
    for node, mine in held.items():
        placed |= dict.fromkeys(mine[: quotas[node]], node)
        homeless += mine[quotas[node] :]
    free = [node for node, mine in held.items() for _ in range(quotas[node] - len(mine))]
    return placed | dict(zip(sorted(homeless), free, strict=True))


def moves_of(
    node: str,
    rooms: Iterable[str],
    nodes: Collection[str],
    owners: Mapping[str, str],
    orphans: Collection[str] = (),
) -> Moves:
    """What `node` has to do. `owners` has the rooms whose lease is valid, of live nodes or not.

    `orphans` are rooms that any node may take, because the one that should has not done so.
    """
    rooms = sorted(rooms)
    placed = spread(rooms, nodes, owners)
    take = tuple(
        room
        for room in rooms
        if room not in owners and (placed.get(room) == node or room in orphans)
    )
    give = tuple(
        room for room in rooms if owners.get(room) == node and placed.get(room, node) != node
    )
    return Moves(take, give)
