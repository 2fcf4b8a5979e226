"""One matchmaker for each room in use.

A room gets its lobby when the first user enters, or when an earlier process left something open in
it; `open` does what a restart does. In a room that has closed matches and dates run out, and when
nobody is in it any more, its matchmaker ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import (
    LeaseGuard,
    Matchmaker,
    Message,
    RoomAudience,
    RoomLink,
    RoomMoved,
    Session,
    Sessions,
)
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.actors.rooms.catalogue import Catalogue
from yoked_actor.actors.rooms.in_use import RoomsInUse
from yoked_actor.actors.rooms.open_room import OpenRoom
from yoked_actor.domain.lobby import MAIN, Counter, Floor, Known, Lobby, Recovered, Reply, replies
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.people import Person, ShownPlaces
from yoked_actor.domain.time import Instant
from yoked_actor.settings import Settings
from yoked_actor.store import RoomLeaseLost, Store
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()


class Registry(RoomsInUse):
    """The rooms in use. A `Timekeeper` closes and opens them by their times."""

    def __init__(
        self,
        catalogue: Catalogue,
        sessions: Sessions,
        store: Store,
        clock: Clock,
        metrics: Metrics,
        settings: Settings,
        *,
        floors: dict[str, Floor],
        places: ShownPlaces,
        stored_people: Callable[[Sequence[Person], Instant], None],
        alert: Callable[[], None],
    ) -> None:
        super().__init__(floors)
        self.catalogue = catalogue
        self._counter: Counter | None = None
        self._sessions = sessions
        self._store = store
        self._clock = clock
        self._metrics = metrics
        self._settings = settings
        self._places = places
        self._stored_people = stored_people
        self._alert = alert
        self._nursery: trio.Nursery | None = None
        self._opening: dict[str, trio.Event] = {}
        self._pairs = True
        self.elsewhere: Callable[[str], RoomMoved] | None = None
        """With other nodes: the error for a room that is not served here. None: all are."""
        self.lost: Callable[[str], Awaitable[None]] | None = None
        """With other nodes: called when another node has taken a room."""
        self.counted: Callable[[str], int] | None = None
        """With other nodes: how many users are in a room that is not served here, as was read."""
        self.recount: Callable[[], Awaitable[None]] | None = None
        """With other nodes: reads these numbers again."""
        self.tell_count: Callable[[], None] | None = None
        """With other nodes: lets them read how many users are in the rooms of this node."""
        self.opened: Callable[[], None] | None = None
        """Called when a room comes into use."""

    def now(self) -> Instant:
        """The present instant."""
        return self._clock.now()

    # For operators and probes

    async def explain(self, user_id: str) -> Reply:
        """Why a user waits: `Matchmaker.explain` of their room."""
        session = self._sessions.of(user_id)
        room = MAIN if session is None else session.link.room
        opened = self.rooms.get(room)
        if opened is None:
            raise self.elsewhere_of(room)
        return await opened.matchmaker.explain(user_id)

    def stop_pairing(self) -> None:
        """Make no more matches in any room: the server is about to stop."""
        self._pairs = False
        for one in self.rooms.values():
            one.lobby.stop_pairing()

    # Opening and closing

    async def start(self, nursery: trio.Nursery, main: Recovered, link: RoomLink) -> OpenRoom:
        """Open `main` as it was recovered, then every room in which something was left open."""
        self._nursery = nursery
        opened = self._open(MAIN, main, link)
        for room in await self._store.busy_rooms():
            await self.open(room)
        return opened

    def start_node(self, nursery: trio.Nursery, boot: int) -> None:
        """Serve no room before `open_leased`. Numbers of this start are unique among all nodes."""
        self._nursery = nursery
        self._counter = Counter(boot << 32)

    async def open_leased(self, room: str, guard: LeaseGuard) -> None:
        """Recover a room that this node has the lease of, and serve it."""
        recovered = await self._store.recover(room)
        link = RoomLink(Mailbox(self._settings.matchmaker.mailbox), room)
        self._open(room, recovered, link, guard)

    def stop(self, room: str) -> None:
        """Stop to decide about a room; a commit in progress ends. Its sessions stay."""
        opened = self.rooms.get(room)
        if opened is not None:
            opened.link.is_gone = True
            self._remove(opened)

    async def open(self, room: str) -> OpenRoom:
        """The room in use, recovered from the store if it was not.

        Raises `RoomMoved` if another node has to serve it, and `StoreUnavailable`. Checkpoints
        unless the room is in use. If cancelled, the room may be in use all the same.
        """
        while (found := self.rooms.get(room)) is None:
            if self.elsewhere is not None:
                raise self.elsewhere(room)
            if room in self._opening:
                await self._opening[room].wait()
                continue
            self._opening[room] = trio.Event()
            try:
                recovered = await self._store.recover(room)
                link = RoomLink(Mailbox(self._settings.matchmaker.mailbox), room)
                self._open(room, recovered, link)
            finally:
                self._opening.pop(room).set()
        return found

    def _open(
        self, room: str, recovered: Recovered, link: RoomLink, guard: LeaseGuard | None = None
    ) -> OpenRoom:
        assert self._nursery is not None
        if self._counter is None:
            self._counter = Counter(recovered.next_number)
        declared = self.catalogue.get(room)
        rules = self._settings.rules() if declared is None else declared.rules
        lobby = Lobby(rules, self._counter, self._places, recovered.boot, room)
        lobby.restore(recovered.users, recovered.matches, recovered.dates, self._clock.now())
        if not self._pairs:
            lobby.stop_pairing()
        for known in recovered.users:
            if known.user_id not in self._sessions:
                self._sessions.adopt(known.user_id, link)
        matchmaker = Matchmaker(
            link.mailbox,
            lobby,
            self._store,
            self._clock,
            RoomAudience(self._sessions, link),
            self._metrics,
            self._settings,
            stored_people=self._stored_people,
            alert=self._alert,
            waiting=self.waiting,
            guard=guard,
        )
        opened = OpenRoom(link, lobby, matchmaker, guard)
        self.rooms[room], self.floors[room] = opened, lobby.floor
        self._metrics.lobby.of_room(room).expect(rules.policy)
        self._nursery.start_soon(self._run_matchmaker, opened)
        _log.info(
            "recovered",
            boot=recovered.boot,
            room=room,
            users=len(recovered.users),
            matches=len(recovered.matches),
            dates=len(recovered.dates),
        )
        if self.opened is not None:
            self.opened()
        return opened

    async def _run_matchmaker(self, opened: OpenRoom) -> None:
        with opened.scope:
            try:
                await opened.matchmaker.run()
            except RoomLeaseLost:
                assert self._nursery is not None
                assert self.lost is not None
                opened.link.is_gone = True
                self._nursery.start_soon(self.lost, opened.room)
        if opened.link.is_gone:
            opened.matchmaker.refuse()

    def _remove(self, opened: OpenRoom) -> None:
        if self.rooms.get(opened.room) is opened:
            del self.rooms[opened.room], self.floors[opened.room]
            opened.scope.cancel()
            _log.info("room_left", room=opened.room)
            self.forget_removed()

    def forget_removed(self) -> None:
        """Stop to count rooms that are neither declared nor in use any more."""
        kept = self.catalogue.rooms.keys() | self.rooms.keys()
        self._metrics.lobby.keep_only(kept)
        self._metrics.nodes.keep_only(kept)

    def departed(self, link: RoomLink) -> None:
        """A user has left a room or memory: a closed room without users is not in use any more."""
        opened = self.rooms.get(link.room)
        if opened is not None and opened.link is link and opened.is_over and link.room != MAIN:
            self._remove(opened)

    # Users

    async def place(self, known: Known) -> RoomLink:
        """The room of a user who comes into memory: the one they were in, or `main`."""
        room, declared = known.room, self.catalogue.get(known.room)
        if (
            declared is None
            or not declared.hours.is_open(self._clock.now())
            or not declared.invites(known.user_id)
        ):
            room = MAIN
        elif not self.is_elsewhere(room) and self.is_full(room):
            await self._send_back(known)
            room = MAIN
        return (await self.open(room)).link

    def is_full(self, room: str) -> bool:
        """Whether a declared room has as many users as it holds."""
        declared = self.catalogue.get(room)
        capacity = None if declared is None else declared.capacity
        return capacity is not None and self.here(room) >= capacity

    async def _send_back(self, known: Known) -> None:
        """Store that a user who comes into a full room is in `main`: another node may serve it."""
        opened = self.rooms.get(known.room)
        if opened is None or opened.guard is None:
            return
        try:
            await self._store.nodes.move_user(known.user_id, MAIN, opened.guard.lease)
        except RoomLeaseLost:
            raise self.elsewhere_of(known.room) from None
        if self.tell_count is not None:
            self.tell_count()

    def here(self, room: str) -> int:
        """How many users are in a room, here or on another node."""
        if room in self.rooms or self.counted is None:
            return super().here(room)
        return self.counted(room)

    def is_elsewhere(self, room: str) -> bool:
        """Whether another node has to serve a room."""
        return self.elsewhere is not None and room not in self.rooms

    def elsewhere_of(self, room: str) -> RoomMoved:
        """The error for a room that is not served here."""
        return RoomMoved(room, None) if self.elsewhere is None else self.elsewhere(room)

    async def send(self, session: Session, room: str) -> Reply:
        """Store that an idle user is in a room of another node, and forget them here."""
        opened = self.rooms.get(session.link.room)
        if opened is None or opened.guard is None:
            raise self.elsewhere_of(session.link.room)
        lease = opened.guard.lease

        async def write() -> None:
            await self._store.nodes.move_user(session.user_id, room, lease)

        # Other connections of the user wait until it is stored.
        with self._sessions.loading(session):
            try:
                reply = await session.leave_for(write)
            except RoomLeaseLost:
                raise self.elsewhere_of(session.link.room) from None
            if not isinstance(reply, replies.Refusal):
                self._sessions.drop(session)
                session.send_away(self.elsewhere_of(room))
        return reply

    def forget_erased(self, user_id: str) -> None:
        """Have the rooms that an erased user is not in forget them, too."""
        session = self._sessions.of(user_id)
        for one in self.rooms.values():
            if session is None or session.link is not one.link:
                one.link.mailbox.put_always(Message(ev.Gone(user_id), None))
