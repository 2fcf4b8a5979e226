"""Measures the waiting pool: what one decision costs, for any number who wait.

Run it with `scripts/bench pairing`; `--help` says what the figures mean.
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from time import thread_time

import click
import msgspec

from scripts.benchmarks._waiting import CROWDS, MET, NOW, TIERS, joining, plain_scan, waiting
from yoked_actor.domain.matching import EVERYBODY, Limits, Pool, Ticket, Tier, Weighted
from yoked_actor.domain.matching.fairness import FairQueue, Policy
from yoked_actor.domain.statistics import percentile

AIM_P50_US = 60.0
AIM_P99_US = 1_000.0
AIM_WORST_US = 6_000.0
AIM_GROWTH = 5.0
AIM_BYTES = 2_048
HARD = ("burst", "met-best", "refused")
"""Crowds for which only the worst decision has an aim."""
EDGES = ("ordinary", "far-apart")
"""Crowds for which the attempts at tier edges are measured: many suit, and nobody does."""
POLICIES: dict[str, Policy] = {"fair_queue": FairQueue(60.0), "weighted": Weighted()}
Allowed = Callable[[str], bool]


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
    """Of a plain scan, the median."""
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
    """All that was measured."""

    rows: list[Row]
    edges: list[Edges]
    bytes_per_user: dict[int, float]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--size", "sizes", type=int, multiple=True, default=(100, 1_000, 10_000, 100_000),
    show_default=True, help="How many wait; may be given several times.",
)  # fmt: skip
@click.option("--crowd", "crowds", type=click.Choice(list(CROWDS)), multiple=True)
@click.option("--policy", "policies", type=click.Choice(list(POLICIES)), multiple=True)
@click.option("--decisions", default=400, show_default=True, help="Decisions that are timed.")
@click.option("--checks", default=12, show_default=True, help="Of those, held against the scan.")
@click.option("--seed", default=1, show_default=True, help="Of the crowds.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def main(
    sizes: tuple[int, ...],
    crowds: tuple[str, ...],
    policies: tuple[str, ...],
    decisions: int,
    checks: int,
    seed: int,
    as_json: bool,
) -> None:
    """Measure what it costs to find the best partner of somebody who joins.

    A DECISION is one call of `Pool.best_partner` for a newcomer in tier 1: the best of ALL who
    wait and are acceptable, and who was passed over. It does not change the pool. Times are CPU
    time of the thread, in microseconds, so that a busy machine disturbs them little.

    SCAN is the same decision by looking at everybody, in plain Python, in the same run. The first
    decisions of each row are checked to be those of the scan; one that is not stops the benchmark.

    PUT and DISCARD are what it costs to take a ticket in and out of the full pool.

    EDGES are the attempts that somebody gets on reaching tier 2 (only those beyond the limits of
    tier 1 are looked at) and the forced tier (tier 3 first; only if that finds nobody, the world).

    MEMORY is what the pool and its tickets take for each who waits; profiles are not counted.

    The crowds:

    \b
      ordinary   twenty towns, limits of 20-200 km and 4-20 years, waits of up to an hour
      picky      everybody wants their own age, give or take a year
      one-sided  nine of ten are men
      far-apart  scattered over the globe, and nobody goes further than 20 km
      mixed      three genders who seek any one, two or three of them: up to twelve groups to search
      forced     everybody is past the forced edge and accepts anybody
      burst      all have waited equally long, with equal credit and skips
      met-best   the seeker has met the thousand best who are acceptable
      refused    something (a block, a meeting) stands between the seeker and everyone

    The aims hold for 100,000 who wait: p50 under 60 us and p99 under 1 ms for the crowds up to
    `forced`, nothing over 6 ms anywhere, a median at most five times that with 1,000, `fair_queue`
    no slower than `weighted`, and less than 2 KiB for each who waits.
    """
    say: Callable[[str], None] = (lambda text: None) if as_json else _say
    report = Report([], [], {})
    for size in sizes:
        for crowd in crowds or CROWDS:
            tickets = waiting(crowd, size, seed)
            for name in policies or POLICIES:
                pool = _filled(name, tickets)
                row = _measure(pool, name, crowd, tickets, decisions, checks, seed)
                report.rows.append(row)
                say(_line(row))
                if crowd in EDGES:
                    report.edges.append(_measure_edges(pool, name, crowd, decisions, seed))
        if not crowds or "ordinary" in crowds:
            report.bytes_per_user[size] = _memory(size, seed)
            say(f"memory: {report.bytes_per_user[size]:.0f} bytes for each of {size:,}")
    if as_json:
        print(json.dumps(msgspec.to_builtins(report)))
    else:
        _print(report)


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def _filled(policy: str, tickets: Sequence[Ticket]) -> Pool:
    pool = Pool(POLICIES[policy], TIERS)
    for ticket in tickets:
        pool.put(ticket, NOW)
    return pool


def _measure(
    pool: Pool,
    name: str,
    crowd: str,
    tickets: Sequence[Ticket],
    decisions: int,
    checks: int,
    seed: int,
) -> Row:
    if crowd == "met-best":
        decisions = min(decisions, 2_000_000 // len(tickets) + 20)  # Each needs a scan beforehand.
    seekers = joining(crowd, decisions, seed)
    wishes = [TIERS.limits(seeker.person, Tier.EXACT) for seeker in seekers]
    rules = [
        _allowed(crowd, POLICIES[name], tickets, *each)
        for each in zip(seekers, wishes, strict=True)
    ]
    gc.collect()
    gc.disable()
    times, scans, found = [], [], 0
    for number, (seeker, limits, allowed) in enumerate(zip(seekers, wishes, rules, strict=True)):
        began = thread_time()
        choice = pool.best_partner(seeker, limits, NOW, allowed)
        times.append((thread_time() - began) * 1e6)
        found += choice is not None
        if number < checks:
            began = thread_time()
            everybody = plain_scan(POLICIES[name], tickets, seeker, limits, allowed)
            best = min(everybody)[2] if everybody else None
            scans.append((thread_time() - began) * 1e6)
            if best is not (None if choice is None else choice.ticket):
                raise SystemExit(f"{crowd}, {name}: the index and the scan differ: {seeker}")
    put, discard = _churn(pool, tickets)
    gc.enable()
    return Row(
        crowd=crowd,
        policy=name,
        size=len(tickets),
        found=found / decisions,
        p50=percentile(times, 0.5),
        p99=percentile(times, 0.99),
        worst=max(times),
        scan=percentile(scans, 0.5) if scans else 0.0,
        checked=len(scans),
        put=put,
        discard=discard,
    )


def _allowed(
    crowd: str, policy: Policy, tickets: Sequence[Ticket], seeker: Ticket, limits: Limits
) -> Allowed:
    """What stands between a seeker and others: mostly nothing."""
    if crowd == "refused":
        return lambda user_id: False
    if crowd == "met-best":
        everybody = sorted(plain_scan(policy, tickets, seeker, limits, lambda user_id: True))
        met = {user_id for _, user_id, _ in everybody[:MET]}
        return lambda user_id: user_id not in met
    return lambda user_id: True


def _churn(pool: Pool, tickets: Sequence[Ticket]) -> tuple[float, float]:
    """What it costs to put and to discard a ticket while the others wait."""
    moved = tickets[:: max(1, len(tickets) // 500)]
    began = thread_time()
    for ticket in moved:
        pool.discard(ticket.user_id)
    gone = thread_time()
    for ticket in moved:
        pool.put(ticket, NOW)
    back = thread_time()
    return (back - gone) / len(moved) * 1e6, (gone - began) / len(moved) * 1e6


def _measure_edges(pool: Pool, name: str, crowd: str, decisions: int, seed: int) -> Edges:
    def anyone(user_id: str) -> bool:
        return True

    wider, forced = [], []
    for seeker in joining(crowd, decisions, seed + 1):
        tier1, tier2, tier3 = (TIERS.limits(seeker.person, tier) for tier in list(Tier)[:3])
        began = thread_time()
        pool.best_partner(seeker, tier2, NOW, anyone, beyond=tier1)
        wider.append((thread_time() - began) * 1e6)
        began = thread_time()
        if pool.best_partner(seeker, tier3, NOW, anyone, beyond=tier2) is None:
            pool.best_partner(seeker, EVERYBODY, NOW, anyone, beyond=tier3)
        forced.append((thread_time() - began) * 1e6)
    return Edges(
        crowd=crowd,
        policy=name,
        size=len(pool),
        tier2_p50=percentile(wider, 0.5),
        tier2_p99=percentile(wider, 0.99),
        forced_p50=percentile(forced, 0.5),
        forced_p99=percentile(forced, 0.99),
    )


def _memory(size: int, seed: int) -> float:
    """Bytes that the pool and its tickets take for each who waits."""
    tickets = waiting("ordinary", size, seed)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    pool = Pool(POLICIES["fair_queue"], TIERS)
    for each in tickets:
        pool.put(msgspec.structs.replace(each), NOW)
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return taken / len(pool)


def _line(row: Row) -> str:
    return (
        f"{row.size:>7,} {row.crowd:<9} {row.policy:<10} p50 {row.p50:7.1f}  p99 {row.p99:7.1f}"
        f"  worst {row.worst:7.1f}  scan {row.scan:9.0f}  put {row.put:5.1f}"
        f"  discard {row.discard:5.1f}  found {row.found:4.0%}"
    )


def _print(report: Report) -> None:
    print("microseconds of CPU for one decision; scan: the same by looking at everybody\n")
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
        print(f"{size:>8,}  memory: {taken:,.0f} bytes for each who waits{word}")


def _verdict(row: Row, rows: Sequence[Row]) -> str:
    """Which aims a row misses; aims are for the largest size."""
    if row.size < max(each.size for each in rows):
        return ""
    missed = [f"worst > {AIM_WORST_US:,.0f}"] if row.worst > AIM_WORST_US else []
    if row.crowd not in HARD:
        missed += [f"p50 > {AIM_P50_US:.0f}"] if row.p50 > AIM_P50_US else []
        missed += [f"p99 > {AIM_P99_US:,.0f}"] if row.p99 > AIM_P99_US else []
    for other in rows:
        if (other.crowd, other.policy, other.size) == (row.crowd, row.policy, 1_000):
            growth = row.p50 / other.p50
            missed += [f"{growth:.1f}x that with 1,000"] if growth > AIM_GROWTH else []
        alike = (other.crowd, other.size) == (row.crowd, row.size)
        if alike and row.policy == "fair_queue" != other.policy and row.p50 > other.p50 * 1.05:
            missed.append("slower than weighted")
    return "; ".join(missed) or "ok"


if __name__ == "__main__":
    main()
