"""The inputs of a zone's run of offers, at one instant.

A frozen pool is a value. Its people are in the order of their ids and are named by their number;
facts between two people are sorted pairs of numbers, packed. So equal pools are equal bytes, in
whatever order they were read, and the digest of a run's inputs is a digest of these bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from yoked_actor.domain.matching import Tier, Tiers, Widening
from yoked_actor.domain.offers.scoring import SCORERS, Scoring, Votes
from yoked_actor.domain.people import Person, StrictLimit
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant

_FORMAT = b"yoked offers 1\n"
_PACKED = "<i8"
_FIRST = 32
"""A packed pair is the first number, shifted by so many bits, and the second."""

NO_VOTES = Votes()
_RULES = Rules()

_encode = msgspec.msgpack.Encoder().encode


class OfferRules(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers by which a run decides."""

    daily_offer_count: int = 5
    max_daily_exposure: int = 10
    not_again_days: int = 30
    scoring: Scoring = "v2"
    tier2_years: int = _RULES.tier2_years
    tier2_distance: float = _RULES.tier2_distance
    tier3_years: int = _RULES.tier3_years
    tier3_distance: float = _RULES.tier3_distance

    def __post_init__(self) -> None:
        if self.scoring not in SCORERS:
            raise ValueError(f"there is no scoring {self.scoring}; there are {', '.join(SCORERS)}")

    def tiers(self) -> Tiers:
        """The tiers by which a set is filled; they do not depend on a wait."""
        return Tiers(
            (
                Widening(Tier.WIDER, 0, self.tier2_years, self.tier2_distance),
                Widening(Tier.WIDEST, 0, self.tier3_years, self.tier3_distance),
            ),
            0,
        )


class FrozenPerson(msgspec.Struct, frozen=True, gc=False):
    """What a run needs of a person. No name: nothing depends on it."""

    user_id: str
    birth_date: date
    gender: str
    lat: float
    lon: float
    interests: tuple[str, ...]
    seeking: tuple[str, ...]
    min_age: int
    max_age: int
    max_distance_km: float
    receives: bool
    """Whether this person gets a set; the others are candidates only."""
    votes: Votes = NO_VOTES
    strict_limits: tuple[StrictLimit, ...] | UnsetType = msgspec.field(default=UNSET, name="strict")
    """Not encoded when there is none, so that pools of earlier versions keep their bytes."""

    @property
    def strict(self) -> tuple[StrictLimit, ...]:
        """The limits that are never widened."""
        return () if self.strict_limits is UNSET else self.strict_limits


class FrozenPool(msgspec.Struct, frozen=True):
    """All people of a zone's run, and what keeps them apart. Made by `freeze`."""

    zone: str
    day: date
    offered_at: Instant
    expires_at: Instant
    people: tuple[FrozenPerson, ...]
    apart: bytes
    """Pairs who are kept apart: blocked, met, or connected. In both orders."""
    not_again: bytes
    """(receiver, candidate of a recent offer)."""
    accepted: bytes
    """(receiver who accepted an offer, its candidate)."""


class _Encoded(msgspec.Struct, frozen=True):
    """A frozen pool whose people are encoded."""

    zone: str
    day: date
    offered_at: Instant
    expires_at: Instant
    people: list[msgspec.Raw]
    apart: bytes
    not_again: bytes
    accepted: bytes


_decode_encoded = msgspec.msgpack.Decoder(_Encoded).decode
_decode_person = msgspec.msgpack.Decoder(FrozenPerson).decode


def frozen_person(person: Person, *, receives: bool, votes: Votes = NO_VOTES) -> FrozenPerson:
    """What a run needs of a profile. Sets are sorted."""
    # By position: a call with names takes twice as long.
    return FrozenPerson(
        person.user_id,
        person.birth_date,
        person.gender,
        person.lat,
        person.lon,
        tuple(sorted(set(person.interests))),
        _sorted_genders(person.seeking),
        person.min_age,
        person.max_age,
        person.max_distance_km,
        receives,
        votes,
        tuple(sorted(person.strict)) if person.strict else UNSET,
    )


@lru_cache(maxsize=256)
def _sorted_genders(genders: frozenset[str]) -> tuple[str, ...]:
    """The same tuple for all people who seek the same genders."""
    return tuple(sorted(genders))


def freeze(
    zone: str,
    day: date,
    offered_at: Instant,
    expires_at: Instant,
    people: Iterable[FrozenPerson],
    *,
    apart: Iterable[tuple[str, str]] = (),
    not_again: Iterable[tuple[str, str]] = (),
    accepted: Iterable[tuple[str, str]] = (),
) -> FrozenPool:
    """A pool of these people. Pairs with other people are left out; `apart` has no order."""
    ordered = tuple(sorted(people, key=attrgetter("user_id")))
    numbers = {person.user_id: number for number, person in enumerate(ordered)}
    if len(numbers) < len(ordered):
        raise ValueError("a person is in the pool twice")

    def known(pairs: Iterable[tuple[str, str]]) -> Iterable[int]:
        for a, b in pairs:
            first, second = numbers.get(a), numbers.get(b)
            if first is not None and second is not None:
                yield first << _FIRST | second

    kept_apart = np.fromiter(known(apart), np.int64)
    return FrozenPool(
        zone,
        day,
        offered_at,
        expires_at,
        ordered,
        apart=_packed(np.concatenate([kept_apart, _turned(kept_apart)])),
        not_again=_packed(np.fromiter(known(not_again), np.int64)),
        accepted=_packed(np.fromiter(known(accepted), np.int64)),
    )


class Pairs:
    """The partners of each person, by number: views of one array, not a list for each."""

    __slots__ = ("_edges", "_others")

    def __init__(self, pairs: NDArray[np.int64], people: int) -> None:
        self._others = pairs & ((1 << _FIRST) - 1)
        self._edges = np.searchsorted(pairs >> _FIRST, np.arange(people + 1))

    def __getitem__(self, person: int) -> NDArray[np.int64]:
        return self._others[self._edges[person] : self._edges[person + 1]]

    def of_all(self, people: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All pairs of these people: the position of each among them, and the partner."""
        firsts = self._edges.take(people)
        counts = self._edges.take(people + 1) - firsts
        which = np.repeat(np.arange(len(people)), counts)
        # The pairs of a person follow each other, from the first one.
        skipped = firsts - (np.cumsum(counts) - counts)
        return which, self._others.take(np.arange(len(which)) + skipped.take(which))


def pairs_by_first(packed: bytes, people: int) -> Pairs:
    """For each person by number, the second ones of their pairs."""
    return Pairs(np.frombuffer(packed, _PACKED).astype(np.int64), people)


def pairs_by_second(packed: bytes, people: int) -> Pairs:
    """For each person by number, the first ones of the pairs in which they are second."""
    return Pairs(np.sort(_turned(np.frombuffer(packed, _PACKED).astype(np.int64))), people)


def canonical(pool: FrozenPool) -> bytes:
    """The pool as bytes: equal pools give equal bytes.

    People are encoded one by one: one call for a hundred thousand would hold the GIL too long.
    """
    return _encode(
        _Encoded(
            pool.zone,
            pool.day,
            pool.offered_at,
            pool.expires_at,
            [msgspec.Raw(_encode(person)) for person in pool.people],
            pool.apart,
            pool.not_again,
            pool.accepted,
        )
    )


def decode_pool(content: bytes) -> FrozenPool:
    """The pool from its bytes; people are decoded one by one, like in `canonical`."""
    known = _decode_encoded(content)
    return FrozenPool(
        known.zone,
        known.day,
        known.offered_at,
        known.expires_at,
        tuple([_decode_person(person) for person in known.people]),
        known.apart,
        known.not_again,
        known.accepted,
    )


def inputs_digest(pool: FrozenPool, rules: OfferRules) -> str:
    """The digest of the inputs of a run."""
    return content_digest(canonical(pool), rules)


def content_digest(content: bytes, rules: OfferRules) -> str:
    """The digest of inputs, from the bytes of the pool."""
    digest = sha256(_FORMAT)
    digest.update(_encode(rules))
    digest.update(content)
    return digest.hexdigest()


def _turned(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    return (pairs & ((1 << _FIRST) - 1)) << _FIRST | pairs >> _FIRST


def _packed(pairs: NDArray[np.int64]) -> bytes:
    return np.unique(pairs).astype(_PACKED).tobytes()
