"""All sessions: one for each user in memory. The matchmaker's audience.

The first connection or HTTP call of a user loads the user into memory; others wait for that. A user
without a connection leaves memory after some time of silence, if the matchmaker agrees. An error in
one session is logged and closes that session's connection; it does not affect the matchmaker or
other sessions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby.messages import Message
from yoked_actor.actors.lobby.moved import RoomMoved
from yoked_actor.actors.lobby.room_link import RoomLink
from yoked_actor.actors.lobby.sessions.context import ContactCommands, OfferCommands, SessionContext
from yoked_actor.actors.lobby.sessions.session import Session
from yoked_actor.actors.lobby.sessions.suspensions import Suspensions
from yoked_actor.domain.lobby import MAIN, Known, notices, replies
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.time import Instant
from yoked_actor.settings import Settings
from yoked_actor.store import Store
from yoked_actor.telemetry import Metrics
from yoked_actor.wire.close_codes import CloseCode

_log = structlog.get_logger()
_MOST_VISITORS: Final = 100


class Sessions:
    """Loads and forgets users, and passes replies and notices to their sessions."""

    def __init__(
        self,
        main: RoomLink,
        store: Store,
        clock: Clock,
        metrics: Metrics,
        settings: Settings,
        offers: OfferCommands,
        contacts: ContactCommands,
        *,
        boot: int,
    ) -> None:
        """`main` is the link of the room that always exists; `boot` numbers the starts."""
        self._main = main
        self._by_user: dict[str, Session] = {}
        self._unflushed: dict[Session, None] = {}
        self._visitors: dict[str, Session] = {}
        self._leaving: deque[tuple[float, Session]] = deque()
        self._wakeup = trio.Event()
        self._boot = boot
        self._count = 0
        self._devices = 0
        self._settings = settings
        self._clock = clock
        self._store = store
        self.suspensions = Suspensions(clock)
        """The suspended users; `SuspensionEnforcer` keeps it up to date."""
        self.context = SessionContext(
            clock,
            store,
            metrics,
            settings,
            self._new_session_id,
            offers,
            contacts,
            self.suspensions,
        )
        """What all sessions share."""
        self.after_round: Callable[[], None] | None = None
        """Called after each round, when its replies and notices are sent."""
        self.place: Callable[[Known], Awaitable[RoomLink]] | None = None
        """Finds the room of a user who comes into memory and was in another room than `main`."""
        self.is_node = False
        """Whether other nodes serve some rooms, perhaps `main`."""
        self.left: Callable[[RoomLink], None] | None = None
        """Called when a user has left memory, with the room that the user was in."""

    def __len__(self) -> int:
        return len(self._by_user)

    def __contains__(self, user_id: object) -> bool:
        """Whether a user is in memory, or being loaded."""
        return user_id in self._by_user

    def new_device(self) -> int:
        """A number for a socket, greater than all before."""
        self._devices += 1
        return self._devices

    # Entering and leaving memory

    async def enter(self, user_id: str) -> Session:
        """The session of a user, who is loaded into memory if necessary.

        Checkpoints unless the user is in memory. If cancelled, the user is not loaded by this call.
        """
        while (session := self._by_user.get(user_id)) is not None:
            if session.loading is None:
                return session
            await session.loading.wait()
        session = Session(user_id, self.context, self._main)
        session.loading = trio.Event()
        self._by_user[user_id] = session
        try:
            known = await self._store.load_user(user_id)
            if self.place is not None and (self.is_node or known.room != MAIN):
                session.link = await self.place(known)
            await session.link.mailbox.put(Message(ev.Entered(user_id, known), session))
            if session.link.is_gone:
                raise RoomMoved(session.link.room, None)
            session.in_flight += 1
            session.link.members += 1
        except BaseException:
            self._by_user.pop(user_id, None)
            raise
        finally:
            session.loading.set()
            session.loading = None
        self.forget_later(session)
        return session

    def visitor(self, user_id: str) -> Session:
        """A session that is in no room: of an operator whose own room another node serves."""
        session = self._visitors.pop(user_id, None) or Session(user_id, self.context, self._main)
        self._visitors[user_id] = session
        if len(self._visitors) > _MOST_VISITORS:
            del self._visitors[next(iter(self._visitors))]
        return session

    def adopt(self, user_id: str, link: RoomLink) -> None:
        """Make a session for a user who was in the lobby of a room before a restart."""
        session = Session(user_id, self.context, link)
        link.members += 1
        self._by_user[user_id] = session
        self.forget_later(session)

    def forget_later(self, session: Session) -> None:
        """Check after `forget_after_s` whether a user can leave memory."""
        if session.leaving:
            return
        session.leaving = True
        due_s = trio.current_time() + self._settings.session.forget_after_s
        self._leaving.append((due_s, session))
        self._wakeup.set()

    async def run(self) -> None:
        """Forget users until cancelled. All entries wait equally long, so they are in order."""
        while True:
            while not self._leaving:
                self._wakeup = trio.Event()
                await self._wakeup.wait()
            due_s, session = self._leaving[0]
            await trio.sleep_until(due_s)
            self._leaving.popleft()
            session.leaving = False
            if self._by_user.get(session.user_id) is session:
                await self._try_to_forget(session)

    async def _try_to_forget(self, session: Session) -> None:
        silent_since_s = trio.current_time() - self._settings.session.forget_after_s
        if session.connection is not None or session.is_moving or session.spoke_s > silent_since_s:
            self.forget_later(session)
            return

        def forgotten(reply: replies.Reply, now: Instant) -> None:
            if isinstance(reply, replies.Forgotten) and reply.gone:
                del self._by_user[session.user_id]
                session.link.members -= 1
                if self.left is not None:
                    self.left(session.link)
            else:
                self.forget_later(session)

        await session.link.mailbox.put(Message(ev.Forget(session.user_id), None, forgotten))

    def may_forget(self, user_id: str) -> bool:
        """Whether nothing is in progress for a user."""
        session = self._by_user.get(user_id)
        return session is None or (session.in_flight == 0 and session.connection is None)

    # Rooms

    def in_room(self, link: RoomLink) -> list[Session]:
        """The sessions of the users in a room."""
        return [one for one in self._by_user.values() if one.link is link and one.loading is None]

    def of(self, user_id: str) -> Session | None:
        """The session of a user who is in memory."""
        session = self._by_user.get(user_id)
        return None if session is None or session.loading is not None else session

    def send_away(self, link: RoomLink, moved: RoomMoved | None) -> None:
        """Forget the users in a room that is not served here any more, and close their sockets.

        With `moved` their clients learn which node serves it now.
        """
        for session in self.in_room(link):
            self.drop(session)
            session.send_away(moved)

    @contextmanager
    def loading(self, session: Session) -> Iterator[None]:
        """Have callers of `enter` wait while it is not certain whether the user stays here.

        On an error the user is forgotten: the next caller reads what is stored.
        """
        session.loading = trio.Event()
        try:
            yield
        except BaseException:
            self.drop(session)
            session.close_connection(CloseCode.INTERNAL_ERROR, "try again")
            raise
        finally:
            session.loading.set()
            session.loading = None

    def drop(self, session: Session) -> None:
        """Forget a user whose room is no longer served here, without a word."""
        if self._by_user.get(session.user_id) is session:
            del self._by_user[session.user_id]
            session.link.members -= 1

    # Connections

    def is_connected(self, user_id: str) -> bool:
        """Whether this user has a connection."""
        session = self._by_user.get(user_id)
        return session is not None and session.connection is not None

    def connected(self) -> list[str]:
        """All users who have a connection."""
        return [
            user_id for user_id, session in self._by_user.items() if session.connection is not None
        ]

    # For HTTP

    async def ask(self, session: Session, event: ev.Event) -> replies.Reply:
        """`Session.ask` for a user who calls over HTTP, which counts as a sign of life.

        Raises `UserSuspended`, and `MailboxFull` when the event was not put.

        Checkpoints. If cancelled after the event was put, it is decided all the same.
        """
        # The user may have left memory while the body was read.
        session = await self.enter(session.user_id)
        self.suspensions.check(session.user_id)
        session.post(ev.Called(session.user_id))
        return await session.ask(event)

    # The matchmaker's audience

    def tell(self, user_id: str, notice: notices.Notice, now: Instant) -> None:
        """Send a notice to a user, if they are in memory."""
        session = self._by_user.get(user_id)
        if session is None:
            return
        try:
            session.tell(notice, now)
        except Exception:
            self._fail(session)
        self._note_unsent(session)

    def answer(self, message: Message, reply: replies.Reply, now: Instant) -> None:
        """Pass the reply to the sender of the message."""
        session = message.sender
        if isinstance(session, Session):
            session.in_flight -= 1
        try:
            if message.re is not None and isinstance(session, Session):
                session.answered(message.session_id, message.re, reply)
            elif message.then is not None:
                message.then(reply, now)
        except Exception:
            self._fail(session)
        if isinstance(session, Session):
            self._note_unsent(session)

    def catch_up(self, user_ids: Iterable[str]) -> None:
        """Read what these users have sent and what was not read yet."""
        for user_id in user_ids:
            session = self._by_user.get(user_id)
            if session is not None:
                try:
                    session.catch_up()
                except Exception:
                    self._fail(session)

    def flush(self) -> None:
        """Write what was sent in this round, one write for each connection."""
        for session in self._unflushed:
            session.unsent = False
            if session.connection is not None:
                session.connection.flush()
        self._unflushed.clear()
        if self.after_round is not None:
            self.after_round()

    def say_draining(self, user_ids: Iterable[str], reconnect_after_s: float) -> None:
        """Notify users, each once, that the server is about to stop."""
        now = self._clock.now()
        for user_id in user_ids:
            session = self._by_user.get(user_id)
            if session is not None and session.connection is not None:
                session.say_draining(now, reconnect_after_s)

    def close_connections(self) -> None:
        """Close every connection: the server is about to stop."""
        for session in list(self._by_user.values()):
            session.close_connection(CloseCode.DRAINING, "the server is about to stop")

    def _note_unsent(self, session: Session) -> None:
        if session.unsent:
            self._unflushed[session] = None

    def _fail(self, session: object) -> None:
        link: RoomLink | None = getattr(session, "link", None)
        room = None if link is None else link.room
        _log.exception("session_failed", user_id=getattr(session, "user_id", None), room=room)
        if isinstance(session, Session):
            session.close_connection(CloseCode.INTERNAL_ERROR, "internal error")

    def _new_session_id(self) -> str:
        self._count += 1
        return f"{self._boot}-{self._count}"
