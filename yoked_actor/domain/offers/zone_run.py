"""The daily offers of a zone, as one pure function of a frozen pool and the rules (R41-R43).

`make_run` handles the receivers in a pseudo-random order derived from the date, so that no user is
first every day. Each gets the best candidates that are left: a candidate in `max_daily_exposure`
sets is not offered again that day. A set therefore depends on the sets before it, and can only be
made with the whole run.

A receiver's own limits widen to tier 2, then 3, only while the set is not full. The candidates'
limits stay: nobody's limits widen because of somebody else (R4).

The result does not depend on the order of sets or dictionaries, on hash seeds, or on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha1, sha256
from itertools import islice
from uuid import UUID

import msgspec
import numpy as np

from yoked_actor.domain.matching import Tier, Tiers
from yoked_actor.domain.offers.candidates import Candidates
from yoked_actor.domain.offers.columns import Columns
from yoked_actor.domain.offers.facts import FactFinder
from yoked_actor.domain.offers.frozen_pool import FrozenPool, OfferRules, inputs_digest
from yoked_actor.domain.offers.scoring import SCORERS, Facts, Scorer, Term, reasons, terms
from yoked_actor.domain.offers.shortlists import (
    Shortlist,
    Shortlists,
    best_keys,
    keys_of,
    read_key,
)
from yoked_actor.domain.time import Instant

OFFERS = UUID("5f0c8f0e-6a2b-5d0e-9a43-2d1c5b7e9f10")
"""The namespace of offer ids. It must never change: a repeated run makes the same ids."""

_VARIANTS = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
"""The hexadecimal digit of a UUID that has the bits of its variant, by what it was."""
_BY_TIERS = (Tier.EXACT, Tier.WIDER, Tier.WIDEST)
_AT_ONCE = 50_000
"""Shortlists that are held at once."""
_WITH_FACTS_AT_ONCE = 200

Taken = dict[int, tuple[int, Tier]]
"""The candidates of a set: the score of each, and the tier that admits them."""

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
        candidates = (offer.candidate for offer in self.offers)
        return tuple(offer_ids(self.day, self.user_id, candidates))

    def canonical(self) -> bytes:
        """The set as bytes: equal sets give equal bytes."""
        return _encode((self, self.ids()))

    def digest(self) -> str:
        """The digest of `canonical`."""
        return sha256(self.canonical()).hexdigest()


class Finding(msgspec.Struct, frozen=True, order=True):
    """A difference from what the run made. Without a user it is about the whole run."""

    user_id: str
    problem: str
    erased: bool = False
    """A user was erased, so this cannot be verified any more; it is not a defect."""


class StoredSet(msgspec.Struct, frozen=True):
    """A set as it is stored, with the digest that was stored when it was made."""

    offers: OfferSet
    digest: str
    erased: int = 0
    """How many of its offers were removed because the candidate was erased."""
    earlier: bool = False
    """Whether it was made before the pool was frozen again: it is kept, but not made again."""


def offer_id(day: date, user_id: str, candidate: str) -> str:
    """The id of an offer: always the same for the same day, receiver and candidate.

    It is a UUID of version 5, computed here because a run makes half a million of them.
    """
    return next(offer_ids(day, user_id, (candidate,)))


def offer_ids(day: date, user_id: str, candidates: Iterable[str]) -> Iterator[str]:
    """The ids of a user's offers of these candidates: UUIDs of version 5."""
    named = OFFERS.bytes + f"{day.isoformat()}:{user_id}:".encode()
    for candidate in candidates:
        text = sha1(named + candidate.encode(), usedforsecurity=False).hexdigest()
        variant = _VARIANTS[text[16]]
        yield f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{variant}{text[17:20]}-{text[20:32]}"


def make_run(
    pool: FrozenPool, rules: OfferRules, progress: Callable[[int, int], None] | None = None
) -> dict[str, OfferSet]:
    """The set of each receiver, by user id in ascending order.

    `progress` is called often with how many are done and the total; the last time with the total.
    """
    run = _Run(pool, rules)
    order = receivers_in_order(pool)
    made: dict[str, OfferSet] = {}

    scored = 0

    def breathe(receivers: int = 0) -> None:
        nonlocal scored
        scored += receivers
        if progress is not None:
            # To score the candidates is half of the work, to choose among them the other half.
            progress((scored + len(made)) // 2, len(order))

    for first in range(0, len(order), _AT_ONCE):
        part = order[first : first + _AT_ONCE]
        for number, offers in run.choose_all(part, breathe):
            user_id = pool.people[number].user_id
            made[user_id] = OfferSet(
                *(user_id, pool.day, pool.offered_at, pool.expires_at, rules.scoring, offers)
            )
            breathe()
    return {user_id: made[user_id] for user_id in sorted(made)}


def receivers_in_order(pool: FrozenPool) -> list[tuple[int, int]]:
    """The seed and the number of each receiver, in the order of the seeds."""
    numbers = [number for number, person in enumerate(pool.people) if person.receives]
    seeds = []
    for number in numbers:
        named = f"{pool.day.isoformat()}:{pool.people[number].user_id}"
        seeds.append(sha256(named.encode()).digest()[:8])
    # NumPy sorts without the GIL. Equal seeds keep their order.
    values = np.frombuffer(b"".join(seeds), ">u8").astype(np.uint64)
    order = np.argsort(values, kind="stable")
    return list(zip(values[order].tolist(), np.array(numbers)[order].tolist(), strict=True))


class _Run:
    """A run in progress: the candidates that are left."""

    def __init__(self, pool: FrozenPool, rules: OfferRules) -> None:
        self._people = pool.people
        self._rules = rules
        self._tiers: Tiers = rules.tiers()
        columns = Columns(pool)
        self._candidates = Candidates(columns)
        self._facts = FactFinder(columns)
        votes = np.array([msgspec.structs.astuple(p.votes) for p in pool.people], np.int64)
        self._scorer: Scorer = SCORERS[rules.scoring](votes.reshape(-1, 4))
        self._shortlists = Shortlists(columns, self._candidates, self._scorer, self._tiers)
        self._exposure = [0] * len(pool.people)

    def choose_all(
        self, receivers: Sequence[tuple[int, int]], breathe: Callable[[int], None]
    ) -> Iterator[tuple[int, tuple[Offer, ...]]]:
        """The offers of receivers, given as (seed, number), each from the candidates left."""
        adults = [(seed, one) for seed, one in receivers if self._candidates.is_adult(one)]
        breathe(len(receivers) - len(adults))
        shortlists = self._shortlists.make(adults, breathe)
        for first in range(0, len(receivers), _WITH_FACTS_AT_ONCE):
            part = receivers[first : first + _WITH_FACTS_AT_ONCE]
            chosen = [
                (one, self._choose(one, seed, shortlists.pop(one, None))) for seed, one in part
            ]
            yield from self._with_facts(chosen)

    def _with_facts(self, chosen: Sequence[tuple[int, Taken]]) -> Iterator[tuple[int, Offers]]:
        """Offers of candidates that were chosen, the best first."""
        ordered = [
            (one, sorted(taken.items(), key=lambda item: (-item[1][0], item[0])))
            for one, taken in chosen
        ]
        ones = np.array([one for one, taken in ordered for _ in taken], np.int64)
        others = np.array([number for _, taken in ordered for number, _ in taken], np.int64)
        facts = iter(self._facts.of(ones, others))
        for one, taken in ordered:
            yield (
                one,
                tuple(
                    Offer(self._people[number].user_id, score, int(tier), next(facts))
                    for number, (score, tier) in taken
                ),
            )

    def _choose(self, one: int, seed: int, shortlist: Shortlist | None) -> Taken:
        """Choose the best candidates that are left for one receiver; none without a shortlist."""
        taken: Taken = {}
        if shortlist is not None:
            for tier in _BY_TIERS:
                complete = self._take_listed(one, seed, taken, shortlist, tier)
                if not complete and len(taken) < self._rules.daily_offer_count:
                    self._take(one, tier, taken, None)
                if len(taken) == self._rules.daily_offer_count:
                    break
        for number in taken:
            self._exposure[number] += 1
            if self._exposure[number] == self._rules.max_daily_exposure:
                self._candidates.close(number)
        return taken

    def _take_listed(
        self, one: int, seed: int, taken: Taken, shortlist: Shortlist, tier: Tier
    ) -> bool:
        """`_take`, from the shortlist if it is for this tier and holds enough."""
        if tier is not Tier.EXACT:
            return self._take(one, tier, taken, seed)
        wanted, most = self._rules.daily_offer_count, self._rules.max_daily_exposure
        listed = map(read_key, shortlist.keys.tolist())
        left = ((number, score) for number, score in listed if self._exposure[number] < most)
        found = list(islice(left, wanted))
        if len(found) < wanted and not shortlist.is_all:
            return self._take(one, tier, taken, seed)
        for number, score in found:
            taken[number] = (score, tier)
        return shortlist.complete

    def _take(self, one: int, tier: Tier, taken: Taken, seed: int | None) -> bool:
        """Choose the best that a tier admits; return whether all candidates were checked."""
        limits = self._tiers.limits(self._people[one], tier)
        suiting = self._candidates.suiting(one, limits, list(taken), seed)
        numbers = suiting.numbers
        if len(numbers):
            sure = self._candidates.sure(one, numbers)
            scores = self._scorer.scores(one, numbers, suiting.points, sure)
            keys = best_keys(keys_of(scores, numbers), self._rules.daily_offer_count - len(taken))
            for number, score in map(read_key, keys.tolist()):
                taken[number] = (score, tier)
        return suiting.complete


def joint_digest(digests: Iterable[str]) -> str:
    """The digest of a run, from the digests of its sets in the order of user ids."""
    joint = sha256()
    for one in digests:
        joint.update(bytes.fromhex(one))
    return joint.hexdigest()


def check_stored(stored: StoredSet) -> Finding | None:
    """Compare a stored set with its stored digest; this needs no pool."""
    if stored.erased:
        problem = f"erased: {stored.erased} of its offers named somebody who was erased since"
        return Finding(stored.offers.user_id, problem, erased=True)
    if stored.offers.digest() == stored.digest:
        return None
    return Finding(stored.offers.user_id, "the stored set does not have its stored digest")


def check_all(stored: Mapping[str, StoredSet]) -> list[Finding]:
    """The findings of `check_stored`, by user id."""
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
    """Make a run again from its pool and rules, and report where the stored sets differ.

    `inputs` is the digest of the inputs that was stored with the run. A set that is not stored is
    not a finding: its user may have had another set that day. If people of the pool were `erased`,
    or the pool is deleted, each set is only compared with its own digest, and so is a set of an
    `earlier` pool. `progress` is that of `make_run`.
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
