"""The nodes and leases, as operators see them."""

from __future__ import annotations

import trio

from yoked_actor.actors.nodes.directory import Directory
from yoked_actor.wire.ops import LeasePart, NodePart, NodesPart


def nodes_part(directory: Directory) -> NodesPart:
    """What is known, with the time that has passed since the database was read."""
    passed_s = max(0.0, trio.current_time() - directory.read_s) if directory.is_known else 0.0
    return NodesPart(
        directory.me,
        tuple(
            NodePart(
                one.node,
                one.url,
                one.silent_s + passed_s < directory.lease_s,
                round(one.silent_s + passed_s, 3),
            )
            for one in directory.nodes
        ),
        tuple(
            LeasePart(one.room, one.node, one.epoch, round(max(0.0, one.left_s - passed_s), 3))
            for one in directory.leases
        ),
    )
