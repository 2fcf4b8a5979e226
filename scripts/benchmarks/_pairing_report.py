"""The report of the pairing benchmark, and the aims that its figures are compared with."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

AIM_P50_US = 60.0
AIM_P99_US = 1_000.0
AIM_WORST_US = 3_000.0
AIM_GROWTH = 5.0
AIM_BYTES = 2_048
HARD = ("burst", "met-best", "refused")
"""Crowds whose median has no aim."""


class Row(msgspec.Struct):
    """One crowd of one size under one policy; times in microseconds of CPU."""

    crowd: str
    policy: str
    size: int
    found: float
    p50: float
    p99: float
    worst: float
    scan: float
    """The median of a plain scan."""
    checked: int
    put: float
    discard: float


class Edges(msgspec.Struct):
    """Attempts at tier edges; times in microseconds of CPU."""

    crowd: str
    policy: str
    size: int
    tier2_p50: float
    tier2_p99: float
    forced_p50: float
    forced_p99: float


class Report(msgspec.Struct):
    """All measurements."""

    rows: list[Row]
    edges: list[Edges]
    bytes_per_user: dict[int, float]


def line_of(row: Row) -> str:
    """A row as one line, while others are still measured."""
    return (
        f"{row.size:>7,} {row.crowd:<9} {row.policy:<10} p50 {row.p50:7.1f}  p99 {row.p99:7.1f}"
        f"  worst {row.worst:7.1f}  scan {row.scan:9.0f}  put {row.put:5.1f}"
        f"  discard {row.discard:5.1f}  found {row.found:4.0%}"
    )


def print_report(report: Report) -> None:
    """Print a report as a table."""
    print("microseconds of CPU for one decision; scan: the same by a loop over all users\n")
    heads = f"{'waiting':>8}  {'crowd':<10}{'policy':<11}{'p50':>8}{'p99':>9}{'worst':>9}"
    print(f"{heads}{'scan':>10}{'faster':>8}{'put':>7}{'discard':>9}{'found':>7}  aims")
    for row in report.rows:
        print(
            f"{row.size:>8,}  {row.crowd:<10}{row.policy:<11}{row.p50:>8.1f}{row.p99:>9.1f}"
            f"{row.worst:>9.1f}{row.scan:>10,.0f}{row.scan / row.p50:>7,.0f}x{row.put:>7.1f}"
            f"{row.discard:>9.1f}{row.found:>7.0%}  {_verdict(row, report.rows)}"
        )
    for edges in report.edges:
        print(
            f"{edges.size:>8,}  {edges.crowd:<10}{edges.policy:<11}at the edge of tier 2:"
            f" p50 {edges.tier2_p50:.1f}, p99 {edges.tier2_p99:.1f}; forced: p50"
            f" {edges.forced_p50:.1f}, p99 {edges.forced_p99:.1f}"
        )
    for size, taken in report.bytes_per_user.items():
        word = "" if taken < AIM_BYTES else f"  over {AIM_BYTES}"
        print(f"{size:>8,}  memory: {taken:,.0f} bytes for each waiting user{word}")


def _verdict(row: Row, rows: Sequence[Row]) -> str:
    """The aims that a row misses; aims are for the largest size."""
    if row.size < max(each.size for each in rows):
        return ""
    missed = [f"worst > {AIM_WORST_US:,.0f}"] if row.worst > AIM_WORST_US else []
    missed += [f"p99 > {AIM_P99_US:,.0f}"] if row.p99 > AIM_P99_US else []
    if row.crowd not in HARD:
        missed += [f"p50 > {AIM_P50_US:.0f}"] if row.p50 > AIM_P50_US else []
    for other in rows:
        if (other.crowd, other.policy, other.size) == (row.crowd, row.policy, 1_000):
            growth = row.p50 / other.p50
            missed += [f"{growth:.1f}x that with 1,000"] if growth > AIM_GROWTH else []
        alike = (other.crowd, other.size) == (row.crowd, row.size)
        if alike and row.policy == "fair_queue" != other.policy and row.p50 > other.p50 * 1.05:
            missed.append("slower than weighted")
    return "; ".join(missed) or "ok"
