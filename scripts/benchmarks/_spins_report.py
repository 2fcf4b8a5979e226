"""The report of the spin benchmark, and the aims that its figures are compared with."""

from __future__ import annotations

import msgspec

AIM_LIFETIMES = 2500
AIM_P99_MS = 10
AIM_KIB = 12


class Report(msgspec.Struct, omit_defaults=True):
    """All measurements."""

    pinned: bool
    runner: str
    sync_ms: float
    load_average: float
    """Of the machine before the run; other load changes all figures."""
    echo_us: float | None = None
    mode: str = ""
    lifetimes: int = 0
    lifetimes_per_cpu_s: float | None = None
    lifetimes_per_s: float | None = None
    cpu_us_per_lifetime: float | None = None
    cpu_share: float | None = None
    echoes_per_lifetime: float | None = None
    commands_per_lifetime: float | None = None
    events_per_lifetime: float | None = None
    messages_per_commit: float | None = None
    commit_ms: float | None = None
    rate: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    worst_ms: float | None = None
    stolen_ms: float | None = None
    """CPU time that the host gave to others during the measurement of the latency."""
    pauses: int | None = None
    """Times at which the whole machine stood still meanwhile; None if nobody could watch."""
    pauses_ms: float | None = None
    touched: float | None = None
    """The share of the waits that a pause fell into."""
    running_p99_ms: float | None = None
    """Of the waits that no pause fell into."""
    running_worst_ms: float | None = None
    kib_per_idle: float | None = None
    waiting: int = 0
    crowded_per_cpu_s: float | None = None


def print_report(report: Report) -> None:
    """Print a report as a table."""
    lines = []
    if report.lifetimes_per_cpu_s is not None:
        lines += [
            (
                "lifetimes per server CPU second",
                f"{report.lifetimes_per_cpu_s:,.0f}",
                AIM_LIFETIMES,
            ),
            ("lifetimes per second", f"{report.lifetimes_per_s:,.0f}", ""),
            ("CPU per lifetime, us", f"{report.cpu_us_per_lifetime:.0f}", ""),
            ("server CPU in use", f"{report.cpu_share:.0%}", ""),
            ("commands per lifetime", f"{report.commands_per_lifetime:.2f}", ""),
            ("events per lifetime", f"{report.events_per_lifetime:.2f}", ""),
            ("messages per commit", f"{report.messages_per_commit:.1f}", ""),
            ("commit, ms (mean)", f"{report.commit_ms:.2f}", ""),
        ]
    if report.crowded_per_cpu_s is not None and report.lifetimes_per_cpu_s is not None:
        share = report.crowded_per_cpu_s / report.lifetimes_per_cpu_s
        name = f"the same with {report.waiting:,} others in line"
        lines.append((name, f"{report.crowded_per_cpu_s:,.0f}", ""))
        lines.append(("as a share of that with none", f"{share:.0%}", "90%"))
    if report.echoes_per_lifetime is not None:
        lines.append(("bare echoes per lifetime", f"{report.echoes_per_lifetime:.1f}", ""))
    if report.p99_ms is not None:
        lines += [
            (f"spin to matched at {report.rate:.0f}/s, p50 ms", f"{report.p50_ms:.2f}", ""),
            (f"spin to matched at {report.rate:.0f}/s, p99 ms", f"{report.p99_ms:.2f}", AIM_P99_MS),
            ("CPU time taken by the host meanwhile, ms", f"{report.stolen_ms:.0f}", ""),
        ]
    if report.running_p99_ms is not None:
        lines += [
            ("pauses of the machine meanwhile", f"{report.pauses}", ""),
            ("waits that a pause fell into", f"{report.touched:.1%}", ""),
            ("p99 of the other waits, ms", f"{report.running_p99_ms:.2f}", AIM_P99_MS),
        ]
    if report.kib_per_idle is not None:
        lines.append(("KiB per idle connection", f"{report.kib_per_idle:.1f}", AIM_KIB))
    print(f"{'':<40} {'measured':>10} {'aim':>8}")
    for name, value, aim in lines:
        print(f"{name:<40} {value:>10} {aim:>8}")
