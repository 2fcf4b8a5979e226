"""The daily offers of a zone, as one pure function of a frozen pool and the rules (R41-R43).

`make_run` goes through those who receive in an order drawn by lots from the date, so that nobody
comes first every day. Each takes the best candidates that are left: a candidate who stands in
`max_daily_exposure` sets is offered no more that day. What somebody gets depends on those drawn
before, so a user's set is a part of the run and cannot be made without it.

One's own limits open to tier 2, then 3, only while the set is not full; the candidates' limits stay
as they are, because nobody's limits are widened for the sake of somebody else (R4).

Nothing here depends on the order of sets or dictionaries, on hash seeds, or on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from hashlib import sha1, sha256
from uuid import UUID

import msgspec
import numpy as np

from yoked_actor.domain.matching import Tier, Tiers
from yoked_actor.domain.offers.candidates import Candidates, Numbers
from yoked_actor.domain.offers.frozen_pool import FrozenPool, OfferRules, inputs_digest
from yoked_actor.domain.offers.scoring import SCORERS, Facts, Ints, Scorer, Term, reasons, terms
from yoked_actor.domain.time import Instant

OFFERS = UUID("5f0c8f0e-6a2b-5d0e-9a43-2d1c5b7e9f10")
"""The namespace of offer ids. It never changes: an offer that is made again has the same id."""

_BY_TIERS = (Tier.EXACT, Tier.WIDER, Tier.WIDEST)
_MOST_PEOPLE = 1 << 32

_encode = msgspec.json.Encoder().encode


class Offer(msgspec.Struct, frozen=True, gc=False):
    """One candidate for one user, with what the score says of the two."""

    candidate: str
    score: int
    tier: int
    """How wide the receiver's own limits had to be for it."""
    facts: Facts

    def reasons(self, shown_km: int | None) -> tuple[str, ...]:
        """Why, in words for the one who gets it, who is told such a distance."""
        return reasons(self.facts, shown_km, widened=self.tier > Tier.EXACT)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The parts of its points of content."""
        return terms(self.facts)


class OfferSet(msgspec.Struct, frozen=True, gc=False):
    """What one user is offered on one local date; the best first."""

    user_id: str
    day: date
    offered_at: Instant
    expires_at: Instant
    scoring: str
    offers: tuple[Offer, ...]

    def ids(self) -> tuple[str, ...]:
        """The ids of the offers, in their order."""
        return tuple(offer_id(self.day, self.user_id, offer.candidate) for offer in self.offers)

    def canonical(self) -> bytes:
        """The set as bytes: equal sets give equal bytes."""
        return _encode((self, self.ids()))

    def digest(self) -> str:
        """What tells this set from every other one."""
        return sha256(self.canonical()).hexdigest()


class Finding(msgspec.Struct, frozen=True, order=True):
    """Something that is not as the run made it. No user: the run as a whole."""

    user_id: str
    problem: str
    erased: bool = False
    """Nobody has tampered with it: somebody was erased, so it cannot be verified any more."""


class StoredSet(msgspec.Struct, frozen=True):
    """A set as it stands in the store, with the digest that was stored when it was made."""

    offers: OfferSet
    digest: str
    erased: int = 0
    """How many of its offers were erased since, with the person they named."""
    earlier: bool = False
    """Whether it was made before the run was frozen again: it stands, but is not made again."""


def offer_id(day: date, user_id: str, candidate: str) -> str:
    """The id of an offer: the same whenever, and by whomever, it is made.

    It is a UUID of version 5, put together here: a morning makes half a million of them.
    """
    named = OFFERS.bytes + f"{day.isoformat()}:{user_id}:{candidate}".encode()
    made = bytearray(sha1(named, usedforsecurity=False).digest()[:16])
    made[6] = made[6] & 0x0F | 0x50
    made[8] = made[8] & 0x3F | 0x80
    text = made.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def make_run(
    pool: FrozenPool, rules: OfferRules, progress: Callable[[int, int], None] | None = None
) -> dict[str, OfferSet]:
    """The set of everybody who receives, by user id in ascending order.

    `progress` is told after each set how many of how many are made.
    """
    drawing = _Drawing(pool, rules)
    order = lots(pool)
    made: dict[str, OfferSet] = {}
    for done, (lot, number) in enumerate(order, 1):
        user_id = pool.people[number].user_id
        made[user_id] = OfferSet(
            user_id,
            pool.day,
            pool.offered_at,
            pool.expires_at,
            rules.scoring,
            drawing.draw(number, lot),
        )
        if progress is not None:
            progress(done, len(order))
    return {user_id: made[user_id] for user_id in sorted(made)}


def lots(pool: FrozenPool) -> list[tuple[int, int]]:
    """The lot and the number of everybody who receives, in the order that the lots give."""
    numbers = [number for number, person in enumerate(pool.people) if person.receives]
    drawn = []
    for number in numbers:
        named = f"{pool.day.isoformat()}:{pool.people[number].user_id}"
        drawn.append(sha256(named.encode()).digest()[:8])
    # Sorted by NumPy, which keeps no other thread from running; equal lots stay as they come.
    values = np.frombuffer(b"".join(drawn), ">u8").astype(np.uint64)
    order = np.argsort(values, kind="stable")
    return list(zip(values[order].tolist(), np.array(numbers)[order].tolist(), strict=True))


class _Drawing:
    """A run under way: the candidates that are left."""

    def __init__(self, pool: FrozenPool, rules: OfferRules) -> None:
        self._people = pool.people
        self._rules = rules
        self._tiers: Tiers = rules.tiers()
        self._candidates = Candidates(pool)
        votes = np.array([msgspec.structs.astuple(p.votes) for p in pool.people], np.int64)
        self._scorer: Scorer = SCORERS[rules.scoring](votes.reshape(-1, 4))
        self._exposure = [0] * len(pool.people)

    def draw(self, one: int, lot: int) -> tuple[Offer, ...]:
        """Take the best that are left for one."""
        taken: dict[int, tuple[int, Tier]] = {}
        if self._candidates.is_adult(one):
            for tier in _BY_TIERS:
                complete = self._take(one, tier, taken, lot)
                if not complete and len(taken) < self._rules.daily_offer_count:
                    self._take(one, tier, taken, None)
                if len(taken) == self._rules.daily_offer_count:
                    break
        for number in taken:
            self._exposure[number] += 1
            if self._exposure[number] == self._rules.max_daily_exposure:
                self._candidates.close(number)
        return tuple(
            Offer(
                self._people[number].user_id, score, int(tier), self._candidates.facts(one, number)
            )
            for number, (score, tier) in sorted(
                taken.items(), key=lambda item: (-item[1][0], item[0])
            )
        )

    def _take(
        self, one: int, tier: Tier, taken: dict[int, tuple[int, Tier]], lot: int | None
    ) -> bool:
        """Take the best that a tier admits; say whether all of them were looked at."""
        limits = self._tiers.limits(self._people[one], tier)
        suiting = self._candidates.suiting(one, limits, list(taken), lot)
        numbers = suiting.numbers
        if len(numbers):
            sure = self._candidates.sure(one, numbers)
            scores = self._scorer.scores(one, numbers, suiting.points, sure)
            for key in _best(scores, numbers, self._rules.daily_offer_count - len(taken)):
                score, rest = divmod(key, _MOST_PEOPLE)
                taken[_MOST_PEOPLE - 1 - rest] = (score, tier)
        return suiting.complete


def _best(scores: Ints, numbers: Numbers, count: int) -> list[int]:
    """The greatest keys: by score, then by the least number, which is the least id. All differ."""
    keys = scores * _MOST_PEOPLE + (_MOST_PEOPLE - 1 - numbers.astype(np.int64))
    if len(keys) > count:
        keys = np.partition(keys, len(keys) - count)[len(keys) - count :]
    best: list[int] = np.sort(keys)[::-1].tolist()
    return best


def joint_digest(digests: Iterable[str]) -> str:
    """The digest of all sets of a run, from those of each in the order of user ids."""
    joint = sha256()
    for one in digests:
        joint.update(bytes.fromhex(one))
    return joint.hexdigest()


def check_stored(stored: StoredSet) -> Finding | None:
    """Whether a stored set is still what it was when it was stored; this needs no pool."""
    if stored.erased:
        problem = f"erased: {stored.erased} of its offers named somebody who was erased since"
        return Finding(stored.offers.user_id, problem, erased=True)
    if stored.offers.digest() == stored.digest:
        return None
    return Finding(stored.offers.user_id, "the stored set does not have its stored digest")


def check_all(stored: Mapping[str, StoredSet]) -> list[Finding]:
    """What is not as it was stored, by user id."""
    checked = (check_stored(stored[user_id]) for user_id in sorted(stored))
    return [finding for finding in checked if finding is not None]


def verify(
    pool: FrozenPool | None,
    rules: OfferRules,
    inputs: str,
    stored: Mapping[str, StoredSet],
    progress: Callable[[int, int], None] | None = None,
    erased: int = 0,
) -> list[Finding]:
    """Make a run again from its pool and rules, and say where the stored sets differ from it.

    `inputs` is the digest of the inputs that was stored with the run. A set of the run that is not
    stored is no finding: its user may have had another one that day. When people of the pool were
    `erased`, or the pool is gone, each set is held against its own digest only, and so is a set of
    an `earlier` pool. `progress` is that of `make_run`.
    """
    findings = []
    if erased:
        problem = f"erased: {erased} of the people it was made from were erased since"
        findings.append(Finding("", problem, erased=True))
    if erased or pool is None:
        return findings + check_all(stored)
    if inputs_digest(pool, rules) != inputs:
        findings.append(Finding("", "the frozen pool does not have its stored digest"))
    made = make_run(pool, rules, progress)
    for user_id in sorted(stored):
        tampered = check_stored(stored[user_id])
        if tampered is not None:
            findings.append(tampered)
        if stored[user_id].erased or stored[user_id].earlier:
            continue
        if user_id not in made:
            findings.append(Finding(user_id, "the run makes no set for this user"))
        elif made[user_id].canonical() != stored[user_id].offers.canonical():
            findings.append(Finding(user_id, "the run makes another set for this user"))
    return findings
