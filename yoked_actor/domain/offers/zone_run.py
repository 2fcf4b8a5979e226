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
from itertools import chain, compress, islice

import msgspec
import numpy as np

from yoked_actor.domain.matching import Tier, Tiers
from yoked_actor.domain.offers.breathing import Breathe, breathing, never
from yoked_actor.domain.offers.candidates import Candidates
from yoked_actor.domain.offers.columns import Columns
from yoked_actor.domain.offers.facts import FactFinder
from yoked_actor.domain.offers.frozen_pool import FrozenPool, OfferRules
from yoked_actor.domain.offers.keys import BITS, LAST, best_keys, keys_of, read_key
from yoked_actor.domain.offers.offer_sets import Offer, OfferSet
from yoked_actor.domain.offers.scoring import SCORERS, Scorer
from yoked_actor.domain.offers.shortlists import Shortlister, Shortlists

_BY_TIERS = (Tier.EXACT, Tier.WIDER, Tier.WIDEST)
_EXACT = int(Tier.EXACT)
_AT_ONCE = 50_000
"""Shortlists that are held at once."""
_CHOSEN_AT_ONCE = 200
_CHOSEN_IN_A_BREATH = 8
_HEAD = 12
"""As many keys of a shortlist are enough for most receivers."""

Taken = dict[int, tuple[int, Tier]]
"""The candidates of a set: the score of each, and the tier that admits them."""
Offers = tuple[Offer, ...]


def make_run(
    pool: FrozenPool, rules: OfferRules, progress: Callable[[int, int], None] | None = None
) -> dict[str, OfferSet]:
    """The set of each receiver, by user id in ascending order.

    `progress` is called often with how many are done and the total; the last time with the total.
    """
    made: dict[str, OfferSet] = {}
    total = sum(person.receives for person in pool.people)
    scored = 0

    def breathe(receivers: int = 0) -> None:
        nonlocal scored
        scored += receivers
        if progress is not None:
            # To score the candidates is half of the work, to choose among them the other half.
            progress((scored + len(made)) // 2, total)

    run = _Run(pool, rules, breathe)
    order = receivers_in_order(pool, breathe)

    for first in range(0, len(order), _AT_ONCE):
        part = order[first : first + _AT_ONCE]
        for chosen in run.choose_all(part, breathe):
            for number, offers in chosen:
                user_id = pool.people[number].user_id
                made[user_id] = OfferSet(
                    user_id, pool.day, pool.offered_at, pool.expires_at, rules.scoring, offers
                )
            breathe()
    # The people of a pool are in the order of their ids.
    people = breathing(pool.people, breathe)
    return {person.user_id: made[person.user_id] for person in people if person.receives}


def receivers_in_order(pool: FrozenPool, breathe: Breathe = never) -> list[tuple[int, int]]:
    """The seed and the number of each receiver, in the order of the seeds."""
    numbers = [number for number, person in enumerate(pool.people) if person.receives]
    seeds = []
    day = pool.day.isoformat()
    for number in breathing(numbers, breathe):
        named = f"{day}:{pool.people[number].user_id}"
        seeds.append(sha256(named.encode()).digest()[:8])
    # NumPy sorts without the GIL. Equal seeds keep their order.
    values = np.frombuffer(b"".join(seeds), ">u8").astype(np.uint64)
    order = np.argsort(values, kind="stable")
    return list(zip(values[order].tolist(), np.array(numbers)[order].tolist(), strict=True))


class _Chosen:
    """The candidates that were chosen for each of some receivers, the best candidate first."""

    def __init__(self) -> None:
        self.receivers: list[int] = []
        self.lengths: list[int] = []
        """How many candidates each receiver has."""
        self.numbers: list[int] = []
        self.scores: list[int] = []
        self.tiers: list[int] = []

    def add(self, one: int, numbers: list[int], scores: list[int], tiers: list[int]) -> None:
        """Add the candidates of a receiver."""
        self.receivers.append(one)
        self.lengths.append(len(numbers))
        self.numbers += numbers
        self.scores += scores
        self.tiers += tiers


class _Run:
    """A run in progress: the candidates that are left."""

    def __init__(self, pool: FrozenPool, rules: OfferRules, breathe: Breathe) -> None:
        self._people = pool.people
        self._rules = rules
        self._tiers: Tiers = rules.tiers()
        columns = Columns(pool, breathe)
        self._candidates = Candidates(columns)
        self._facts = FactFinder(columns)
        cast = (msgspec.structs.astuple(p.votes) for p in breathing(pool.people, breathe))
        votes = np.fromiter(chain.from_iterable(cast), np.int64, 4 * len(pool.people))
        self._scorer: Scorer = SCORERS[rules.scoring](votes.reshape(-1, 4))
        self._shortlister = Shortlister(columns, self._candidates, self._scorer)
        self._exposure = [0] * len(pool.people)
        self._ids = [person.user_id for person in pool.people]

    def choose_all(
        self, receivers: Sequence[tuple[int, int]], breathe: Callable[[int], None]
    ) -> Iterator[list[tuple[int, Offers]]]:
        """The offers of receivers, given as (seed, number), each from the candidates left.

        In parts, in the order of the receivers.
        """
        is_adult = self._candidates.are_adults([one for _, one in receivers])
        adults = list(compress(receivers, is_adult))
        breathe(len(receivers) - len(adults))
        shortlists = self._shortlister.make(adults, breathe)
        at = 0
        for first in range(0, len(receivers), _CHOSEN_AT_ONCE):
            # Most receivers need few keys: all of them would be millions of numbers.
            heads = shortlists.keys[at : at + _CHOSEN_AT_ONCE, :_HEAD].tolist()
            start, chosen = at, _Chosen()
            here = slice(first, first + _CHOSEN_AT_ONCE)
            for (seed, one), may_receive in zip(receivers[here], is_adult[here], strict=True):
                if not may_receive:
                    chosen.add(one, [], [], [])
                    continue
                if at % _CHOSEN_IN_A_BREATH == 0:
                    breathe(0)
                self._choose(one, seed, heads[at - start], shortlists, at, chosen)
                at += 1
            yield self._with_facts(chosen)

    def _with_facts(self, chosen: _Chosen) -> list[tuple[int, Offers]]:
        """Offers of candidates that were chosen."""
        ones = np.repeat(np.array(chosen.receivers, np.int64), chosen.lengths)
        offers = map(
            Offer,
            [self._ids[number] for number in chosen.numbers],
            chosen.scores,
            chosen.tiers,
            self._facts.of(ones, np.array(chosen.numbers, np.int64)),
        )
        return [
            (one, tuple(islice(offers, length)))
            for one, length in zip(chosen.receivers, chosen.lengths, strict=True)
        ]

    def _choose(
        self,
        one: int,
        seed: int,
        head: list[int],
        shortlists: Shortlists,
        at: int,
        chosen: _Chosen,
    ) -> None:
        """Choose the best candidates that are left for one receiver.

        `at` is the position of the receiver's shortlist, and `head` its beginning.
        """
        wanted = self._rules.daily_offer_count
        numbers, scores = self._left(head)
        if len(numbers) < wanted and len(head) == _HEAD:
            numbers, scores = self._left(shortlists.keys[at].tolist())
        if len(numbers) == wanted:
            tiers = [_EXACT] * wanted
        else:
            taken: Taken = {}
            if shortlists.is_all[at]:
                found = zip(numbers, scores, strict=True)
                taken = {number: (score, Tier.EXACT) for number, score in found}
                complete = bool(shortlists.complete[at])
            else:
                complete = self._take(one, Tier.EXACT, taken, seed)
            self._widen(one, seed, taken, complete)
            best = sorted((-score, number, int(tier)) for number, (score, tier) in taken.items())
            numbers = [number for _, number, _ in best]
            scores = [-score for score, _, _ in best]
            tiers = [tier for _, _, tier in best]
        chosen.add(one, numbers, scores, tiers)
        exposure, most = self._exposure, self._rules.max_daily_exposure
        for number in numbers:
            exposure[number] += 1
            if exposure[number] == most:
                self._candidates.close(number)

    def _left(self, keys: list[int]) -> tuple[list[int], list[int]]:
        """The numbers and the scores of the first candidates of a list that are left."""
        wanted, most = self._rules.daily_offer_count, self._rules.max_daily_exposure
        exposure = self._exposure
        numbers: list[int] = []
        scores: list[int] = []
        for key in keys:
            if key < 0:
                break
            number = LAST - (key & LAST)  # as `read_key`, without a call for each of a million
            if exposure[number] < most:
                numbers.append(number)
                scores.append(key >> BITS)
                if len(numbers) == wanted:
                    break
        return numbers, scores

    def _widen(self, one: int, seed: int, taken: Taken, complete: bool) -> None:
        """Fill up a set from all candidates, then with wider limits.

        `complete` says whether all candidates were checked that the receiver's own limits admit.
        """
        wanted = self._rules.daily_offer_count
        for tier in _BY_TIERS:
            if tier is not Tier.EXACT:
                complete = self._take(one, tier, taken, seed)
            if not complete and len(taken) < wanted:
                self._take(one, tier, taken, None)
            if len(taken) == wanted:
                return

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
