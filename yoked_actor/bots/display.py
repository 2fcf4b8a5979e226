"""Output of the bots: a live table on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

from rich.table import Table

from yoked_actor.bots.bot import Phase
from yoked_actor.bots.crowd import Crowd
from yoked_actor.bots.tally import Tally


def live_table(crowd: Crowd, running_s: float) -> Table:
    """The current state and the totals."""
    tally = crowd.tally
    phases = tally.phases()
    table = Table(title=f"{crowd.users} bots, seed {crowd.seed}, {running_s:.0f} s", min_width=48)
    table.add_column("")
    table.add_column("now", justify="right")
    table.add_column("total", justify="right")
    table.add_row("connected", str(tally.connected), f"{tally.guests} guests")
    table.add_row("waiting", str(phases[Phase.WAITING]), "")
    table.add_row("matched", str(phases[Phase.MATCHED]), f"{tally.matches} matches")
    table.add_row("voting", str(phases[Phase.VOTING]), f"{sum(tally.outcomes.values())} outcomes")
    table.add_row("on a date", str(phases[Phase.DATE]), f"{tally.dates} dates")
    table.add_row("spin to matched", "p50, p99", _waits(tally))
    table.add_row("reconnects", "", str(tally.reconnects))
    table.add_row("errors", "", str(tally.errors.total()), style="red" if tally.errors else None)
    if tally.outcomes or tally.cancelled:
        table.add_section()
        for outcome, number in sorted(tally.outcomes.items()):
            table.add_row(f"outcome {outcome}", "", str(number))
        for reason, number in sorted(tally.cancelled.items()):
            table.add_row(f"cancelled, {reason}", "", str(number))
    return table


def progress_line(crowd: Crowd, running_s: float) -> str:
    """The same in one line."""
    tally = crowd.tally
    phases = tally.phases()
    return (
        f"{running_s:.0f} s: connected {tally.connected}, waiting {phases[Phase.WAITING]},"
        f" matched {phases[Phase.MATCHED]}, voting {phases[Phase.VOTING]},"
        f" on a date {phases[Phase.DATE]}; matches {tally.matches},"
        f" outcomes {tally.outcomes.total()}, reconnects {tally.reconnects},"
        f" errors {tally.errors.total()}, spin to matched p50, p99 {_waits(tally)}"
    )


def summary(crowd: Crowd, running_s: float) -> str:
    """The totals, printed at the end."""
    tally = crowd.tally
    lines = [
        f"{tally.guests} guests, {crowd.users} at a time, for {running_s:.0f} s, seed {crowd.seed}",
        f"matches: {tally.matches}, dates: {tally.dates}, reconnects: {tally.reconnects}",
        f"outcomes: {_list(tally.outcomes)}",
        f"cancelled: {_list(tally.cancelled)}",
        f"spin to matched p50, p99: {_waits(tally)}",
        f"errors: {_list(tally.errors)}",
    ]
    if tally.first_error:
        lines.append(f"first error: {tally.first_error}")
    return "\n".join(lines)


def _list(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items())) or "none"


def _waits(tally: Tally) -> str:
    half, most = tally.wait_s(0.5), tally.wait_s(0.99)
    return "-" if half is None or most is None else f"{_duration(half)}, {_duration(most)}"


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
