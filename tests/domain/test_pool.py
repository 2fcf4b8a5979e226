"""The pool finds what a plain scan of everybody would find (R10)."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tests.domain.crowds import START, crowd_ids, crowds, man, person, ticket, tickets, woman
from yoked_actor.domain.compatibility import attracted
from yoked_actor.domain.fairness import FairQueue, Ticket
from yoked_actor.domain.instants import after, seconds_between
from yoked_actor.domain.pool import Pool

STARVATION_S = 60.0


def _written_order(ticket: Ticket, now: int) -> tuple[bool, float, int, str]:
    """R10 word by word: the starved first, oldest first; then credit, then wait, then id."""
    waited_s = seconds_between(ticket.waiting_since, now)
    starved = waited_s >= STARVATION_S
    return (not starved, 0 if starved else -ticket.credit, ticket.waiting_since, ticket.user_id)


def _full_scan(
    all_tickets: list[Ticket], seeker: Ticket, now: int, acceptable: Callable[[Ticket], bool]
) -> Ticket | None:
    found = [
        other
        for other in all_tickets
        if attracted(seeker.person, other.person) and acceptable(other)
    ]
    return min(found, key=lambda other: _written_order(other, now), default=None)


def _pool(*all_tickets: Ticket) -> Pool:
    pool = Pool(FairQueue(STARVATION_S))
    for each in all_tickets:
        pool.put(each)
    return pool


def _anyone_but(seeker: Ticket) -> Callable[[Ticket], bool]:
    return lambda other: other.user_id != seeker.user_id


@given(
    crowd=crowds(),
    seeker=tickets("me"),
    refused=st.sets(st.sampled_from(crowd_ids(12))),
    later_s=st.sampled_from((0.0, 0.000001, 1.0, 30.0)),
    in_pool=st.booleans(),
)
def test_the_best_partner_is_the_best_of_a_full_scan(
    crowd: list[Ticket], seeker: Ticket, refused: set[str], later_s: float, in_pool: bool
) -> None:
    everybody = [*crowd, seeker] if in_pool else crowd
    pool, now = _pool(*everybody), after(START, later_s)

    def acceptable(other: Ticket) -> bool:
        return other.user_id != seeker.user_id and other.user_id not in refused

    assert pool.best_partner(seeker, now, acceptable) == _full_scan(
        everybody, seeker, now, acceptable
    )


@given(data=st.data(), seeker=tickets("me"))
def test_any_history_of_the_pool_leaves_what_a_dictionary_would_hold(
    data: st.DataObject, seeker: Ticket
) -> None:
    pool, model = _pool(), dict[str, Ticket]()
    for user_id in data.draw(st.lists(st.sampled_from(crowd_ids(6)), max_size=25)):
        if data.draw(st.integers(0, 2)):
            placed = data.draw(tickets(user_id))
            pool.put(placed)
            model[user_id] = placed
        else:
            pool.discard(user_id)
            model.pop(user_id, None)
        assert len(pool) == len(model)
        assert {each.user_id: each for each in pool.tickets()} == model
        assert (user_id in pool) == (user_id in model)
        assert pool.get(user_id) == model.get(user_id)
    held = list(model.values())
    anyone = _anyone_but(seeker)
    assert pool.best_partner(seeker, START, anyone) == _full_scan(held, seeker, START, anyone)
    for user_id in list(model):
        pool.discard(user_id)
    assert pool.best_partner(seeker, START, anyone) is None
    assert pool._groups == {}, "an empty group is kept for ever"


@given(crowd=crowds())
def test_several_at_once_are_tried_in_the_written_order(crowd: list[Ticket]) -> None:
    pool = _pool(*crowd)
    asked = [each.user_id for each in crowd] + ["not waiting"]
    assert pool.in_order(asked, START) == sorted(
        crowd, key=lambda each: _written_order(each, START)
    )


@given(crowd=crowds(), now_s=st.floats(0, 200))
def test_the_order_is_total(crowd: list[Ticket], now_s: float) -> None:
    policy, now = FairQueue(STARVATION_S), after(START, now_s)
    keys = [policy.key(each, now) for each in crowd]
    assert len(set(keys)) == len(crowd)


def test_credit_goes_before_a_longer_wait_until_the_starvation_edge() -> None:
    me = ticket(man("me"))
    rich, old = ticket(woman("rich"), 1.0, credit=50), ticket(woman("old"), 59.999999)
    pool = _pool(rich, old)
    assert pool.best_partner(me, START, _anyone_but(me)) == rich
    assert pool.best_partner(me, START + 1, _anyone_but(me)) == old


def test_of_two_starved_the_older_goes_first_whatever_their_credit() -> None:
    me = ticket(man("me"))
    rich, old = ticket(woman("rich"), 61.0, credit=50), ticket(woman("old"), 62.0)
    assert _pool(rich, old).best_partner(me, START, _anyone_but(me)) == old


def test_equal_waiters_go_by_user_id() -> None:
    me = ticket(man("me"))
    pool = _pool(*(ticket(woman(name), 5.0) for name in ("cleo", "ana", "bea")))
    best = pool.best_partner(me, START, _anyone_but(me))
    assert best is not None
    assert best.user_id == "ana"


def test_nobody_is_offered_who_does_not_seek_the_seeker() -> None:
    me = ticket(man("me"))
    pool = _pool(ticket(person("ana", "woman", "woman")), ticket(person("ben", "man", "man")))
    assert pool.best_partner(me, START, _anyone_but(me)) is None


def test_a_ticket_that_is_put_again_replaces_the_one_before() -> None:
    pool = _pool(ticket(woman("ana"), 5.0), ticket(person("ana", "woman", "woman"), 5.0))
    assert len(pool) == 1
    me = ticket(man("me"))
    assert pool.best_partner(me, START, _anyone_but(me)) is None
