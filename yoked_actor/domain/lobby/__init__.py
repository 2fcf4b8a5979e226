"""The live loop as a pure machine: events in; state changes, records and notices out."""

from __future__ import annotations

from yoked_actor.domain.lobby import events, notices, replies
from yoked_actor.domain.lobby.ballot import Outcome, Vote
from yoked_actor.domain.lobby.effects import Effects
from yoked_actor.domain.lobby.events import Depart, Erase, Event, Forget, Probe, Spin
from yoked_actor.domain.lobby.floor.auditor import audit_floor, audit_users
from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.floor.settled import HouseView, SettledView
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.machine.explain import explain
from yoked_actor.domain.lobby.machine.lobby import Lobby
from yoked_actor.domain.lobby.machine.pairing import nothing_between
from yoked_actor.domain.lobby.notices import (
    ConnectionSource,
    DateEnd,
    DateEnded,
    IdleReason,
    Notice,
    NowIdle,
    WaitReason,
)
from yoked_actor.domain.lobby.records import (
    MAIN,
    TOMBSTONE,
    Call,
    CallEnd,
    CancelReason,
    Changes,
    Counter,
    Erasure,
    Known,
    Match,
    MatchStatus,
    Quality,
    Seat,
    VideoDate,
    pair_of,
)
from yoked_actor.domain.lobby.recovered import Recovered
from yoked_actor.domain.lobby.replies import (
    Code,
    Departed,
    Explanation,
    Forgotten,
    Refusal,
    Renewed,
    Reply,
    SpinReply,
)
from yoked_actor.domain.lobby.views import CallView, DateView, Fit, MatchView, OfferView

__all__ = [
    "MAIN",
    "TOMBSTONE",
    "Call",
    "CallEnd",
    "CallView",
    "CancelReason",
    "Changes",
    "Code",
    "ConnectionSource",
    "Counter",
    "DateEnd",
    "DateEnded",
    "DateView",
    "Depart",
    "Departed",
    "Effects",
    "Erase",
    "Erasure",
    "Event",
    "Explanation",
    "Fit",
    "Floor",
    "Forget",
    "Forgotten",
    "HouseView",
    "IdleReason",
    "Known",
    "Lobby",
    "Match",
    "MatchStatus",
    "MatchView",
    "Notice",
    "NowIdle",
    "OfferView",
    "Outcome",
    "Probe",
    "Quality",
    "Recovered",
    "Refusal",
    "Renewed",
    "Reply",
    "Seat",
    "SettledView",
    "Spin",
    "SpinReply",
    "State",
    "VideoDate",
    "Vote",
    "WaitReason",
    "audit_floor",
    "audit_users",
    "events",
    "explain",
    "nothing_between",
    "notices",
    "pair_of",
    "replies",
]
