"""What goes into the matchmaker's mailbox, and who receives what comes out of a round."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Protocol

from yoked_actor.domain.lobby import Depart, Erase, Event, Forget, Notice, Probe, Reply
from yoked_actor.domain.time import Instant

# A constant is read faster than an imported name.
_ERASE: Final = Erase

Then = Callable[[Reply, Instant], None]
"""Called with the reply to a message, as soon as the decision is stored."""


class Message:
    """An event for the lobby, its sender, and what to do with the reply."""

    __slots__ = ("event", "posted_s", "re", "sender", "session_id", "then")

    def __init__(
        self,
        event: Event,
        sender: object,
        then: Then | None = None,
        posted_s: float = -1.0,
        re: str | None = None,
        session_id: str = "",
    ) -> None:
        self.event = event
        self.sender = sender
        self.then = then
        self.posted_s = posted_s
        """When it was put, on trio's clock; of spins and votes alone."""
        self.re = re
        """The id of the command, if it is one: the sender, a session, replies to its client."""
        self.session_id = session_id
        """The session of the command; a newer session of the same user ignores the reply."""


class Audience(Protocol):
    """Receives replies and notices. Methods must not block, nor raise because of one receiver."""

    def tell(self, user_id: str, notice: Notice, now: Instant) -> None:
        """Send a notice to a user."""

    def answer(self, message: Message, reply: Reply, now: Instant) -> None:
        """Pass the reply to the sender of the message."""

    def take_signs_of_life(self) -> dict[str, float]:
        """When users were heard since the last call, on trio's clock."""
        ...

    def catch_up(self, user_ids: Iterable[str]) -> None:
        """Read what users have sent and what was not read yet: they are lost without it."""

    def may_forget(self, user_id: str) -> bool:
        """Whether nothing is in progress for this user."""

    def flush(self) -> None:
        """The round is over: write what was sent."""


def up_to_an_erasure(messages: list[Message]) -> tuple[list[Message], list[Message]]:
    """The messages that one round may decide, and the rest.

    An erasure is the last of its round: what the round stores of the user is erased with them.
    """
    for index, message in enumerate(messages):
        if type(message.event) is _ERASE:
            return messages[: index + 1], messages[index + 1 :]
    return messages, []


NOT_FOR_LOBBY: Final = frozenset({Depart, Forget, Probe})
"""The events that the lobby does not decide about."""
