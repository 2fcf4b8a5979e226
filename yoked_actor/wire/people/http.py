"""What crosses HTTP: bodies, answers, and problems (RFC 9457) with our code."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

import msgspec

from yoked_actor.domain.lobby import Outcome, State
from yoked_actor.domain.matching import GroupQuality, Rejections, Relaxation, Tier
from yoked_actor.domain.people import ADULT_AGE, Person, ProfileProblem, check_person
from yoked_actor.domain.time import Instant, zone_names
from yoked_actor.wire.lobby import Reason, SubjectId, UserId

Interest = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]


class Location(msgspec.Struct, frozen=True):
    """A position on the globe, in degrees."""

    lat: Annotated[float, msgspec.Meta(ge=-90, le=90)]
    lon: Annotated[float, msgspec.Meta(ge=-180, le=180)]


class Preferences(msgspec.Struct, frozen=True):
    """Whom a user wants to meet."""

    seeking: Annotated[list[str], msgspec.Meta(min_length=1, max_length=32)]
    min_age: Annotated[int, msgspec.Meta(ge=ADULT_AGE, le=150)]
    max_age: Annotated[int, msgspec.Meta(ge=ADULT_AGE, le=150)]
    max_distance_km: Annotated[float, msgspec.Meta(gt=0, le=25_000)]


class Profile(msgspec.Struct, frozen=True):
    """A complete profile."""

    display_name: Annotated[str, msgspec.Meta(min_length=1, max_length=80, pattern=r"\S")]
    birth_date: date
    gender: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    location: Location
    time_zone: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    preferences: Preferences
    interests: Annotated[list[Interest], msgspec.Meta(max_length=256)] = []


class LoginBody(msgspec.Struct, frozen=True):
    """Who to be, on one's own machine."""

    user_id: UserId
    profile: Profile | None = None


class LoginAnswer(msgspec.Struct, frozen=True):
    """A token for that user."""

    token: str
    user_id: str


class AdvanceBody(msgspec.Struct, frozen=True):
    """How far to move the mock clock."""

    seconds: Annotated[float, msgspec.Meta(ge=0, le=366 * 86_400)]


class TimeAnswer(msgspec.Struct, frozen=True):
    """The server's time."""

    at: datetime


class SpinAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a spin has led."""

    success: bool
    state: State
    matched: bool
    match_id: str | None = None


class StateAnswer(msgspec.Struct, frozen=True):
    """Where the user is now."""

    state: State


class ExplainAnswer(msgspec.Struct, frozen=True):
    """Why the user still waits."""

    waiting_s: float
    tier: Tier
    next_tier_in_s: float | None
    pool: int
    rejected_by: Rejections
    nearest: Relaxation | None


class AcknowledgeBody(msgspec.Struct, frozen=True):
    """Which match is on the screen."""

    match_id: SubjectId


class AcknowledgeAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Until when to vote, once voting is open."""

    state: State
    vote_by: datetime | None = None


class VoteBody(msgspec.Struct, frozen=True):
    """A vote on the partner."""

    match_id: SubjectId
    vote: Literal["yes", "pass"]


class VoteAnswer(msgspec.Struct, frozen=True):
    """The outcome, once there is one."""

    outcome: Outcome | None
    waiting_for_partner: bool


class EndDateBody(msgspec.Struct, frozen=True):
    """Which date to end."""

    date_id: SubjectId


class BlockBody(msgspec.Struct, frozen=True):
    """Whom to block."""

    user_id: UserId


class BlockEntry(msgspec.Struct, frozen=True):
    """One block."""

    user_id: str
    at: datetime


class BlocksAnswer(msgspec.Struct, frozen=True):
    """Everyone the user has blocked."""

    blocks: list[BlockEntry]


class ReportBody(msgspec.Struct, frozen=True):
    """What to report, for the operator's review."""

    user_id: UserId
    reason: Reason
    match_id: SubjectId | None = None


class QualityAnswer(msgspec.Struct, frozen=True):
    """How good the matches of some time were. Not `complete`: there were more, and older ones."""

    since: datetime
    until: datetime
    matches: int
    complete: bool
    groups: list[GroupQuality]


class Health(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether the server is well."""

    status: Literal["ok", "draining", "store_unavailable", "database_lost"]
    degraded: list[str] = []
    """The parts beside the live loop that have failed and are being started again, by name."""


class Empty(msgspec.Struct, frozen=True):
    """Nothing more to say."""


def person_of(
    user_id: str, profile: Profile, now: Instant, genders: frozenset[str], max_interests: int
) -> Person:
    """The person that a profile describes, or `ProfileProblem`."""
    if profile.time_zone not in zone_names():
        raise ProfileProblem("bad_request", f"time_zone {profile.time_zone!r} is not known")
    if not profile.display_name.strip():
        raise ProfileProblem("bad_request", "display_name is blank")
    interests = tuple(dict.fromkeys(profile.interests))
    if len(interests) > max_interests:
        raise ProfileProblem("bad_request", f"at most {max_interests} interests")
    wanted = profile.preferences
    person = Person(
        user_id=user_id,
        display_name=profile.display_name.strip(),
        birth_date=profile.birth_date,
        gender=profile.gender,
        lat=profile.location.lat,
        lon=profile.location.lon,
        time_zone=profile.time_zone,
        interests=interests,
        seeking=frozenset(wanted.seeking),
        min_age=wanted.min_age,
        max_age=wanted.max_age,
        max_distance_km=wanted.max_distance_km,
    )
    check_person(person, now, genders)
    return person


def profile_of(person: Person) -> Profile:
    """The profile of a person, as it is read and written over HTTP."""
    return Profile(
        display_name=person.display_name,
        birth_date=person.birth_date,
        gender=person.gender,
        location=Location(person.lat, person.lon),
        time_zone=person.time_zone,
        interests=list(person.interests),
        preferences=Preferences(
            sorted(person.seeking), person.min_age, person.max_age, person.max_distance_km
        ),
    )
