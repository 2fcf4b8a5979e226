"""What can happen to the lobby. Each event belongs to one user."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.lobby.ballot import Vote as VoteValue
from yoked_actor.domain.lobby.records import Known
from yoked_actor.domain.people import Person


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that happened, to or by a user."""

    user_id: str


class Entered(Event, frozen=True):
    """A user is brought into memory with what the store remembers."""

    known: Known


class Attached(Event, frozen=True):
    """A socket now speaks for the user. Devices are numbered upwards, from 1."""

    device: int


class Detached(Event, frozen=True):
    """The socket of that number is gone."""

    device: int


class Heard(Event, frozen=True):
    """A sign of life over the socket."""


class Called(Event, frozen=True):
    """A sign of life over HTTP, which also says that the user is here."""


class Look(Event, frozen=True):
    """The user asks how things stand."""


class Explain(Event, frozen=True):
    """The user asks why they still wait."""


class Spin(Event, frozen=True):
    """The user wants to meet somebody."""


class Leave(Event, frozen=True):
    """The user wants out."""


class Acknowledge(Event, frozen=True):
    """The user has seen the match."""

    match_id: str


class Vote(Event, frozen=True):
    """The user votes."""

    match_id: str
    vote: VoteValue


class Signal(Event, frozen=True):
    """The user says something to the partner of the video date: JSON, which nobody here reads."""

    date_id: str
    data: bytes


class EndDate(Event, frozen=True):
    """The user ends the video date."""

    date_id: str


class StartDate(Event, frozen=True):
    """The user calls somebody with whom they have a connection, for a video date."""

    partner: str


class Block(Event, frozen=True):
    """The user never wants to meet that other one."""

    other: str


class BlockFor(Block, frozen=True):
    """The operator wants the user never to meet that other one: no sign of life of the user."""


class Unblock(Event, frozen=True):
    """The user takes a block back."""

    other: str


class ListBlocks(Event, frozen=True):
    """The user asks whom they have blocked."""


class ProfileChanged(Event, frozen=True):
    """The user has a new profile, checked already."""

    person: Person


class Expel(Event, frozen=True):
    """The operator wants the user out of line, of their match and of their date."""


class Erase(Event, frozen=True):
    """The user is to be erased. The tombstone stands in their place where history is kept.

    What is decided after it in the same round would be erased with it, so it must be the last.
    """

    tombstone: str


class Forget(Event, frozen=True):
    """The user is to leave memory, if nothing holds them there."""
