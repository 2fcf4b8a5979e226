"""What a zone's run of offers is made from: everybody and everything that counts, at one instant.

A frozen pool is a value. Its people stand in the order of their ids and are known by their number
in it; facts between two people are sorted pairs of such numbers, packed. So equal pools are equal
bytes, whatever order they were read in, and the digest of a run's inputs is a digest of those.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from hashlib import sha256

import msgspec
import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.matching import Tier, Tiers, Widening
from yoked_actor.domain.offers.scoring import SCORERS, Scoring, Votes
from yoked_actor.domain.people import Person
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant

_FORMAT = b"yoked offers 1\n"
_PACKED = "<i8"
_FIRST = 32
"""A packed pair is the first number, shifted by this, and the second."""

NO_VOTES = Votes()
_RULES = Rules()

_encode = msgspec.msgpack.Encoder().encode


class OfferRules(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers that a run is made by."""

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
        """The tiers by which a set is filled; nothing here is waited for."""
        return Tiers(
            (
                Widening(Tier.WIDER, 0, self.tier2_years, self.tier2_distance),
                Widening(Tier.WIDEST, 0, self.tier3_years, self.tier3_distance),
            ),
            0,
        )


class FrozenPerson(msgspec.Struct, frozen=True, gc=False):
    """What counts of a person. No name: nothing is decided by it."""

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
    """Whether this person is to get a set; the others are candidates only."""
    votes: Votes = NO_VOTES


class FrozenPool(msgspec.Struct, frozen=True):
    """Everybody in a zone's run, and what stands between them. Made by `freeze`."""

    zone: str
    day: date
    offered_at: Instant
    expires_at: Instant
    people: tuple[FrozenPerson, ...]
    apart: bytes
    """Pairs who are kept apart: blocked, met, or connected already. Both ways round."""
    not_again: bytes
    """(who gets offers, whom they were offered of late)."""
    accepted: bytes
    """(who accepted an offer, of whom), as long as it stands."""


class _Outside(msgspec.Struct, frozen=True):
    """A frozen pool whose people are bytes."""

    zone: str
    day: date
    offered_at: Instant
    expires_at: Instant
    people: list[msgspec.Raw]
    apart: bytes
    not_again: bytes
    accepted: bytes


_decode_outside = msgspec.msgpack.Decoder(_Outside).decode
_decode_person = msgspec.msgpack.Decoder(FrozenPerson).decode


def frozen_person(person: Person, *, receives: bool, votes: Votes = NO_VOTES) -> FrozenPerson:
    """What counts of a profile. Sets are put in order."""
    return FrozenPerson(
        user_id=person.user_id,
        birth_date=person.birth_date,
        gender=person.gender,
        lat=person.lat,
        lon=person.lon,
        interests=tuple(sorted(set(person.interests))),
        seeking=tuple(sorted(person.seeking)),
        min_age=person.min_age,
        max_age=person.max_age,
        max_distance_km=person.max_distance_km,
        receives=receives,
        votes=votes,
    )


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
    """A pool of these people. Pairs that name anybody else are left out; `apart` has no order."""
    ordered = tuple(sorted(people, key=lambda person: person.user_id))
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
    """With whom each person, by number, makes a pair: views of one array, not a list of each."""

    __slots__ = ("_edges", "_others")

    def __init__(self, pairs: NDArray[np.int64], people: int) -> None:
        self._others = pairs & ((1 << _FIRST) - 1)
        edges: list[int] = np.searchsorted(pairs >> _FIRST, np.arange(people + 1)).tolist()
        self._edges = edges

    def __getitem__(self, person: int) -> NDArray[np.int64]:
        return self._others[self._edges[person] : self._edges[person + 1]]


def pairs_by_first(packed: bytes, people: int) -> Pairs:
    """For each person by number, with whom they make a pair."""
    return Pairs(np.frombuffer(packed, _PACKED).astype(np.int64), people)


def pairs_by_second(packed: bytes, people: int) -> Pairs:
    """For each person by number, who makes a pair with them."""
    return Pairs(np.sort(_turned(np.frombuffer(packed, _PACKED).astype(np.int64))), people)


def canonical(pool: FrozenPool) -> bytes:
    """The pool as bytes: equal pools give equal bytes.

    Person by person: one call for a hundred thousand would keep all threads from running.
    """
    return _encode(
        _Outside(
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


def thawed(content: bytes) -> FrozenPool:
    """The pool from its bytes; person by person, like `canonical`."""
    known = _decode_outside(content)
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
    """What tells the inputs of one run from those of any other."""
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
