"""How well the scoring of offers predicts that both say yes, on real speed dates.

Fair: a score sees profiles, and votes of the same evening with a smaller slot, and nothing else.
Intervals come from drawing whole evenings again and again, because dates of one evening are not
independent of each other. The formulas are those of the product
(`yoked_actor.domain.offers.scoring`).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scripts.evaluation.dates import DateRow, Evenings, Unreadable, read
from yoked_actor.domain.offers import ONE
from yoked_actor.domain.offers.scoring import ReciprocalScorer, content, likeness

TOP = 3
USUAL_GAP = 3
"""Years apart when an age is not known."""
NOBODY = np.zeros(0, np.bool_)

Floats = NDArray[np.float64]


class Figure(NamedTuple):
    """A measurement, with its 95 % bootstrap interval over evenings."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def points_by_ratings(evenings: Evenings) -> list[int]:
    """The points of v1 with the correlation of rated interests."""
    return [
        _points(row.years_apart, round((row.correlation or 0.0) * ONE)) for row in evenings.dates
    ]


def points_by_tags(evenings: Evenings) -> list[int]:
    """The points of v1 as the product computes them, with high ratings as tags."""
    nothing: frozenset[str] = frozenset()
    found = []
    for row in evenings.dates:
        mine = evenings.tags.get(row.person, nothing)
        theirs = evenings.tags.get(row.partner, nothing)
        alike = likeness(len(mine & theirs), len(mine), len(theirs))
        found.append(_points(row.years_apart, alike))
    return found


def _points(years_apart: int | None, alike: int) -> int:
    return int(content(USUAL_GAP if years_apart is None else years_apart, alike, 0))


def chances(dates: Sequence[DateRow], points: Sequence[int]) -> list[int]:
    """The scores of v2: each date with the votes of the same evening before its slot."""
    scores = [0] * len(dates)
    by_evening: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(dates):
        by_evening[row.wave][row.slot].append(number)
    for slots in by_evening.values():
        people = sorted({dates[n].person for slot in slots.values() for n in slot})
        votes = _Tally([*people, *(dates[n].partner for slot in slots.values() for n in slot)])
        for slot in sorted(slots):
            scorer = ReciprocalScorer(votes.table)
            for number in slots[slot]:
                scores[number] = _chance(scorer, votes, dates[number], points[number])
            for number in slots[slot]:
                votes.count(dates[number])
    return scores


class _Tally:
    """The votes of an evening so far, in the form of the scorer."""

    def __init__(self, people: Sequence[int]) -> None:
        self.numbers = {person: number for number, person in enumerate(dict.fromkeys(people))}
        self.table = np.zeros((len(self.numbers), 4), np.int64)

    def count(self, row: DateRow) -> None:
        """Add one person's vote: given by one, received by the other."""
        self.table[self.numbers[row.person], :2] += (row.said_yes, 1)
        self.table[self.numbers[row.partner], 2:] += (row.said_yes, 1)


def _chance(scorer: ReciprocalScorer, votes: _Tally, row: DateRow, points: int) -> int:
    one, other = votes.numbers[row.person], votes.numbers[row.partner]
    found = scorer.scores(one, np.array([other]), np.array([points], np.int64), NOBODY)
    return int(found[0])


def auc(scores: Floats, is_match: NDArray[np.bool_]) -> float:
    """The probability that a match has a higher score than another date; a tie counts half."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    yes = int(is_match.sum())
    no = len(is_match) - yes
    return float((ranks[is_match].sum() - yes * (yes + 1) / 2) / (yes * no)) if yes and no else 0.5


def hits(dates: Sequence[DateRow], chosen: Callable[[int], Sequence[int]]) -> dict[int, float]:
    """By evening: the share of people with a match who have one among their chosen dates."""
    lucky: dict[int, set[int]] = defaultdict(set)
    for row in dates:
        if row.is_match:
            lucky[row.wave].add(row.person)
    return {
        wave: sum(any(dates[n].is_match for n in chosen(person)) for person in people) / len(people)
        for wave, people in sorted(lucky.items())
    }


def best_of(dates: Sequence[DateRow], scores: Floats) -> Callable[[int], Sequence[int]]:
    """The best dates of each person by score, then by the partner's number."""
    mine: dict[int, list[int]] = defaultdict(list)
    for number, row in enumerate(dates):
        mine[row.person].append(number)
    for numbers in mine.values():
        numbers.sort(key=lambda n: (-scores[n], dates[n].partner))
    return lambda person: mine[person][:TOP]


def capped(
    dates: Sequence[DateRow], scores: Floats, cap: int, rng: np.random.Generator
) -> Callable[[int], Sequence[int]]:
    """The best dates of each person in a random order, with a cap on how often one is chosen."""
    mine: dict[int, list[int]] = defaultdict(list)
    for number, row in enumerate(dates):
        mine[row.person].append(number)
    shown: Counter[int] = Counter()
    taken: dict[int, list[int]] = {}
    people = sorted(mine)
    for place in rng.permutation(len(people)).tolist():
        person = people[place]
        taken[person] = []
        for number in sorted(mine[person], key=lambda n: (-scores[n], dates[n].partner)):
            if shown[dates[number].partner] < cap and len(taken[person]) < TOP:
                taken[person].append(number)
                shown[dates[number].partner] += 1
    return lambda person: taken[person]


class Evaluation:
    """A file of dates, and random samples of its evenings."""

    def __init__(self, evenings: Evenings, draws: int, seed: int) -> None:
        self.dates = evenings.dates
        self.is_match = np.array([row.is_match for row in self.dates])
        self._waves = sorted({row.wave for row in self.dates})
        self._members = {
            wave: np.flatnonzero([row.wave == wave for row in self.dates]) for wave in self._waves
        }
        self._rng = np.random.default_rng(seed)
        self._draws = [self._rng.choice(self._waves, len(self._waves)) for _ in range(draws)]

    def auc(self, scores: Floats) -> Figure:
        """The `auc` of scores over all dates."""
        drawn = []
        for waves in self._draws:
            rows = np.concatenate([self._members[wave] for wave in waves.tolist()])
            drawn.append(auc(scores[rows], self.is_match[rows]))
        return _figure(auc(scores, self.is_match), drawn)

    def hits(self, chosen: Callable[[int], Sequence[int]]) -> Figure:
        """Hits among the best, as the mean of all evenings."""
        return self._mean(hits(self.dates, chosen))

    def random_hits(self, times: int = 50) -> Figure:
        """The same for dates chosen at random."""
        found = [
            hits(self.dates, best_of(self.dates, self._rng.random(len(self.dates))))
            for _ in range(times)
        ]
        return self._mean({wave: float(np.mean([one[wave] for one in found])) for wave in found[0]})

    def capped_hits(self, scores: Floats, cap: int, times: int = 50) -> Figure:
        """Hits under a cap, as the mean over many random orders."""
        found = [hits(self.dates, capped(self.dates, scores, cap, self._rng)) for _ in range(times)]
        return self._mean({wave: float(np.mean([one[wave] for one in found])) for wave in found[0]})

    def most_shown(self, scores: Floats) -> int:
        """For how many others the most chosen person is among the best, without a cap."""
        chosen = best_of(self.dates, scores)
        people = {row.person for row in self.dates}
        shown = Counter(self.dates[n].partner for person in people for n in chosen(person))
        return max(shown.values())

    def _mean(self, by_wave: dict[int, float]) -> Figure:
        drawn = []
        for waves in self._draws:
            values = [by_wave[wave] for wave in waves.tolist() if wave in by_wave]
            drawn.append(float(np.mean(values)) if values else 0.0)
        return _figure(float(np.mean(list(by_wave.values()))), drawn)


def unmet_at_half_time(evenings: Evenings, points: Sequence[int]) -> tuple[Evenings, Floats]:
    """The dates of the second half of each evening, scored with the votes of the first only."""
    last: Counter[int] = Counter()
    for row in evenings.dates:
        last[row.wave] = max(last[row.wave], row.slot)
    late = [n for n, row in enumerate(evenings.dates) if row.slot * 2 > last[row.wave]]
    votes = {
        wave: _Tally([p for row in evenings.dates if row.wave == wave for p in row[2:4]])
        for wave in last
    }
    for row in evenings.dates:
        if row.slot * 2 <= last[row.wave]:
            votes[row.wave].count(row)
    scorers = {wave: ReciprocalScorer(tally.table) for wave, tally in votes.items()}
    dates = [evenings.dates[n] for n in late]
    scores = [
        _chance(scorers[row.wave], votes[row.wave], row, points[n])
        for n, row in zip(late, dates, strict=True)
    ]
    return Evenings(dates, evenings.tags), np.array(scores, np.float64)


def report(evenings: Evenings, draws: int, seed: int) -> list[str]:
    """The results, line by line."""
    whole = Evaluation(evenings, draws, seed)
    waves = len({row.wave for row in evenings.dates})
    rate = float(np.mean(whole.is_match))
    lines = [
        f"{len(evenings.dates)} dates of {waves} evenings, {100 * rate:.1f} % matches",
        "[..]: 95 % intervals over evenings drawn anew",
        "",
        f"{'all dates':38} {'AUC of match':24} hits@{TOP}",
        f"{'random':38} {0.5:.3f}{'':19} {whole.random_hits()}",
    ]
    variants = {"rated interests": points_by_ratings, "tags": points_by_tags}
    for name, make in variants.items():
        points = make(evenings)
        scored: list[tuple[str, Sequence[int]]] = [
            ("v1", points),
            ("v2", chances(evenings.dates, points)),
        ]
        for version, values in scored:
            scores = np.array(values, np.float64)
            best = whole.hits(best_of(evenings.dates, scores))
            lines.append(f"{f'{version}, {name}':38} {whole.auc(scores)!s:24} {best}")
    return [*lines, "", *_half_time(evenings, draws, seed)]


def _half_time(evenings: Evenings, draws: int, seed: int) -> list[str]:
    points = points_by_tags(evenings)
    late, scores = unmet_at_half_time(evenings, points)
    half = Evaluation(late, draws, seed)
    most = half.most_shown(scores)
    best = half.hits(best_of(late.dates, scores))
    lines = [
        f"{'the unmet at half time':38} {'AUC of match':24} hits@{TOP}",
        f"{'random':38} {0.5:.3f}{'':19} {half.random_hits()}",
        f"{f'v2, tags, no cap (most shown: {most})':38} {half.auc(scores)!s:24} {best}",
    ]
    for cap in (3 * TOP, 2 * TOP, TOP + 1, TOP):
        name = f"v2, tags, cap {cap} ({cap / TOP:.1f} times the mean)"
        lines.append(f"{name:38} {'':24} {half.capped_hits(scores, cap)}")
    return lines


def _figure(value: float, drawn: list[float]) -> Figure:
    low, high = np.percentile(drawn, (2.5, 97.5)).tolist()
    return Figure(value, low, high)


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate the file that is named on the command line."""
    parser = argparse.ArgumentParser(prog="scripts/evaluate-scoring", description=__doc__)
    parser.add_argument("file", type=Path, help="dates and votes, as described in docs/scoring.md")
    parser.add_argument("--draws", type=int, default=1000, help="how often evenings are drawn anew")
    parser.add_argument("--seed", type=int, default=1, help="of the draws")
    options: Any = parser.parse_args(arguments)
    try:
        with options.file.open(encoding="utf-8", newline="") as lines:
            evenings = read(lines)
    except (OSError, UnicodeDecodeError, Unreadable) as error:
        print(f"evaluate-scoring: {options.file}: {error}", file=sys.stderr)
        return 1
    print("\n".join(report(evenings, options.draws, options.seed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
