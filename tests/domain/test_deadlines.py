"""Deadlines: ordered by instant, kind and user (R6)."""

from __future__ import annotations

from heapq import heappop, heappush

from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.domain.lobby.floor.deadlines import Deadline, Deadlines, Due


def _drain(deadlines: Deadlines, now: int) -> list[Deadline]:
    found = []
    while (deadline := deadlines.pop_due(now)) is not None:
        found.append(deadline)
    return found


def test_deadlines_of_one_instant_run_in_the_written_order() -> None:
    deadlines = Deadlines()
    for due in (Due.LIVENESS, Due.BAR, Due.DATE, Due.ACKNOWLEDGE, Due.VOTE):
        deadlines.add(7, due, "ana")
    assert [due for _, due, _, _ in _drain(deadlines, 7)] == [
        Due.VOTE,
        Due.ACKNOWLEDGE,
        Due.DATE,
        Due.BAR,
        Due.LIVENESS,
    ]


def test_deadlines_of_one_kind_and_instant_run_by_user_id() -> None:
    deadlines = Deadlines()
    for user_id in ("cleo", "ana", "ben"):
        deadlines.add(7, Due.LIVENESS, user_id)
    assert [user_id for _, _, user_id, _ in _drain(deadlines, 7)] == ["ana", "ben", "cleo"]


def test_an_earlier_instant_goes_before_a_higher_turn() -> None:
    deadlines = Deadlines()
    deadlines.add(7, Due.VOTE, "ana")
    deadlines.add(6, Due.LIVENESS, "ben")
    assert [user_id for _, _, user_id, _ in _drain(deadlines, 7)] == ["ben", "ana"]


def test_a_deadline_is_due_at_its_instant_and_not_before() -> None:
    deadlines = Deadlines()
    deadlines.add(7, Due.DATE, "ana", "d1")
    assert deadlines.next_at() == 7
    assert deadlines.pop_due(6) is None
    assert deadlines.pop_due(7) == (7, Due.DATE, "ana", "d1")
    assert deadlines.next_at() is None
    assert len(deadlines) == 0


@given(
    added=st.lists(
        st.tuples(
            st.integers(0, 5), st.sampled_from(Due), st.sampled_from("abc"), st.sampled_from("xy")
        )
    ),
    now=st.integers(0, 5),
)
def test_what_is_due_comes_out_sorted_and_the_rest_stays(added: list[Deadline], now: int) -> None:
    deadlines = Deadlines()
    for deadline in added:
        deadlines.add(*deadline)
    assert _drain(deadlines, now) == sorted(row for row in added if row[0] <= now)
    assert len(deadlines) == sum(row[0] > now for row in added)


def test_tier_edges_may_wait_for_each_other_and_nothing_else_waits() -> None:
    deadlines = Deadlines()
    deadlines.add(10, Due.TIER, "ana")
    deadlines.add(12, Due.TIER, "ben")
    deadlines.add(30, Due.TIER, "cleo")
    assert deadlines.next_at(edges_from=5) == 10
    assert deadlines.next_at(edges_from=20) == 20
    deadlines.add(15, Due.VOTE, "ben", "m1")
    assert deadlines.next_at(edges_from=20) == 15
    deadlines.add(9, Due.LIVENESS, "cleo")
    assert deadlines.next_at(edges_from=20) == 9


additions = st.tuples(st.integers(0, 4), st.sampled_from(Due), st.sampled_from(("ana", "ben")))


@given(st.lists(st.one_of(additions, st.integers(0, 4))))
def test_a_deadline_that_is_added_while_others_run_takes_its_place_among_them(
    steps: list[tuple[int, Due, str] | int],
) -> None:
    deadlines, model = Deadlines(), list[Deadline]()
    for step in steps:
        if isinstance(step, int):
            due = heappop(model) if model and model[0][0] <= step else None
            assert deadlines.pop_due(step) == due
        else:
            deadlines.add(*step)
            heappush(model, (*step, ""))
        assert deadlines.next_at() == (model[0][0] if model else None)
        assert len(deadlines) == len(model)
