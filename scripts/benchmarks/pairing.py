"""Measures the waiting pool: the cost of one decision, for any number of waiting users.

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

from scripts.benchmarks._pairing_report import Edges, Report, Row, line_of, print_report
from scripts.benchmarks._waiting import CROWDS, MET, NOW, TIERS, joining, plain_scan, waiting
from yoked_actor.domain.matching import (
    EVERYBODY,
    NOBODY,
    Apart,
    Limits,
    Numbers,
    Pool,
    Ticket,
    Tier,
    Weighted,
)
from yoked_actor.domain.matching.fairness import FairQueue, Policy
from yoked_actor.domain.statistics import percentile

EDGES = ("ordinary", "far-apart")
"""Crowds whose attempts at tier edges are measured: in one many suit, in the other none does."""
POLICIES: dict[str, Policy] = {"fair_queue": FairQueue(60.0), "weighted": Weighted()}


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
    """Measure the cost of finding the best partner of a new user.

    A DECISION is one call of `Pool.best_partner` for a new user in tier 1: the best of ALL
    acceptable users who wait, and the users who were passed over. It does not change the pool.
    Times are CPU time of the thread, in microseconds, so that a busy machine has little effect.

    SCAN is the same decision by a loop over all users, in plain Python, in the same run. The first
    decisions of each row are compared with the scan; a difference stops the benchmark.

    PUT and DISCARD are the costs of adding and removing a ticket in the full pool.

    EDGES are the attempts of a user who reaches tier 2 (only candidates beyond the limits of tier 1
    are searched) and the forced tier (tier 3 first; without limits only if that finds nobody).

    MEMORY is what the pool and its tickets take for each waiting user, without profiles.

    The crowds:

    \b
      ordinary   twenty towns, limits of 20-200 km and 4-20 years, waits of up to an hour
      picky      all want their own age, plus or minus a year
      one-sided  nine of ten are men
      far-apart  spread over the globe, with limits of 20 km
      mixed      three genders who seek one, two or three of them: up to twelve groups
      forced     all are past the forced edge, and accept anybody
      burst      all have waited equally long, with equal credit and skips
      met-best   the seeker has met the thousand best who are acceptable
      refused    a block or a meeting keeps the seeker apart from all others

    The aims are for 100,000 waiting users: p50 under 60 us for the crowds up to `forced`, p99 under
    1 ms and nothing over 3 ms for all, a median at most five times that with 1,000, `fair_queue` no
    slower than `weighted`, and less than 2 KiB for each waiting user.
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
                say(line_of(row))
                if crowd in EDGES:
                    report.edges.append(_measure_edges(pool, name, crowd, decisions, seed))
        if not crowds or "ordinary" in crowds:
            report.bytes_per_user[size] = _memory(size, seed)
            say(f"memory: {report.bytes_per_user[size]:.0f} bytes for each of {size:,}")
    if as_json:
        print(json.dumps(msgspec.to_builtins(report)))
    else:
        print_report(report)


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
    numbers = pool.numbers
    everyone = Apart((ticket.user_id, numbers.of(ticket.user_id)) for ticket in tickets)
    kept_apart = [
        _apart(crowd, POLICIES[name], tickets, numbers, everyone, *each)
        for each in zip(seekers, wishes, strict=True)
    ]
    gc.collect()
    gc.disable()
    times: list[float] = []
    choices: list[Ticket | None] = []
    joined = list(zip(seekers, wishes, kept_apart, strict=True))
    for seeker, limits, apart in joined:
        began = thread_time()
        choice = pool.best_partner(seeker, limits, NOW, apart)
        times.append((thread_time() - began) * 1e6)
        choices.append(None if choice is None else choice.ticket)
    # Afterwards: a scan between two decisions would empty the caches of the processor.
    scans: list[float] = []
    for (seeker, limits, apart), chosen in zip(joined[:checks], choices, strict=False):
        began = thread_time()
        everybody = plain_scan(POLICIES[name], tickets, seeker, limits, apart)
        best = min(everybody)[2] if everybody else None
        scans.append((thread_time() - began) * 1e6)
        if best is not chosen:
            raise SystemExit(f"{crowd}, {name}: the index and the scan differ: {seeker}")
    put, discard = _churn(pool, tickets)
    gc.enable()
    return Row(
        crowd=crowd,
        policy=name,
        size=len(tickets),
        found=sum(choice is not None for choice in choices) / decisions,
        p50=percentile(times, 0.5),
        p99=percentile(times, 0.99),
        worst=max(times),
        scan=percentile(scans, 0.5) if scans else 0.0,
        checked=len(scans),
        put=put,
        discard=discard,
    )


def _apart(
    crowd: str,
    policy: Policy,
    tickets: Sequence[Ticket],
    numbers: Numbers,
    everyone: Apart,
    seeker: Ticket,
    limits: Limits,
) -> Apart:
    """The users who are kept apart from a seeker: mostly nobody."""
    if crowd == "refused":
        return everyone
    if crowd == "met-best":
        everybody = sorted(plain_scan(policy, tickets, seeker, limits, NOBODY))
        return Apart((user_id, numbers.of(user_id)) for _, user_id, _ in everybody[:MET])
    return NOBODY


def _churn(pool: Pool, tickets: Sequence[Ticket]) -> tuple[float, float]:
    """The costs of adding and removing a ticket."""
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
    wider, forced = [], []
    for seeker in joining(crowd, decisions, seed + 1):
        tier1, tier2, tier3 = (TIERS.limits(seeker.person, tier) for tier in list(Tier)[:3])
        began = thread_time()
        pool.best_partner(seeker, tier2, NOW, NOBODY, beyond=tier1)
        wider.append((thread_time() - began) * 1e6)
        began = thread_time()
        if pool.best_partner(seeker, tier3, NOW, NOBODY, beyond=tier2) is None:
            pool.best_partner(seeker, EVERYBODY, NOW, NOBODY, beyond=tier3)
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
    """The bytes of the pool and its tickets for each waiting user."""
    tickets = waiting("ordinary", size, seed)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    pool = Pool(POLICIES["fair_queue"], TIERS)
    for each in tickets:
        place = each.waiting_since, each.credit, each.skips, each.tier
        pool.put(Ticket(each.person, *place), NOW)
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return taken / len(pool)


if __name__ == "__main__":
    main()
