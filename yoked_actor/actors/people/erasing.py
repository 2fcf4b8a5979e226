"""Erasing a user where no server runs: the same decisions, made by a lobby of one event."""

from __future__ import annotations

from yoked_actor.actors.people.care import new_tombstone
from yoked_actor.domain.lobby import Lobby
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.time import Instant
from yoked_actor.settings import Settings
from yoked_actor.store import Store


async def erase_without_a_server(
    store: Store, settings: Settings, user_id: str, by: str, now: Instant
) -> None:
    """Take a user out of what an earlier server left open, and erase them.

    Whoever was left in a match with them waits again in the old place, as if the user had left
    while the server was down.
    """
    recovered = await store.recover()
    lobby = Lobby(settings.matching.rules(), recovered.next_number)
    lobby.restore(recovered.users, recovered.matches, recovered.dates, now)
    lobby.handle(ev.Entered(user_id, await store.load_user(user_id)), now)
    tombstone = new_tombstone()
    lobby.handle(ev.Erase(user_id, tombstone), now)
    await store.privacy.look_up(user_id, now)
    await store.commit(lobby.changes())
    await store.audit.record(by, "erase", tombstone, "", now)
    await store.privacy.wipe()
