"""The report of a run as one HTML file that needs no network: plots as SVG, drawn here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from html import escape

from yoked_actor.domain.statistics import percentile
from yoked_actor.domain.time import MICROSECONDS, from_datetime, to_datetime
from yoked_actor.simulation.plots import Bar, Mark, bars, histogram, stacked, strip, timeline
from yoked_actor.simulation.run import Result
from yoked_actor.simulation.tally import Fault, Wait

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2430; --soft: #667; --line: #d5d8e0; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaf0; --soft: #9aa; --line: #3a4050; --paper: #171a21; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
p.note { color: var(--soft); margin: 0 0 .6rem; }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font-size: 11px; }
svg .soft { fill: var(--soft); } svg line { stroke: var(--line); }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: .2rem .7rem .2rem 0; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; padding: .7rem; }
details { margin-top: .6rem; } summary { cursor: pointer; color: var(--soft); }
.good { color: #1a7f4b; } .bad { color: #c0392b; }
.key span { display: inline-block; margin-right: 1.2rem; }
.key i { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px;
  margin-right: .4rem; vertical-align: -1px; }
"""
_TIER_COLOURS = {1: "#2f7ed8", 2: "#5bb98c", 3: "#e0a83c", 99: "#c0564f"}
_HOUR_COLOURS = {
    "both_yes": "#c2457f",
    "yes_pass": "#d98c5f",
    "pass_pass": "#8a8fa3",
    "yes_idle": "#d9b95f",
    "pass_idle": "#a5aab8",
    "idle_idle": "#c9ccd6",
    "cancelled": "#6f7fd0",
}
_FAULT_COLOURS = ("#c0564f", "#2f7ed8", "#5bb98c", "#e0a83c", "#8a5fc0", "#c2457f", "#4aa3a3")

_FEW = 3
"""Fewer waits say nothing about a person."""
_SHORT = 30


def page_of(result: Result) -> str:
    """The whole page."""
    wish, tally = result.wish, result.tally
    days = "1 day" if wish.days == 1 else f"{wish.days} days"
    title = f"Simulation: {wish.people} people, {days}, seed {wish.seed}"
    count = len(result.violations)
    verdict = (
        '<p class="good"><b>No violations.</b></p>'
        if not count
        else f'<p class="bad"><b>{count} violation{"s" if count > 1 else ""}.</b></p>'
    )
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="note">{escape(result.start[:16].replace("T", " "))} UTC, policy'
        f" {escape(result.policy)}. {result.simulated_s / 86_400:.1f} days in"
        f" {result.took_s:.0f} s: {result.times_real:,.0f} times real time.</p>",
        verdict,
        f"<pre>{escape(wish.command())}\nhistory: {result.lines} lines, sha256 {result.digest}"
        "</pre>",
        *_violations(result),
        _section(
            "Waits by group",
            "How long people waited for a match, in seconds: median, 90th and 99th percentile.",
            _waits(tally.waits),
        ),
        _section(
            "Tiers by group",
            "In which tier people were when they were matched: exact limits first.",
            _tiers(tally.waits),
        ),
        _section(
            "Fairness",
            "People by the share of their waits that ended in a match.",
            _fairness(tally.waits),
        ),
        _section(
            "Matches and outcomes by hour",
            "What people were told, in each hour of the run. Evenings come once in every zone.",
            _hours(result),
        ),
        _section(
            "Mornings",
            "The run of each zone and date: green if its last set was stored within a second,"
            " amber within a minute, red if later.",
            _mornings(result),
        ),
        _section("Jobs", "By type and status, at the last look.", _jobs(tally.jobs)),
        _section(
            "Faults",
            "When each fault came, and what it did: point at a mark, or open the table.",
            _faults(result),
        ),
        _section(
            "Memory",
            "Objects that can be reached from the server, at hours when nobody was connected. A"
            " restart begins at a lower level.",
            strip(
                [(_hours_since(result, one.at), float(one.objects)) for one in tally.levels],
                wish.days * 24.0,
            ),
        ),
        _section(
            "What the judges looked at",
            f"The longest step of the loop took {tally.longest_step_s * 1000:.0f} ms of processor"
            " time.",
            bars([Bar(name, float(n)) for name, n in Counter(result.checks).most_common()]),
        ),
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n{body}\n</html>\n"
    )


def _section(title: str, note: str, content: str) -> str:
    return f'<h2>{escape(title)}</h2>\n<p class="note">{escape(note)}</p>\n{content}'


def _violations(result: Result) -> list[str]:
    return [f"<pre>{escape(chr(10).join(one.lines()))}</pre>" for one in result.violations[:10]]


def _hours_since(result: Result, at: int) -> float:
    start = from_datetime(datetime.fromisoformat(result.start))
    return (at - start) / MICROSECONDS / 3600


def _groups(waits: list[Wait]) -> dict[str, list[Wait]]:
    groups: dict[str, list[Wait]] = defaultdict(list)
    for wait in waits:
        groups[wait.group].append(wait)
    return dict(sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])))


def _waits(waits: list[Wait]) -> str:
    rows = []
    for group, found in _groups(waits).items():
        served = [wait.seconds for wait in found if wait.matched]
        marks = [percentile(served, share) for share in (0.5, 0.9, 0.99)]
        share = len(served) / len(found)
        rows.append((group, f"{len(found)}", f"{share:.0%}", *(f"{mark:.1f}" for mark in marks)))
    head = ("group", "waits", "matched", "p50 s", "p90 s", "p99 s")
    return _table(head, rows)


def _tiers(waits: list[Wait]) -> str:
    rows = []
    for group, found in _groups(waits).items():
        tiers = Counter(wait.tier for wait in found if wait.matched)
        rows.append((group, {str(tier): tiers[tier] for tier in _TIER_COLOURS}))
    colours = {str(tier): colour for tier, colour in _TIER_COLOURS.items()}
    return _key(colours, prefix="tier ") + bars(
        [Bar(group, float(sum(tiers.values())), tiers, colours) for group, tiers in rows]
    )


def _fairness(waits: list[Wait]) -> str:
    """How evenly matches are spread: over people, and by group."""
    people: dict[str, list[Wait]] = defaultdict(list)
    for wait in waits:
        people[wait.who].append(wait)
    shares = {who: _share(found) for who, found in people.items() if len(found) >= _FEW}
    classes = [0] * 10
    for share in shares.values():
        classes[min(9, int(share * 10))] += 1
    rows = []
    for group, found in _groups(waits).items():
        those = sorted({wait.who for wait in found} & set(shares))
        if those:
            marks = [percentile([shares[who] for who in those], one) for one in (0.1, 0.5, 0.9)]
            rows.append((group, str(len(those)), *(f"{mark:.0%}" for mark in marks)))
    head = ("group", f"people with {_FEW} waits or more", "lowest tenth", "median", "highest tenth")
    plot = histogram([(f"{10 * n} to {10 * n + 10} %", count) for n, count in enumerate(classes)])
    return plot + _table(head, rows)


def _share(waits: list[Wait]) -> float:
    return sum(wait.matched for wait in waits) / len(waits)


def _hours(result: Result) -> str:
    hours = []
    for hour in range(result.wish.days * 24):
        found = result.tally.by_hour.get(hour, Counter())
        counts = {name: found[name] // 2 for name in _HOUR_COLOURS if name != "cancelled"}
        cancelled = sum(n for name, n in found.items() if name.startswith("cancelled"))
        hours.append(counts | {"cancelled": cancelled // 2})
    return _key(_HOUR_COLOURS) + stacked(hours, _HOUR_COLOURS)


def _mornings(result: Result) -> str:
    mornings = sorted(result.tally.mornings, key=lambda one: (one.day, one.zone))
    marks = [
        Mark(
            one.zone,
            _hours_since(result, one.due_at),
            f"{one.day}: {one.sets} sets, {one.offers} offers, {one.late_s:.1f} s",
            _late_colour(one.late_s),
        )
        for one in mornings
    ]
    rows = [
        (one.day, one.zone, str(one.sets), str(one.offers), f"{one.late_s:.1f}") for one in mornings
    ]
    head = ("date", "zone", "sets", "offers", "latest set, s after nine")
    table = _details(f"{len(rows)} mornings", _table(head, rows))
    return timeline(marks, result.wish.days * 24.0) + table


def _late_colour(late_s: float) -> str:
    return "#5bb98c" if late_s < 1.0 else "#e0a83c" if late_s < 60.0 else "#c0564f"


def _jobs(jobs: Counter[str]) -> str:
    rows = [(*name.rsplit(" ", 1), str(count)) for name, count in sorted(jobs.items())]
    return _table(("type", "status", "jobs"), rows)


def _faults(result: Result) -> str:
    faults: list[Fault] = result.tally.faults
    if not faults:
        return "<p>None were asked for.</p>"
    kinds = sorted({one.kind for one in faults})
    colours = {kind: _FAULT_COLOURS[n % len(_FAULT_COLOURS)] for n, kind in enumerate(kinds)}
    marks = [
        Mark(one.kind, _hours_since(result, one.at), one.text, colours[one.kind]) for one in faults
    ]
    rows = [(to_datetime(one.at).strftime("%m-%d %H:%M:%S"), one.kind, one.text) for one in faults]
    table = _details(f"{len(rows)} faults", _table(("UTC", "fault", "what it did"), rows))
    return timeline(marks, result.wish.days * 24.0) + table


def _details(summary: str, content: str) -> str:
    """What is shown on a click; a short table is open at first."""
    is_open = " open" if content.count("<tr>") <= _SHORT else ""
    return f"<details{is_open}><summary>{escape(summary)}</summary>\n{content}</details>"


def _key(colours: dict[str, str], prefix: str = "") -> str:
    spans = "".join(
        f'<span><i style="background:{colour}"></i>{escape(prefix + name)}</span>'
        for name, colour in colours.items()
    )
    return f'<p class="key">{spans}</p>'


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    def is_number(text: str) -> bool:
        return text.replace(".", "").replace("%", "").isdigit()

    numbers = [all(is_number(row[column]) for row in rows) for column in range(len(head))]

    def line(tag: str, texts: tuple[str, ...]) -> str:
        cells = (
            f"<{tag}{' class=number' if right else ''}>{escape(text)}</{tag}>"
            for text, right in zip(texts, numbers, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>"

    lines = ["<table>", line("th", head), *(line("td", row) for row in rows), "</table>"]
    return "\n".join(lines)
