"""The report of a run as text, and as values for a program."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from yoked_actor.simulation.run import Result


def text_of(result: Result) -> str:
    """What a person reads in a terminal."""
    tally, wish = result.tally, result.wish
    days = result.simulated_s / 86_400
    lines = [
        f"{wish.people} people, {days:.1f} days from {result.start[:10]}, seed {wish.seed},"
        f" policy {result.policy}: {result.took_s:.1f} s, {result.times_real:,.0f} times real time"
        f" ({result.used_s:.1f} s of processor time: {result.times_used:,.0f} times)",
        "events: " + _counts(tally.events),
        "faults: " + _counts(Counter(fault.kind for fault in tally.faults)),
        "checks: " + _counts(Counter(result.checks)),
        f"longest step of the loop: {tally.longest_step_s * 1000:.0f} ms",
        f"history: {result.lines} lines, sha256 {result.digest}",
    ]
    for violation in result.violations[:5]:
        lines += ["", *violation.lines()]
    if len(result.violations) > 5:
        kinds = Counter(violation.kind for violation in result.violations)
        lines += ["", f"{len(result.violations)} violations: {_counts(kinds)}"]
    if result.violations:
        lines += ["", f"to see it again: {wish.command()}"]
    else:
        lines.append("no violations")
    return "\n".join(lines)


def summary(result: Result) -> dict[str, Any]:
    """The same for a program."""
    return {
        "command": result.wish.command(),
        "digest": result.digest,
        "lines": result.lines,
        "simulated_s": result.simulated_s,
        "took_s": round(result.took_s, 3),
        "times_real": round(result.times_real),
        "processor_s": round(result.used_s, 3),
        "times_processor": round(result.times_used),
        "violations": [msgspec.to_builtins(one) for one in result.violations],
        "checks": result.checks,
        "events": dict(result.tally.events),
        "faults": dict(Counter(fault.kind for fault in result.tally.faults)),
    }


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"
