"""Sets of offers as values: their bytes, their digests and the ids of their offers (R42)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from hashlib import sha1, sha256
from uuid import UUID

import msgspec

from yoked_actor.domain.matching import Tier
from yoked_actor.domain.offers.scoring import Facts, Term, reasons, terms
from yoked_actor.domain.time import Instant

OFFERS = UUID("5f0c8f0e-6a2b-5d0e-9a43-2d1c5b7e9f10")
"""The namespace of offer ids. It must never change: a repeated run makes the same ids."""

_VARIANTS = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
"""The hexadecimal digit of a UUID that has the bits of its variant, by what it was."""
_encode = msgspec.json.Encoder().encode


class Offer(msgspec.Struct, frozen=True, gc=False):
    """One candidate for one user, with the score of the two."""

    candidate: str
    score: int
    tier: int
    """The tier of the receiver's own limits that admits the candidate."""
    facts: Facts

    def reasons(self, shown_km: int | None) -> tuple[str, ...]:
        """The reasons as texts for the receiver, with the distance that is shown."""
        return reasons(self.facts, shown_km, widened=self.widened)

    @property
    def widened(self) -> bool:
        """Whether only the receiver's widened limits admit the candidate."""
        return self.tier > Tier.EXACT

    @property
    def terms(self) -> tuple[Term, ...]:
        """The parts of its points of content."""
        return terms(self.facts)


Offers = tuple[Offer, ...]


class OfferSet(msgspec.Struct, frozen=True, gc=False):
    """The offers of one user on one local date; the best first."""

    user_id: str
    day: date
    offered_at: Instant
    expires_at: Instant
    scoring: str
    offers: tuple[Offer, ...]

    def ids(self) -> tuple[str, ...]:
        """The ids of the offers, in their order."""
        return offer_ids(self.day, self.user_id, [offer.candidate for offer in self.offers])

    def canonical(self) -> bytes:
        """The set as bytes: equal sets give equal bytes."""
        return _encode((self, self.ids()))

    def digest(self) -> str:
        """The digest of `canonical`."""
        return sha256(self.canonical()).hexdigest()


def offer_id(day: date, user_id: str, candidate: str) -> str:
    """The id of an offer: always the same for the same day, receiver and candidate.

    It is a UUID of version 5, computed here because a run makes half a million of them.
    """
    return offer_ids(day, user_id, (candidate,))[0]


def offer_ids(day: date, user_id: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """The ids of a user's offers of these candidates: UUIDs of version 5."""
    begun = sha1(_begin_names(day) + f"{user_id}:".encode(), usedforsecurity=False)
    ids = []
    for candidate in candidates:
        # To copy takes half as long as to begin again.
        one = begun.copy()
        one.update(candidate.encode())
        text = one.hexdigest()
        ids.append(
            f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANTS[text[16]]}{text[17:20]}-{text[20:32]}"
        )
    return tuple(ids)


@lru_cache(maxsize=4)
def _begin_names(day: date) -> bytes:
    """The beginning of what the ids of a day are made from: one for all sets of a run."""
    return OFFERS.bytes + f"{day.isoformat()}:".encode()


def joint_digest(digests: Iterable[str]) -> str:
    """The digest of a run, from the digests of its sets in the order of user ids."""
    joint = sha256()
    for one in digests:
        joint.update(bytes.fromhex(one))
    return joint.hexdigest()
