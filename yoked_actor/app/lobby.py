"""Opens the live loop: the lobby as it was left, the matchmaker, the sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from secrets import token_bytes

import msgspec
import structlog
import trio

from yoked_actor.actors.contacts import UserContacts
from yoked_actor.actors.lobby import Drain, Matchmaker, Message, Sessions
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.actors.offers import Calendar, OpenedConnections, UserOffers
from yoked_actor.app.base import Base
from yoked_actor.domain.lobby import Lobby, SettledView
from yoked_actor.domain.people import ShownPlaces

_log = structlog.get_logger()


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """The running live loop."""

    lobby: Lobby
    view: SettledView
    """The lobby as it is stored."""
    places: ShownPlaces
    matchmaker: Matchmaker
    sessions: Sessions
    offers: UserOffers
    """Shows offers and takes answers."""
    contacts: UserContacts
    """Shows recently met users, and takes answers after dates."""
    opened: OpenedConnections
    drain: Drain


@asynccontextmanager
async def open_lobby(base: Base, calendar: Calendar) -> AsyncIterator[Live]:
    """Restore the lobby from the store, and run the live loop until the block is left.

    The matchmaker and the sessions are core actors: an error in one of them ends the server.
    """
    store, clock, metrics, settings = base.store, base.clock, base.metrics, base.settings
    recovered = await store.recover()
    # With a mock clock each run is the same, so nothing is random.
    made = token_bytes(32) if base.mock_clock is None else sha256(b"mock").digest()
    secret = await store.secret("shown_places", made)
    places = ShownPlaces(secret, settings.matching.shown_place_every_s)
    lobby = Lobby(settings.rules(), recovered.next_number, places, recovered.boot)
    lobby.restore(recovered.users, recovered.matches, recovered.dates, clock.now())
    _log.info(
        "recovered",
        boot=recovered.boot,
        users=len(recovered.users),
        matches=len(recovered.matches),
        dates=len(recovered.dates),
    )
    view = SettledView(lobby.floor)
    opened = OpenedConnections()
    offers = UserOffers(store, clock, metrics, opened, is_online=view.is_online, places=places)
    contacts = UserContacts(store, clock, metrics, settings, opened, places)
    mailbox: Mailbox[Message] = Mailbox(settings.matchmaker.mailbox)
    sessions = Sessions(
        mailbox, store, clock, metrics, settings, offers, contacts, boot=recovered.boot
    )
    for known in recovered.users:
        sessions.adopt(known.user_id)
    matchmaker = Matchmaker(
        mailbox,
        lobby,
        store,
        clock,
        sessions,
        metrics,
        settings,
        stored_people=calendar.people_stored,
        alert=base.alarm.wake,
    )
    metrics.lobby.expect(settings.matching.policy)
    metrics.watch(
        waiting=view.waiting,
        sessions=sessions.__len__,
        mailbox=mailbox.__len__,
        writes=lambda: store.pending_writes,
        ready=lambda: not (sessions.context.draining or matchmaker.stalled or store.lost_files()),
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(matchmaker.run)
        nursery.start_soon(base.supervisor.run_core, "sessions", sessions.run)
        yield Live(
            lobby=lobby,
            view=view,
            places=places,
            matchmaker=matchmaker,
            sessions=sessions,
            offers=offers,
            contacts=contacts,
            opened=opened,
            drain=Drain(lobby, matchmaker, sessions, settings.server),
        )
        nursery.cancel_scope.cancel()
