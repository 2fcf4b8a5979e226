"""The doctor's look at the nodes of a service: which there are, and which rooms they serve."""

from __future__ import annotations

from collections.abc import Iterator

import trio

from yoked_actor.app.doctor.finding import Finding
from yoked_actor.domain.nodes import HeldLease, Node
from yoked_actor.settings import Settings
from yoked_actor.store import InlineRunner, StoreError, open_store

_PATIENCE_S = 10.0


def examine_nodes(settings: Settings) -> Iterator[Finding]:
    """Check the nodes and the leases, if this server is one of several. It changes nothing."""
    if not settings.node.is_set:
        return
    try:
        nodes, leases = trio.run(_read, settings)
    except (StoreError, trio.TooSlowError) as error:
        yield Finding(
            "nodes", "problem", str(error) or "the database does not answer", "check store.url"
        )
        return
    lease_s = settings.node.lease_s
    live = {one.node for one in nodes if one.is_live(lease_s)}
    texts = [
        f"{one.node} at {one.url}" + ("" if one.node in live else f" (silent {one.silent_s:.0f} s)")
        for one in nodes
    ]
    if not live:
        found = "no node is live" + (f": {', '.join(texts)}" if texts else "")
        yield Finding("nodes", "note", found, "start one")
    else:
        yield Finding("nodes", "ok", ", ".join(texts))
    held = [f"{one.room}: {one.node}, epoch {one.epoch}" for one in leases if one.is_valid]
    lost = [one.room for one in leases if not one.is_valid]
    yield Finding("rooms", "ok", "; ".join(held) or "no room is served")
    if lost and live:
        yield Finding(
            "leases",
            "note",
            f"not served now: {', '.join(lost)}",
            "a closed room needs no node; an open one is taken within node.lease_s",
        )


async def _read(settings: Settings) -> tuple[list[Node], list[HeldLease]]:
    with trio.fail_after(_PATIENCE_S):
        async with open_store(
            None,
            runner=InlineRunner(),
            shared=True,
            url=settings.store.url.get_secret_value(),
            connect_timeout_s=settings.store.connect_timeout_s,
        ) as store:
            return await store.nodes.nodes(), await store.nodes.leases()
