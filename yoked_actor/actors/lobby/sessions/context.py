"""What a session uses: its connection, the offers, and the context that all sessions share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby.sessions.suspensions import Suspensions
from yoked_actor.domain.lobby import Vote, replies
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.people import ReportLimits
from yoked_actor.settings import Settings
from yoked_actor.store import Store
from yoked_actor.telemetry import Metrics
from yoked_actor.wire.lobby import commands as cmd


class Connection(Protocol):
    """A client's socket. Methods do not block or raise."""

    busy: bool
    """Whether a message is being handled; nothing is read meanwhile."""

    def send(self, text: bytes) -> None:
        """Queue one text message."""

    def flush(self) -> None:
        """Write the queued messages."""

    def catch_up(self) -> None:
        """Handle what has arrived, if that can be read without waiting."""

    def close(self, code: int, reason: str) -> None:
        """Start the closing handshake."""


class OfferCommands(Protocol):
    """Handles the commands about offers."""

    async def answer(self, user_id: str, offer_id: str, answer: str) -> replies.Reply:
        """Store an answer. Notices that follow from it are sent after the reply."""
        ...

    def is_online(self, user_id: str) -> bool:
        """Whether a user is online in a room of this server."""
        ...

    async def partner(self, user_id: str, connection_id: str) -> str | None:
        """The other user of a user's connection; None when there is no such connection."""
        ...


class ContactCommands(Protocol):
    """Handles the commands about whom a user has met."""

    async def stay_in_touch(self, user_id: str, date_id: str, answer: str) -> replies.Reply:
        """Store an answer. Notices that follow from it are sent after the reply."""
        ...


class RoomCommands(Protocol):
    """Handles the commands about rooms."""

    async def enter(self, user_id: str, room: str, code: str | None) -> replies.Reply:
        """Move a user into a room. A refusal changes nothing."""
        ...


class SessionContext:
    """What all sessions share."""

    def __init__(
        self,
        clock: Clock,
        store: Store,
        metrics: Metrics,
        settings: Settings,
        new_session_id: Callable[[], str],
        offers: OfferCommands,
        contacts: ContactCommands,
        suspensions: Suspensions,
    ) -> None:
        self.clock = clock
        self.store = store
        self.metrics = metrics
        self.settings = settings
        self.new_session_id = new_session_id
        self.offers = offers
        self.contacts = contacts
        self.suspensions = suspensions
        self.rooms: RoomCommands | None = None
        """Lets users enter rooms; None while there is only `main`."""
        self.served: Callable[[str], Awaitable[bool]] | None = None
        """With other nodes: waits until some node serves a room; False when none has taken it."""
        self.draining = False
        # Read for each message, and not changed by a reload. An attribute of a section of the
        # settings takes ten times as long.
        self.kept_events = settings.session.kept_events
        self.kept_replies = settings.session.kept_replies
        self.max_pending_commands = settings.session.max_pending_commands

    def report_limits(self) -> ReportLimits:
        """How much one user may report, by the present settings."""
        safety = self.settings.safety
        return ReportLimits(safety.reports_per_day, safety.reports_per_pair)


def event_of(user_id: str, command: cmd.Command) -> ev.Event:
    """The event of the lobby for a command, one of `DECIDED_BY_LOBBY`."""
    return _EVENTS[type(command)](user_id, command)


_VOTES: Final = {vote.value: vote for vote in Vote}
_EVENTS: Final[dict[type[cmd.Command], Callable[[str, Any], ev.Event]]] = {
    cmd.Spin: lambda user_id, command: ev.Spin(user_id),
    cmd.Explain: lambda user_id, command: ev.Explain(user_id),
    cmd.Leave: lambda user_id, command: ev.Leave(user_id),
    cmd.Acknowledge: lambda user_id, command: ev.Acknowledge(user_id, command.match_id),
    cmd.Vote: lambda user_id, command: ev.Vote(user_id, command.match_id, _VOTES[command.vote]),
    cmd.Signal: lambda user_id, command: ev.Signal(user_id, command.date_id, bytes(command.data)),
    cmd.EndDate: lambda user_id, command: ev.EndDate(user_id, command.date_id),
    cmd.AcceptCall: lambda user_id, command: ev.AcceptCall(user_id, command.call_id),
    cmd.DeclineCall: lambda user_id, command: ev.DeclineCall(user_id, command.call_id),
    cmd.CancelCall: lambda user_id, command: ev.CancelCall(user_id, command.call_id),
    cmd.Block: lambda user_id, command: ev.Block(user_id, command.user_id),
}
DECIDED_BY_LOBBY: Final = frozenset(_EVENTS)
"""The commands that the matchmaker decides."""
