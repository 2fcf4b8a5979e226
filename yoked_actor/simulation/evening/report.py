"""The report of a simulated evening: waits by group, tiers, outcomes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from yoked_actor.domain.lobby import Quality
from yoked_actor.domain.statistics import percentile


class Wait(msgspec.Struct, frozen=True):
    """One wait in line: its duration, and whether it led to a match."""

    group: str
    seconds: float
    matched: bool


class Row(msgspec.Struct, frozen=True):
    """The waits of one group."""

    group: str
    waits: int
    matched: int
    p50_s: float
    p90_s: float
    p99_s: float


class Report(msgspec.Struct):
    """The figures of an evening."""

    seed: int
    people: int
    policy: str
    matches: int = 0
    outcomes: dict[str, int] = {}
    cancelled: dict[str, int] = {}
    tiers: dict[int, int] = {}
    rows: list[Row] = []
    within_5_s: float = 0.0
    """The share matched within five seconds, of the waits with a hard-compatible partner."""
    longest_wait_s: float = 0.0
    rounds: int = 0
    violations: list[str] = []

    def text(self) -> str:
        """The report as text."""
        lines = [
            f"{self.people} people, policy {self.policy}, seed {self.seed}:"
            f" {self.matches} matches in {self.rounds} rounds",
            f"matched within 5 s, of those who had somebody to meet: {self.within_5_s:.1%}",
            "outcomes: " + _counts(self.outcomes),
            "cancelled: " + _counts(self.cancelled),
            "sides by tier: " + _counts({str(tier): n for tier, n in sorted(self.tiers.items())}),
            "",
            f"{'group':<44}{'waits':>7}{'matched':>9}{'p50 s':>8}{'p90 s':>8}{'p99 s':>9}",
        ]
        for row in self.rows:
            rate = row.matched / row.waits if row.waits else 0.0
            lines.append(
                f"{row.group:<44}{row.waits:>7}{rate:>9.1%}"
                f"{row.p50_s:>8.2f}{row.p90_s:>8.1f}{row.p99_s:>9.1f}"
            )
        lines.append(f"longest wait that led to a match: {self.longest_wait_s:.1f} s")
        lines += [f"VIOLATION: {violation}" for violation in self.violations]
        return "\n".join(lines)


def rows_of(waits: Sequence[Wait]) -> list[Row]:
    """The waits by group, the largest group first."""
    by_group: dict[str, list[Wait]] = defaultdict(list)
    for wait in waits:
        by_group[wait.group].append(wait)
    rows = [_row(group, found) for group, found in by_group.items()]
    return sorted(rows, key=lambda row: (-row.waits, row.group))


def tiers_of(qualities: Sequence[Quality]) -> dict[int, int]:
    """How many sides were matched in each tier."""
    sides = Counter[int]()
    for quality in qualities:
        sides[int(quality.a_tier)] += 1
        sides[int(quality.b_tier)] += 1
    return dict(sides)


def _row(group: str, waits: Sequence[Wait]) -> Row:
    served = [wait.seconds for wait in waits if wait.matched]
    return Row(
        group,
        len(waits),
        len(served),
        percentile(served, 0.50),
        percentile(served, 0.90),
        percentile(served, 0.99),
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"
