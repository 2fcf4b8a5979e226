"""Measures the time from spin to `matched` at a steady rate, and what the machine adds to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scripts.benchmarks._pauses import watching_pauses
from scripts.benchmarks._process import Process, stolen_s
from scripts.benchmarks._spinning import pace
from scripts.benchmarks._spins_report import Report
from yoked_actor.domain.statistics import percentile


def measure_latency(
    report: Report,
    server: Process,
    users: Sequence[str],
    rate: float,
    seconds: float,
    seed: int,
    say: Callable[[str], None],
) -> None:
    """Let users spin at this rate of lifetimes, and add the waits to the report."""
    stolen_before_s = stolen_s()
    with watching_pauses() as pauses:
        waits, report.rate = pace(server, users, rate, seconds, seed)
    report.stolen_ms = 1000 * (stolen_s() - stolen_before_s)
    waits_ms = [1000 * (ended - began) for began, ended in waits]
    report.p50_ms = percentile(waits_ms, 0.5)
    report.p99_ms = percentile(waits_ms, 0.99)
    report.worst_ms = max(waits_ms)
    say(
        f"latency: {len(waits_ms)} waits at {report.rate:.1f} lifetimes/s,"
        f" p50 {report.p50_ms:.2f} ms, p99 {report.p99_ms:.2f} ms, worst {report.worst_ms:.2f} ms;"
        f" the host took {report.stolen_ms:.0f} ms"
    )
    if pauses is None:
        say("latency: pauses of the machine are not measured: that needs real-time priorities")
        return
    running_ms = [
        1000 * (ended - began) for began, ended in waits if not pauses.touch((began, ended))
    ]
    report.pauses = len(pauses.intervals)
    report.pauses_ms = pauses.total_ms
    report.touched = 1 - len(running_ms) / len(waits_ms)
    if running_ms:
        report.running_p99_ms = percentile(running_ms, 0.99)
        report.running_worst_ms = max(running_ms)
    say(
        f"latency: the machine paused {report.pauses} times, {report.pauses_ms:.0f} ms in all,"
        f" {pauses.longest_ms:.0f} ms at most; {report.touched:.1%} of the waits fell into a pause"
    )
