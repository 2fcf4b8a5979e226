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

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import islice

import msgspec
import numpy as np

from yoked_actor.domain.matching import Tier, Tiers
from yoked_actor.domain.offers.candidates import Candidates
from yoked_actor.domain.offers.columns import Columns
from yoked_actor.domain.offers.facts import FactFinder
from yoked_actor.domain.offers.frozen_pool import FrozenPool, OfferRules
from yoked_actor.domain.offers.offer_sets import Offer, OfferSet
from yoked_actor.domain.offers.scoring import SCORERS, Scorer
from yoked_actor.domain.offers.shortlists import Shortlister, best_keys, keys_of, read_key

_BY_TIERS = (Tier.EXACT, Tier.WIDER, Tier.WIDEST)
_AT_ONCE = 50_000
"""Shortlists that are held at once."""
_CHOSEN_AT_ONCE = 200

Taken = dict[int, tuple[int, Tier]]
"""The candidates of a set: the score of each, and the tier that admits them."""
Offers = tuple[Offer, ...]


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


class _Listed(msgspec.Struct, frozen=True, gc=False):
    """The shortlist of one receiver."""

    keys: list[int]
    """The best first; a key below zero ends the list."""
    is_all: bool
    complete: bool


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
        self._shortlister = Shortlister(columns, self._candidates, self._scorer)
        self._exposure = [0] * len(pool.people)

    def choose_all(
        self, receivers: Sequence[tuple[int, int]], breathe: Callable[[int], None]
    ) -> Iterator[tuple[int, Offers]]:
        """The offers of receivers, given as (seed, number), each from the candidates left."""
        adults = [(seed, one) for seed, one in receivers if self._candidates.is_adult(one)]
        breathe(len(receivers) - len(adults))
        listed = self._listed(adults, breathe)
        for first in range(0, len(receivers), _CHOSEN_AT_ONCE):
            chosen = []
            for seed, one in receivers[first : first + _CHOSEN_AT_ONCE]:
                is_adult = self._candidates.is_adult(one)
                chosen.append((one, self._choose(one, seed, next(listed)) if is_adult else {}))
            yield from self._with_facts(chosen)

    def _listed(
        self, receivers: Sequence[tuple[int, int]], breathe: Callable[[int], None]
    ) -> Iterator[_Listed]:
        """The shortlists of receivers, in their order."""
        made = self._shortlister.make(receivers, breathe)
        for first in range(0, len(receivers), _CHOSEN_AT_ONCE):
            here = slice(first, first + _CHOSEN_AT_ONCE)
            columns = (made.keys[here], made.is_all[here], made.complete[here])
            for values in zip(*(column.tolist() for column in columns), strict=True):
                yield _Listed(*values)

    def _with_facts(self, chosen: Sequence[tuple[int, Taken]]) -> Iterator[tuple[int, Offers]]:
        """Offers of candidates that were chosen, the best first."""
        ordered = [
            sorted([(-score, number, int(tier)) for number, (score, tier) in taken.items()])
            for _, taken in chosen
        ]
        lengths = [len(taken) for taken in ordered]
        flat = [one for taken in ordered for one in taken]
        others = [number for _, number, _ in flat]
        ones = np.repeat(np.array([one for one, _ in chosen], np.int64), lengths)
        offers = map(
            Offer,
            [self._people[number].user_id for number in others],
            [-score for score, _, _ in flat],
            [tier for _, _, tier in flat],
            self._facts.of(ones, np.array(others, np.int64)),
        )
        for (one, _), length in zip(chosen, lengths, strict=True):
            yield one, tuple(islice(offers, length))

    def _choose(self, one: int, seed: int, listed: _Listed) -> Taken:
        """Choose the best candidates that are left for one receiver."""
        taken: Taken = {}
        for tier in _BY_TIERS:
            complete = self._take_listed(one, seed, taken, listed, tier)
            if not complete and len(taken) < self._rules.daily_offer_count:
                self._take(one, tier, taken, None)
            if len(taken) == self._rules.daily_offer_count:
                break
        for number in taken:
            self._exposure[number] += 1
            if self._exposure[number] == self._rules.max_daily_exposure:
                self._candidates.close(number)
        return taken

    def _take_listed(self, one: int, seed: int, taken: Taken, listed: _Listed, tier: Tier) -> bool:
        """`_take`, from the shortlist if it is for this tier and holds enough."""
        if tier is not Tier.EXACT:
            return self._take(one, tier, taken, seed)
        wanted, most, exposure = (
            *(self._rules.daily_offer_count, self._rules.max_daily_exposure),
            self._exposure,
        )
        found: Taken = {}
        for key in listed.keys:
            if key < 0 or len(found) == wanted:
                break
            number, score = read_key(key)
            if exposure[number] < most:
                found[number] = (score, tier)
        if len(found) < wanted and not listed.is_all:
            return self._take(one, tier, taken, seed)
        taken |= found
        return listed.complete

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
