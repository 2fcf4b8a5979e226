"""The steps that most scenarios share."""

from __future__ import annotations

from typing import Any

from trio.testing import wait_all_tasks_blocked

from yoked_actor.client import Client, Event
from yoked_actor.testing import World

WOMAN: dict[str, Any] = {"gender": "woman", "seeking": ["man"]}
MAN: dict[str, Any] = {"gender": "man", "seeking": ["woman"]}


async def join_pair(world: World, her: str = "ana", him: str = "ben") -> tuple[Client, Client]:
    """Two who suit each other, connected and idle."""
    return await world.join(her, **WOMAN), await world.join(him, **MAN)


async def match(one: Client, other: Client) -> str:
    """Let two spin who will find each other; their events up to `matched` are let go."""
    await one.spin()
    await other.spin()
    matched = await one.wait_for("matched")
    assert (await other.wait_for("matched")).match_id == matched.match_id
    return str(matched.match_id)


async def open_voting(one: Client, other: Client) -> str:
    """Let two meet, up to and with `voting`."""
    match_id = await match(one, other)
    await one.acknowledge(match_id)
    await other.acknowledge(match_id)
    await one.wait_for("voting")
    await other.wait_for("voting")
    return match_id


async def settle(one: Client, other: Client, votes: tuple[str, str]) -> str:
    """Let two meet and vote; all events up to the outcome are let go."""
    match_id = await open_voting(one, other)
    await one.vote(match_id, votes[0])
    await other.vote(match_id, votes[1])
    await one.wait_for("outcome")
    await other.wait_for("outcome")
    return match_id


async def news(client: Client) -> list[Event]:
    """Everything that a client was told up to this very instant."""
    await wait_all_tasks_blocked()
    return client.pending_events()


def told(events: list[Event]) -> list[tuple[Any, ...]]:
    """Events in short: their type, and whatever says why, what next or how wide."""
    names = ("reason", "outcome", "next", "tier")
    return [
        (event.type, *(event.fields[name] for name in names if name in event.fields))
        for event in events
    ]


async def status(world: World, user_id: str) -> dict[str, Any]:
    """The snapshot of a user. Asking for it is a sign of life."""
    snapshot: dict[str, Any] = await world.api(user_id).call("GET", "/api/match/status")
    return snapshot


async def state_of(world: World, user_id: str) -> str:
    """Where a user stands once all that is due has run; a look that is no sign of life."""
    await wait_all_tasks_blocked()
    return str(world.server.live.lobby.floor.seat(user_id).state)
