"""Opens the live loop: the lobby as it was left, the matchmaker, the sessions."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from secrets import token_bytes

import msgspec
import trio

from yoked_actor.actors.contacts import UserContacts
from yoked_actor.actors.lobby import Drain, Matchmaker, RoomLink, Sessions
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.actors.offers import Calendar, OpenedConnections, UserOffers
from yoked_actor.actors.rooms import Catalogue, Doorkeeper, Registry, Timekeeper
from yoked_actor.app.base import Base
from yoked_actor.domain.lobby import MAIN, Floor, HouseView, Lobby
from yoked_actor.domain.people import ShownPlaces


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """The running live loop."""

    view: HouseView
    """The lobbies of all rooms as they are stored."""
    places: ShownPlaces
    sessions: Sessions
    rooms: Registry
    """The rooms in use."""
    timekeeper: Timekeeper
    doorkeeper: Doorkeeper
    offers: UserOffers
    """Shows offers and takes answers."""
    contacts: UserContacts
    """Shows recently met users, and takes answers after dates."""
    opened: OpenedConnections
    drain: Drain

    @property
    def lobby(self) -> Lobby:
        """The lobby of `main`, if it is served here."""
        return self.rooms.rooms[MAIN].lobby

    @property
    def matchmaker(self) -> Matchmaker:
        """The matchmaker of `main`, if it is served here."""
        return self.rooms.rooms[MAIN].matchmaker


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
    opened = OpenedConnections()
    link = RoomLink(Mailbox(settings.matchmaker.mailbox))
    floors: dict[str, Floor] = {}
    view = HouseView(floors)
    offers = UserOffers(store, clock, metrics, opened, is_online=view.is_online, places=places)
    contacts = UserContacts(store, clock, metrics, settings, opened, places)
    sessions = Sessions(
        link, store, clock, metrics, settings, offers, contacts, boot=recovered.boot
    )
    catalogue = Catalogue(store, settings)
    await catalogue.reload()
    rooms = Registry(
        catalogue,
        sessions,
        store,
        clock,
        metrics,
        settings,
        floors=floors,
        places=places,
        stored_people=calendar.people_stored,
        alert=base.alarm.wake,
    )
    timekeeper = Timekeeper(rooms, sessions, clock, settings.session)
    doorkeeper = Doorkeeper(rooms, timekeeper, sessions, settings.session)
    sessions.place, sessions.left = rooms.place, rooms.departed
    sessions.context.rooms = doorkeeper
    base.on_reload.append(timekeeper.reload_soon)
    base.on_wakeup.append(timekeeper.check_soon)
    metrics.watch(
        sessions=sessions.__len__,
        writes=lambda: store.pending_writes,
        rooms=rooms.counts,
        ready=lambda: not (sessions.context.draining or rooms.stalled or store.lost_files()),
    )
    async with trio.open_nursery() as nursery:
        if settings.node.is_set:
            sessions.is_node = True
            rooms.start_node(nursery, recovered.boot)
        else:
            await rooms.start(nursery, recovered, link)
        nursery.start_soon(base.supervisor.run_core, "sessions", sessions.run)
        nursery.start_soon(base.supervisor.run_side, "rooms", timekeeper.run)
        yield Live(
            view=view,
            places=places,
            sessions=sessions,
            rooms=rooms,
            timekeeper=timekeeper,
            doorkeeper=doorkeeper,
            offers=offers,
            contacts=contacts,
            opened=opened,
            drain=Drain(rooms, view, sessions, settings.server),
        )
        nursery.cancel_scope.cancel()
