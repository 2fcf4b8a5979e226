"""What a store owes about meetings and the answers after dates (R25, R26)."""

from __future__ import annotations

import pytest

from tests.store.conftest import Opener
from yoked_actor.domain.contacts import Meeting, Touch, TouchWindow
from yoked_actor.domain.lobby import (
    Changes,
    ConnectionSource,
    Match,
    MatchStatus,
    Outcome,
    VideoDate,
    pair_of,
)
from yoked_actor.domain.offers import Connection
from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.store import NoSuchDate, Store, TouchClosed, TouchGiven

SECOND = MICROSECONDS
NOW = 1_000_000 * SECOND
WINDOW = TouchWindow(after_s=10.0, for_s=100.0)


async def meet(
    store: Store, number: int, one: str, other: str, at: int, outcome: Outcome | None
) -> None:
    """Store a match that reached its vote, in two rounds, as the lobby does."""
    a, b = pair_of(one, other)
    match = Match(f"m{number}", a, b, MatchStatus.VOTING, at - 1, at + 10, True, True, at)
    await store.commit(Changes(matches=[match], met=[((a, b), at)]))
    status = MatchStatus.CANCELLED if outcome is None else MatchStatus.COMPLETED
    ended = Match(
        *(f"m{number}", a, b, status, at - 1, None, True, True, at),
        outcome=outcome,
        ended_at=at + 5,
    )
    await store.commit(Changes(matches=[ended]))


async def hold_date(store: Store, number: int, lasted_s: float, match_id: str | None) -> None:
    """Store a date of ana and bob that ended just now."""
    began = NOW - round(lasted_s * SECOND)
    date = VideoDate(f"d{number}", "ana", "bob", began, NOW + SECOND, match_id=match_id)
    await store.commit(Changes(dates=[date]))
    ended = VideoDate(f"d{number}", "ana", "bob", began, NOW + SECOND, NOW, "ended", match_id)
    await store.commit(Changes(dates=[ended]))


async def test_meetings_are_listed_for_both_newest_first(open_again: Opener) -> None:
    async with open_again() as store:
        await meet(store, 1, "ana", "bob", NOW - 50, Outcome.YES_PASS)
        await meet(store, 2, "cid", "ana", NOW - 40, None)
        await meet(store, 3, "ana", "dan", NOW - 30, Outcome.BOTH_YES)
        await store.commit(Changes(blocks=[(("dan", "ana"), NOW)]))
        await meet(store, 4, "bob", "dan", NOW - 20, Outcome.PASS_PASS)
        everything = await store.contacts.met("ana", 0, 10)
        assert everything == [
            Meeting("m2", "cid", NOW - 40, None),
            Meeting("m1", "bob", NOW - 50, Outcome.YES_PASS),
        ]
        assert await store.contacts.met("ana", NOW - 40, 10) == everything[:1]
        assert await store.contacts.met("ana", 0, 1) == everything[:1]
        assert [one.partner for one in await store.contacts.met("bob", 0, 10)] == ["dan", "ana"]
        assert await store.contacts.met("eve", 0, 10) == []


async def test_a_meeting_has_its_date_the_own_answer_and_the_connection(
    open_again: Opener,
) -> None:
    async with open_again() as store:
        await meet(store, 1, "ana", "bob", NOW - 60 * SECOND, Outcome.BOTH_YES)
        await hold_date(store, 2, 30, "m1")
        await hold_date(store, 3, 30, None)  # of a call: it is no part of the meeting
        await store.contacts.stay_in_touch("ana", "d2", Touch.YES, WINDOW, NOW)
    async with open_again() as store:
        if not await store.contacts.met("ana", 0, 10):
            return  # a store in memory
        [ana], [bob] = [await store.contacts.met(user, 0, 10) for user in ("ana", "bob")]
        assert (ana.date_id, ana.date_ended_at, ana.answer) == ("d2", NOW, Touch.YES)
        assert (bob.date_id, bob.answer, bob.connection_id) == ("d2", None, None)
        opened = await store.contacts.stay_in_touch("bob", "d2", Touch.YES, WINDOW, NOW + 1)
        assert opened.opened
        assert opened.connection == Connection("c1", "ana", NOW + 1, ConnectionSource.DATE)
        [bob] = await store.contacts.met("bob", 0, 10)
        assert (bob.answer, bob.connection_id) == (Touch.YES, "c1")


async def test_an_answer_is_stored_once_and_in_time(open_again: Opener) -> None:
    async with open_again() as store:
        answer = store.contacts.stay_in_touch
        await hold_date(store, 1, 9.999, None)
        await hold_date(store, 2, 10, None)
        open_date = VideoDate("d3", "ana", "bob", NOW - 60 * SECOND, NOW)
        await store.commit(Changes(dates=[open_date]))
        for date_id in ("d1", "d3"):
            with pytest.raises(TouchClosed):
                await answer("ana", date_id, Touch.YES, WINDOW, NOW)
        for user_id, date_id in (("cid", "d2"), ("ana", "d9"), ("ana", "d2 "), ("ana", "x")):
            with pytest.raises(NoSuchDate):
                await answer(user_id, date_id, Touch.YES, WINDOW, NOW)
        last = NOW + 100 * SECOND - 1
        assert (await answer("ana", "d2", Touch.NO, WINDOW, last)).connection is None
        with pytest.raises(TouchClosed):
            await answer("bob", "d2", Touch.YES, WINDOW, last + 1)
        with pytest.raises(TouchGiven):
            await answer("ana", "d2", Touch.YES, WINDOW, last)
        assert not (await answer("ana", "d2", Touch.NO, WINDOW, last + 1)).opened


@pytest.mark.parametrize("blocker", ["ana", "bob", None])
async def test_two_yeses_open_one_connection_unless_a_block_is_between(
    open_again: Opener, blocker: str | None
) -> None:
    async with open_again() as store:
        await hold_date(store, 2, 30, None)
        if blocker is not None:
            other = "bob" if blocker == "ana" else "ana"
            await store.commit(Changes(blocks=[((blocker, other), NOW)]))
        for user_id in ("ana", "bob"):
            touched = await store.contacts.stay_in_touch(user_id, "d2", Touch.YES, WINDOW, NOW)
        assert touched.opened is (blocker is None)
        assert len(await store.offers.connections("ana")) == int(blocker is None)
