"""Makes a failing run small: fewer days, fewer faults, fewer people, the same violation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from yoked_actor.simulation.faults.drawing import draw_faults
from yoked_actor.simulation.plan import Wish, make_plan
from yoked_actor.simulation.run import Result, simulate

MOST_RUNS = 60


class _Search:
    """Tries smaller runs, and keeps the smallest that still fails the same way."""

    def __init__(self, failed: Result, say: Callable[[str], None]) -> None:
        self.best = failed
        self._kind = failed.violations[0].kind
        self._say = say
        self._runs = 0

    def fails(self, wish: Wish) -> bool:
        """Whether a smaller run fails the same way; it is the best one then."""
        if self._runs >= MOST_RUNS:
            return False
        self._runs += 1
        result = simulate(wish)
        is_same = bool(result.violations) and result.violations[0].kind == self._kind
        self._say(f"{'fails' if is_same else 'passes'}: {wish.command()}")
        if is_same:
            self.best = result
        return is_same

    def without_parts(self, items: Sequence[int], keep: Callable[[list[int]], Wish]) -> None:
        """Leave out ever smaller parts of some items (delta debugging)."""
        kept, size = list(items), max(1, len(items) // 2)
        while kept and size:
            start = 0
            while start < len(kept):
                fewer = kept[:start] + kept[start + size :]
                if self.fails(keep(fewer)):
                    kept = fewer
                else:
                    start += size
            size //= 2


def shrink(failed: Result, say: Callable[[str], None]) -> Result:
    """The smallest run that was found; each attempt is reported to `say`."""
    search = _Search(failed, say)
    days = int(failed.simulated_s // 86_400) + 1
    if days < failed.wish.days:
        search.fails(replace(failed.wish, days=days))
    wish = search.best.wish
    if wish.faults:
        plan = make_plan(wish)
        drawn = draw_faults(wish.seed, wish.faults, plan.start_at, wish.days, plan.zones)
        if not search.fails(replace(wish, only_faults=())):
            numbers = [fault.number for fault in drawn]
            search.without_parts(numbers, lambda kept: replace(wish, only_faults=tuple(kept)))
    wish = search.best.wish
    concerned = {int(who[1:4]) for who in failed.violations[0].who if who[1:4].isdigit()}
    everybody = [number for number in range(wish.people) if number not in wish.without]
    others = [number for number in everybody if number not in concerned]

    def with_only(kept: list[int]) -> Wish:
        out = set(everybody) - set(kept) - concerned
        return replace(wish, without=(*wish.without, *sorted(out)))

    search.without_parts(others, with_only)
    return search.best
