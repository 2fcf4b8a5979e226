"""Bodies and answers about profiles, blocks and reports."""

from __future__ import annotations

from datetime import date, datetime
from sys import intern
from typing import Annotated

import msgspec
from msgspec.structs import replace

from yoked_actor.domain.people import (
    ADULT_AGE,
    BadText,
    Person,
    ProfileProblem,
    StrictLimit,
    check_person,
    check_text,
    clean_name,
    shared_genders,
    strict_limits,
)
from yoked_actor.domain.time import Instant, zone_names
from yoked_actor.wire.lobby import Reason, SubjectId, UserId

LONGEST_NAME = 80
LONGEST_INTEREST = 40
Interest = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_INTEREST)]


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
    strict: Annotated[
        list[StrictLimit],
        msgspec.Meta(
            description="The limits that are never widened.",
            max_length=2,
            extra_json_schema={"uniqueItems": True},
        ),
    ] = []


class Profile(msgspec.Struct, frozen=True):
    """A complete profile."""

    display_name: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME, pattern=r"\S")]
    birth_date: date
    gender: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    location: Location
    time_zone: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    preferences: Preferences
    interests: Annotated[list[Interest], msgspec.Meta(max_length=256)] = []


class NearBody(msgspec.Struct, frozen=True):
    """The position whose place is wanted."""

    lat: Annotated[float, msgspec.Meta(ge=-90, le=90)]
    lon: Annotated[float, msgspec.Meta(ge=-180, le=180)]


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place. `country` is a code of ISO 3166, and `alias` the other name that was searched."""

    name: str
    country: str
    location: Location
    time_zone: str
    alias: str | None = None
    region: str | None = None
    near: str | None = None


class PlacesAnswer(msgspec.Struct, frozen=True):
    """The places that a search has found, the best first."""

    places: list[Place]


class NearAnswer(msgspec.Struct, frozen=True):
    """The place next to a position."""

    place: Place


class BlockBody(msgspec.Struct, frozen=True):
    """Whom to block."""

    user_id: UserId


class BlockEntry(msgspec.Struct, frozen=True):
    """One block."""

    user_id: str
    at: datetime
    display_name: str | None = None
    """Null if the account is gone."""


class BlocksAnswer(msgspec.Struct, frozen=True):
    """Everyone the user has blocked."""

    blocks: list[BlockEntry]


class ReportBody(msgspec.Struct, frozen=True):
    """What to report, for the operator's review."""

    user_id: UserId
    reason: Reason
    match_id: SubjectId | None = None

    def __post_init__(self) -> None:
        check_text("reason", self.reason)


def person_of(
    user_id: str, profile: Profile, now: Instant, genders: frozenset[str], max_interests: int
) -> Person:
    """The person that a profile describes. Raises `ProfileProblem`."""
    if profile.time_zone not in zone_names():
        raise ProfileProblem("bad_request", f"time_zone {profile.time_zone!r} is not known")
    try:
        name = clean_name("display_name", profile.display_name, LONGEST_NAME)
        cleaned = [
            clean_name(f"interests[{index}]", interest, LONGEST_INTEREST)
            for index, interest in enumerate(profile.interests)
        ]
    except BadText as problem:
        raise ProfileProblem("bad_request", str(problem)) from None
    interests = tuple(dict.fromkeys(cleaned))
    if len(interests) > max_interests:
        raise ProfileProblem("bad_request", f"at most {max_interests} interests")
    wanted = profile.preferences
    if len(set(wanted.strict)) < len(wanted.strict):
        raise ProfileProblem("bad_request", "preferences.strict names a limit twice")
    person = Person(
        user_id=user_id,
        display_name=name,
        birth_date=profile.birth_date,
        gender=profile.gender,
        lat=profile.location.lat,
        lon=profile.location.lon,
        time_zone=intern(profile.time_zone),
        interests=interests,
        seeking=frozenset(wanted.seeking),
        min_age=wanted.min_age,
        max_age=wanted.max_age,
        max_distance_km=wanted.max_distance_km,
        strict=strict_limits(wanted.strict),
    )
    check_person(person, now, genders)
    return replace(person, seeking=shared_genders(person.seeking))


def profile_of(person: Person) -> Profile:
    """The profile of a person, as clients read and write it."""
    return Profile(
        display_name=person.display_name,
        birth_date=person.birth_date,
        gender=person.gender,
        location=Location(person.lat, person.lon),
        time_zone=person.time_zone,
        interests=list(person.interests),
        preferences=Preferences(
            sorted(person.seeking),
            person.min_age,
            person.max_age,
            person.max_distance_km,
            sorted(person.strict),
        ),
    )
