"""Blocks, meetings and bars: kept while a user they concern is in memory, dropped afterwards."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.domain.crowds import START
from yoked_actor.domain.lobby import Changes, Known
from yoked_actor.domain.lobby.floor.acquaintance import Acquaintance
from yoked_actor.domain.time import after

DAY_S = 86_400.0
NAMES = ("ana", "ben", "cleo", "dan")


def _of(*user_ids: str, days: float | None = None) -> Acquaintance:
    between = Acquaintance(days)
    for user_id in user_ids:
        between.learn(Known(user_id))
    return between


def _is_empty(between: Acquaintance) -> bool:
    books = (between.blocks, between.met, between.bars)
    return not any(book.rows for book in books) and not (
        between._others or between._blocked or between._blockers or between._apart
    )


def test_a_block_stands_between_both_whoever_set_it() -> None:
    between = _of("ana", "ben")
    between.block("ana", "ben", START)
    assert between.is_blocked("ana", "ben")
    assert between.is_blocked("ben", "ana")
    assert between.blocked_by("ana") == {"ben": START}
    assert between.blocked_by("ben") == {}


def test_a_block_can_be_lifted_once() -> None:
    between = _of("ana", "ben")
    between.block("ana", "ben", START)
    assert not between.unblock("ben", "ana")
    assert between.unblock("ana", "ben")
    assert not between.unblock("ana", "ben")
    assert not between.is_blocked("ana", "ben")


def test_two_who_met_have_met_for_good() -> None:
    between = _of("ana", "ben")
    between.meet("ben", "ana", START)
    assert between.have_met("ana", "ben", after(START, 10_000 * DAY_S))
    assert between.have_met("ben", "ana", START)
    assert not between.have_met("ana", "cleo", START)


def test_two_who_met_may_meet_again_after_the_days_that_are_set() -> None:
    between = _of("ana", "ben", days=30)
    between.meet("ana", "ben", START)
    assert between.have_met("ana", "ben", after(START, 30 * DAY_S) - 1)
    assert not between.have_met("ana", "ben", after(START, 30 * DAY_S))
    between.meet("ana", "ben", after(START, 31 * DAY_S))
    assert between.have_met("ana", "ben", after(START, 32 * DAY_S))


def test_a_meeting_can_be_taken_back() -> None:
    between = _of("ana", "ben")
    between.meet("ana", "ben", START)
    between.settle()
    between.unmeet("ben", "ana")
    changes = Changes()
    between.collect(changes)
    assert changes.met == [(("ana", "ben"), None)]
    assert not between.have_met("ana", "ben", START)


def test_a_bar_belongs_to_the_pair_until_it_is_lifted() -> None:
    between = _of("ana", "ben")
    pair = between.bar("ben", "ana", after(START, 60))
    assert pair == ("ana", "ben")
    assert between.is_barred("ana", "ben")
    assert between.is_barred("ben", "ana")
    between.lift_bar(pair)
    assert not between.is_barred("ana", "ben")


def test_what_is_collected_is_what_has_changed() -> None:
    between = _of("ana", "ben", "cleo")
    between.block("ana", "ben", START)
    between.meet("ana", "cleo", START)
    between.bar("ben", "cleo", after(START, 60))
    changes = Changes()
    between.collect(changes)
    assert changes.blocks == [(("ana", "ben"), START)]
    assert changes.met == [(("ana", "cleo"), START)]
    assert changes.bars == [(("ben", "cleo"), after(START, 60))]
    between.settle()
    nothing = Changes()
    between.collect(nothing)
    assert not nothing


def test_undo_brings_everything_back_and_names_the_bars_to_be_timed() -> None:
    between = _of("ana", "ben")
    between.bar("ana", "ben", after(START, 60))
    between.block("ana", "ben", START)
    between.settle()
    between.lift_bar(("ana", "ben"))
    between.bar("ana", "cleo", after(START, 60))
    between.unblock("ana", "ben")
    between.meet("ana", "ben", START)
    assert between.undo() == [("ana", "ben")]
    assert between.is_barred("ana", "ben")
    assert not between.is_barred("ana", "cleo")
    assert between.blocked_by("ana") == {"ben": START}
    assert not between.have_met("ana", "ben", START)


def test_an_undone_block_is_not_listed() -> None:
    between = _of("ana")
    between.block("ana", "ben", START)
    between.undo()
    assert between.blocked_by("ana") == {}


def test_a_pair_is_known_while_one_of_the_two_is_here() -> None:
    between = _of("ana", "ben")
    between.meet("ana", "ben", START)
    between.bar("ana", "ben", START)
    between.settle()
    between.forget("ana")
    assert between.have_met("ana", "ben", START)
    assert between.is_barred("ana", "ben")
    between.forget("ben")
    assert _is_empty(between)


def test_a_block_is_forgotten_with_the_blocker_and_stays_without_the_blocked() -> None:
    between = _of("ana", "ben")
    between.block("ana", "ben", START)
    between.settle()
    between.forget("ben")
    assert between.is_blocked("ana", "ben")
    between.forget("ana")
    assert _is_empty(between)


class _Disk:
    """What would be stored."""

    def __init__(self) -> None:
        self.met: set[tuple[str, str]] = set()
        self.blocks: set[tuple[str, str]] = set()

    def known(self, user_id: str) -> Known:
        return Known(
            user_id,
            met={b if a == user_id else a: START for a, b in self.met if user_id in (a, b)},
            bars={b if a == user_id else a: START for a, b in self.met if user_id in (a, b)},
            blocks={b: START for a, b in self.blocks if a == user_id},
        )


@given(
    history=st.lists(
        st.tuples(
            st.sampled_from(("learn", "forget", "meet", "block", "unblock")),
            st.sampled_from(NAMES),
            st.sampled_from(NAMES),
        ),
        max_size=40,
    )
)
def test_coming_and_going_in_any_order_loses_no_fact_and_keeps_none_too_long(history) -> None:
    between, disk, here = _of(), _Disk(), set[str]()
    for what, one, other in history:
        if what == "learn" and one not in here:
            between.learn(disk.known(one))
            here.add(one)
        elif what == "forget":
            between.forget(one)
            here.discard(one)
        elif what == "meet" and one < other and {one, other} <= here:
            between.meet(one, other, START)
            between.bar(one, other, START)
            disk.met.add((one, other))
        elif what == "block" and one in here:
            between.block(one, other, START)
            disk.blocks.add((one, other))
        elif what == "unblock" and one in here:
            assert between.unblock(one, other) == ((one, other) in disk.blocks)
            disk.blocks.discard((one, other))
        between.settle()
        assert set(between.met.rows) == {pair for pair in disk.met if here & set(pair)}
        assert set(between.bars.rows) == set(between.met.rows)
        assert set(between.blocks.rows) == {row for row in disk.blocks if row[0] in here}
        for user_id in here:
            assert set(between.blocked_by(user_id)) == {b for a, b in disk.blocks if a == user_id}
            # Whoever has something with them is among those around them.
            pairs = {*between.met.rows, *between.bars.rows, *between.blocks.rows}
            others = {other for pair in pairs if user_id in pair for other in pair}
            assert between.around(user_id) >= others - {user_id}
            assert set(between.apart_from(user_id)) == (others & here) - {user_id}
    for user_id in NAMES:
        between.forget(user_id)
    assert _is_empty(between)
