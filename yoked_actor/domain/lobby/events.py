"""The events that the lobby handles. Each belongs to one user."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.lobby.ballot import Vote as VoteValue
from yoked_actor.domain.lobby.records import Known
from yoked_actor.domain.people import Person


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that a user did, or that happened to a user."""

    user_id: str


class Entered(Event, frozen=True):
    """A user comes into memory, with what the store has of them."""

    known: Known


class Attached(Event, frozen=True):
    """A socket is open for the user. Devices are numbered from 1."""

    device: int


class Detached(Event, frozen=True):
    """The socket with that number is closed."""

    device: int


class SignOfLife(Event, frozen=True):
    """A sign of life over the socket."""


class Called(Event, frozen=True):
    """A sign of life over HTTP; it also makes the user present."""


class AskSnapshot(Event, frozen=True):
    """The user asks for a snapshot."""


class Explain(Event, frozen=True):
    """The user asks why they still wait."""


class Spin(Event, frozen=True):
    """The user wants a match."""


class Leave(Event, frozen=True):
    """The user leaves the line or the match."""


class Acknowledge(Event, frozen=True):
    """The user has seen the match."""

    match_id: str


class Vote(Event, frozen=True):
    """The user votes."""

    match_id: str
    vote: VoteValue


class Signal(Event, frozen=True):
    """A signal to the partner of the video date: JSON, which the server does not read."""

    date_id: str
    data: bytes


class EndDate(Event, frozen=True):
    """The user ends the video date."""

    date_id: str


class StartDate(Event, frozen=True):
    """The user calls a user they are connected with, for a video date."""

    partner: str
    connection_id: str
    is_online: bool = False
    """Whether the partner is online in some room of this server."""


class AcceptCall(Event, frozen=True):
    """The user accepts a call: the video date begins."""

    call_id: str


class DeclineCall(Event, frozen=True):
    """The user declines a call."""

    call_id: str


class CancelCall(Event, frozen=True):
    """The user cancels their own call."""

    call_id: str


class Block(Event, frozen=True):
    """The user blocks another user."""

    other: str


class BlockFor(Block, frozen=True):
    """The operator blocks for the user. Not a sign of life."""


class Unblock(Event, frozen=True):
    """The user removes a block."""

    other: str


class ListBlocks(Event, frozen=True):
    """The user asks for their list of blocks."""


class ProfileChanged(Event, frozen=True):
    """The user has a new profile, which was checked before."""

    person: Person


class EndMatch(Event, frozen=True):
    """An operator ends a match of the user."""

    match_id: str


class Expel(Event, frozen=True):
    """The operator removes the user from the line, their match and their date."""


class Erase(Event, frozen=True):
    """The user is erased. The tombstone replaces their id where history is kept.

    It must be the last event of its round: later decisions of the round would be erased with it.
    """

    tombstone: str


class Depart(Event, frozen=True):
    """The user leaves the lobby of this room for another room, if they are idle."""


class Gone(Event, frozen=True):
    """The user was erased in another room: nothing may name them here."""


class Forget(Event, frozen=True):
    """The user leaves memory, if they are idle and not connected."""


class Probe(Event, frozen=True):
    """Changes nothing. Its sender wants a round to be played."""
