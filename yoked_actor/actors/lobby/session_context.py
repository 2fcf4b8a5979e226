"""What a session uses: its connection, the offers, and the context that all sessions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby.messages import Message
from yoked_actor.actors.lobby.suspensions import Suspensions
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.domain.lobby import Vote, notices
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.people import ReportLimits
from yoked_actor.settings import Settings
from yoked_actor.store import Store
from yoked_actor.telemetry import Metrics
from yoked_actor.wire.lobby import commands as cmd


class Connection(Protocol):
    """A client's socket. Methods do not block or raise."""

    def send(self, text: bytes) -> None:
        """Queue one text message."""

    def flush(self) -> None:
        """Write the queued messages."""

    def close(self, code: int, reason: str) -> None:
        """Start the closing handshake."""


class OfferCommands(Protocol):
    """Handles the commands about offers."""

    async def answer(self, user_id: str, offer_id: str, answer: str) -> notices.Reply:
        """Store an answer. Notices that follow from it are sent after the reply."""
        ...

    async def partner(self, user_id: str, connection_id: str) -> str | None:
        """The other user of a user's connection; None when there is no such connection."""
        ...


class ContactCommands(Protocol):
    """Handles the commands about whom a user has met."""

    async def stay_in_touch(self, user_id: str, date_id: str, answer: str) -> notices.Reply:
        """Store an answer. Notices that follow from it are sent after the reply."""
        ...


class SessionContext(msgspec.Struct):
    """What all sessions share."""

    clock: Clock
    mailbox: Mailbox[Message]
    store: Store
    metrics: Metrics
    settings: Settings
    new_session_id: Callable[[], str]
    offers: OfferCommands
    contacts: ContactCommands
    suspensions: Suspensions
    draining: bool = False

    def report_limits(self) -> ReportLimits:
        """How much one user may report, by the present settings."""
        safety = self.settings.safety
        return ReportLimits(safety.reports_per_day, safety.reports_per_pair)


def event_of(user_id: str, command: cmd.Command) -> ev.Event:
    """The event of the lobby for a command."""
    match command:
        case cmd.Spin():
            return ev.Spin(user_id)
        case cmd.Explain():
            return ev.Explain(user_id)
        case cmd.Leave():
            return ev.Leave(user_id)
        case cmd.Acknowledge(match_id=match_id):
            return ev.Acknowledge(user_id, match_id)
        case cmd.Vote(match_id=match_id, vote=vote):
            return ev.Vote(user_id, match_id, Vote(vote))
        case cmd.Signal(date_id=date_id, data=data):
            return ev.Signal(user_id, date_id, bytes(data))
        case cmd.EndDate(date_id=date_id):
            return ev.EndDate(user_id, date_id)
        case cmd.AcceptCall(call_id=call_id):
            return ev.AcceptCall(user_id, call_id)
        case cmd.DeclineCall(call_id=call_id):
            return ev.DeclineCall(user_id, call_id)
        case cmd.CancelCall(call_id=call_id):
            return ev.CancelCall(user_id, call_id)
        case cmd.Block(user_id=other):
            return ev.Block(user_id, other)
    raise TypeError(f"no event for {command!r}")
