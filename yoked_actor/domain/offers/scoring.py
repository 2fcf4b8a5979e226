"""How well two people may suit each other, as an integer (R42, R43).

Scores are computed with integers, and logarithms with `decimal`, which rounds correctly: the same
inputs give the same score on every machine and with every version of NumPy. The unit is a
millionth: 1,000,000 is a hundred points, a full likeness, or certainty.

A version is never changed once it has made offers; a new version is a new entry of `SCORERS`.

v1 is content alone, in points: 60, minus 4 for each year between the ages (40 at most), plus 40
times the likeness of interests, minus up to 10 for the distance relative to both limits.
v2 is the probability that both say yes. The probability of each side follows from how often this
side says yes and how often the other side gets a yes, both shrunk towards the base rate, and from
the points of v1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from functools import cache
from typing import Any, Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

ONE = 1_000_000
"""A full score, a full likeness, certainty."""
POINT = ONE // 100

START = 60 * POINT
YEAR = 4 * POINT
MOST_YEARS = 10
ALIKE_SHARE = (2, 5)
"""A full likeness is worth 40 points."""
FAR_PART = 10
"""A distance at the limit costs a tenth of a full score, 10 points."""
UNNAMED_TAGS = 2
"""Added to the union of tags, because one shared tag of one says little."""

PSEUDO_VOTES = 4
PRIOR_YES, PRIOR_VOTES = 42, 100
"""The base rate before there are any votes, and its weight."""
USUAL_POINTS = 54 * POINT
"""The points of two random people, which change no probability. A point is 0.01 in the logit."""

Ints = NDArray[np.int64]

_DECIMAL = Context(prec=30)
_LOGIT_STEP = 13
_LOGIT_LIMIT = 1024 << _LOGIT_STEP
_LAST_LOGIT = 2 * _LOGIT_LIMIT - 1
_CERTAIN = 1_000_000_000


class Facts(msgspec.Struct, frozen=True, gc=False):
    """The facts behind the content of a score. They reveal nothing about votes."""

    years_apart: int
    shared: tuple[str, ...]
    likeness: int
    km: int
    """Rounded up. It is exact, so it is never shown."""
    nearness_lost: int
    """The distance as a share of the narrower of both limits. Never shown."""


class Term(msgspec.Struct, frozen=True, gc=False):
    """One part of a score's content, in millionths of a hundred points."""

    name: str
    units: int


class Votes(msgspec.Struct, frozen=True, gc=False):
    """How a user has voted, and how others have voted on them."""

    yes_given: int = 0
    given: int = 0
    yes_received: int = 0
    received: int = 0


def likeness(shared: Any, mine: Any, theirs: Any) -> Any:
    """The likeness of two sets of tags, from their sizes: shared tags by all tags."""
    return shared * ONE // (mine + theirs - shared + UNNAMED_TAGS)


def content(years_apart: Any, alike: Any, nearness_lost: Any) -> Any:
    """The points of v1 in millionths, for integers and for arrays."""
    units = (
        START
        - YEAR * np.minimum(years_apart, MOST_YEARS)
        + alike * ALIKE_SHARE[0] // ALIKE_SHARE[1]
        - nearness_lost // FAR_PART
    )
    return np.minimum(np.maximum(units, 0), ONE)


def distance_cost(shares: NDArray[np.float64]) -> Ints:
    """What distances cost, given as shares of the narrower of both limits, 0 to 1.

    Content without it, minus this, is that of `content`: two people of the same age and place have
    at least 60 points, and years and distance cost 50 at most, so no limit applies.
    """
    # 32 bits hold a million, and are divided in half of the time.
    lost = (shares * ONE).astype(np.int32)
    lost //= FAR_PART
    return lost.astype(np.int64)


def terms(facts: Facts) -> tuple[Term, ...]:
    """The parts of the content; their sum, limited to 0 to 100 points, is its points."""
    return (
        Term("start", START),
        Term("age", -YEAR * min(facts.years_apart, MOST_YEARS)),
        Term("interests", facts.likeness * ALIKE_SHARE[0] // ALIKE_SHARE[1]),
        Term("distance", -(facts.nearness_lost // FAR_PART)),
    )


def shown_points(facts: Facts, lost: int | None) -> int:
    """The points of content as a user sees them: with the shown distance, or without one.

    `lost` is what the shown distance costs; that of the facts is exact, and never shown.
    """
    return int(content(facts.years_apart, facts.likeness, 0 if lost is None else lost))


def reasons(facts: Facts, shown_km: int | None, *, widened: bool = False) -> tuple[str, ...]:
    """The parts of the content as texts for the receiver of the offer.

    `shown_km` is the edge of the band on the candidate's card; without it there is no distance.
    """
    said = []
    if facts.shared:
        said.append(f"you both like {_listed(facts.shared)}")
    years = facts.years_apart
    said.append("the same age" if not years else f"{years} year{'s' * (years > 1)} apart")
    if shown_km is not None:
        said.append(f"within {shown_km:,} km")
    if widened:
        said.append("a little outside the limits you set, to fill your day")
    return tuple(said)


def _listed(tags: Sequence[str]) -> str:
    if len(tags) > 3:
        tags = [*tags[:3], f"{len(tags) - 3} more"]
    return tags[0] if len(tags) == 1 else f"{', '.join(tags[:-1])} and {tags[-1]}"


class Scorer(Protocol):
    """One version of scoring, with the votes of all people of a run."""

    def scores(self, one: int, others: NDArray[Any], points: Ints, sure: NDArray[Any]) -> Ints:
        """The scores of one person with others, from their points, 0 to `ONE`; symmetric.

        People are rows of the votes. `sure` says which of the others have said yes already; it is
        empty if none has.
        """
        ...

    def traits(self, who: NDArray[Any]) -> Ints:
        """What people bring into their scores beside the points: a column for each of them."""
        ...

    def their_traits(self, who: NDArray[Any]) -> Ints:
        """The traits of candidates: they are added to the `traits` of the receiver."""
        ...

    def joint_scores(self, traits: Ints, points: Ints, sure: NDArray[Any]) -> Ints:
        """`scores` of pairs of people, given as the sums of their traits, which are changed."""
        ...


class ContentScorer:
    """v1: the points are the score."""

    def __init__(self, votes: NDArray[Any]) -> None:
        pass

    def scores(self, one: int, others: NDArray[Any], points: Ints, sure: NDArray[Any]) -> Ints:
        """The points."""
        return points

    def traits(self, who: NDArray[Any]) -> Ints:
        """None."""
        return np.empty((0, len(who)), np.int64)

    def their_traits(self, who: NDArray[Any]) -> Ints:
        """None."""
        return np.empty((0, len(who)), np.int64)

    def joint_scores(self, traits: Ints, points: Ints, sure: NDArray[Any]) -> Ints:
        """The points."""
        return points


class ReciprocalScorer:
    """v2: the probability that both say yes."""

    def __init__(self, votes: NDArray[Any]) -> None:
        counts = votes.astype(np.int64)
        yes, cast = (int(total) for total in counts[:, :2].sum(axis=0))
        odds = (yes + PRIOR_YES, cast + PRIOR_VOTES)
        self.base = _logit(*odds)
        # What a person's own votes, and the votes on them, add to the logit of the base rate.
        gives = self._drawn(counts[:, 0], counts[:, 1], odds)
        gets = self._drawn(counts[:, 2], counts[:, 3], odds)
        self._traits = np.stack((gives, gets))
        most = int(np.abs(self._traits).max(axis=1, initial=0).sum()) + abs(self.base) + ONE
        self._has_extremes = most >= _LOGIT_LIMIT
        # A point is 0.01 in the logit, and a full score is a million: the units are the same.
        self._start = self.base - USUAL_POINTS + _LOGIT_LIMIT

    def _drawn(self, yes: Ints, cast: Ints, odds: tuple[int, int]) -> Ints:
        known: dict[tuple[int, int], int] = {}
        shifts = []
        for seen in zip(yes.tolist(), cast.tolist(), strict=True):
            shift = known.get(seen)
            if shift is None:
                shift = known[seen] = _shrunk_logit(*seen, *odds) - self.base
            shifts.append(shift)
        return np.array(shifts, np.int64)

    def scores(self, one: int, others: NDArray[Any], points: Ints, sure: NDArray[Any]) -> Ints:
        """The product of both probabilities."""
        traits = self.their_traits(others) + self.traits(np.array([one]))
        return self.joint_scores(traits, points, sure)

    def traits(self, who: NDArray[Any]) -> Ints:
        """What they give and what they get, in the logit, and the start of every logit."""
        return self._traits.take(who, axis=1) + self._start

    def their_traits(self, who: NDArray[Any]) -> Ints:
        """What they get is added to what the other one gives, and the reverse."""
        return self._traits[::-1].take(who, axis=1)

    def joint_scores(self, traits: Ints, points: Ints, sure: NDArray[Any]) -> Ints:
        """The product of both probabilities."""
        traits += points
        if self._has_extremes:
            np.clip(traits, 0, _LAST_LOGIT, out=traits)
        chances = _chance_of(traits)
        if len(sure):
            chances[1, sure] = _CERTAIN
        both: Ints = chances[0]
        both *= chances[1]
        both //= _CERTAIN * (_CERTAIN // ONE)
        return both


Scoring = Literal["v1", "v2"]
SCORERS: dict[Scoring, Callable[[NDArray[Any]], Scorer]] = {
    "v1": ContentScorer,
    "v2": ReciprocalScorer,
}
"""Every version that has ever made offers. Votes are rows of `Votes`."""


def chance(logits: Ints) -> Ints:
    """The logistic function of millionths, in thousand-millionths, from a table of exact values."""
    return _chance_of(np.clip(logits + _LOGIT_LIMIT, 0, _LAST_LOGIT))


def _chance_of(logits: Ints) -> Ints:
    """`chance`, in place, of logits that are counted from the lowest one of the table.

    A run computes a hundred million of them.
    """
    starts, rises = _chances()
    step = logits >> _LOGIT_STEP
    logits *= rises.take(step)
    logits += starts.take(step)
    logits >>= _LOGIT_STEP
    return logits


@cache
def _chances() -> tuple[Ints, Ints]:
    """The lines between the values at each step: where each starts, at zero, and its rise.

    A line has the length of a step. Its start is multiplied by that, as the rises are.
    """
    values = []
    for step in range(-_LOGIT_LIMIT, _LOGIT_LIMIT + 1, 1 << _LOGIT_STEP):
        power = _DECIMAL.exp(_DECIMAL.divide(Decimal(-step), Decimal(ONE)))
        values.append(int(_DECIMAL.divide(Decimal(_CERTAIN), power + 1)))
    table = np.array(values, np.int64)
    rises: Ints = np.diff(table)
    starts: Ints = (table[:-1] - rises * np.arange(len(rises))) << _LOGIT_STEP
    return starts, rises


def _shrunk_logit(yes: int, cast: int, base_yes: int, base_cast: int) -> int:
    """The logit of a rate to which pseudo-votes at the base rate were added."""
    return _logit(yes * base_cast + PSEUDO_VOTES * base_yes, (cast + PSEUDO_VOTES) * base_cast)


def _logit(part: int, whole: int) -> int:
    """The logit of a rate strictly between 0 and 1, in millionths."""
    odds = _DECIMAL.divide(Decimal(part), Decimal(whole - part))
    return int((_DECIMAL.ln(odds) * ONE).to_integral_value())
