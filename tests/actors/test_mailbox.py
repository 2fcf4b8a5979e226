"""The mailbox: bounded, in order, drained in batches."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from yoked_actor.actors.mailbox import Mailbox, MailboxFull


async def test_everything_is_taken_at_once_and_in_order():
    mailbox: Mailbox[int] = Mailbox(10)
    for item in range(5):
        mailbox.put_nowait(item)
    assert len(mailbox) == 5
    assert mailbox.take_all() == [0, 1, 2, 3, 4]
    assert len(mailbox) == 0
    assert mailbox.take_all() == []


async def test_put_nowait_raises_when_the_mailbox_is_full():
    mailbox: Mailbox[int] = Mailbox(2)
    mailbox.put_nowait(1)
    mailbox.put_nowait(2)
    with pytest.raises(MailboxFull):
        mailbox.put_nowait(3)
    assert mailbox.take_all() == [1, 2]


async def test_put_always_adds_an_item_beyond_the_capacity():
    mailbox: Mailbox[int] = Mailbox(1)
    mailbox.put_nowait(1)
    mailbox.put_always(2)
    assert mailbox.take_all() == [1, 2]


async def test_put_waits_for_room_and_never_exceeds_the_capacity():
    mailbox: Mailbox[int] = Mailbox(2)
    async with trio.open_nursery() as nursery:
        for item in range(5):
            nursery.start_soon(mailbox.put, item)
        await wait_all_tasks_blocked()
        taken: list[int] = []
        while len(taken) < 5:
            assert 0 < len(mailbox) <= 2
            taken += mailbox.take_all()
            await wait_all_tasks_blocked()
    assert sorted(taken) == [0, 1, 2, 3, 4]
    assert len(mailbox) == 0


async def test_wait_returns_when_an_item_is_put():
    mailbox: Mailbox[str] = Mailbox(2)
    taken = []

    async def owner():
        await mailbox.wait()
        taken.extend(mailbox.take_all())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(owner)
        await wait_all_tasks_blocked()
        assert taken == []
        mailbox.put_nowait("letter")
        mailbox.put_nowait("card")
    assert taken == ["letter", "card"]


async def test_wait_and_put_checkpoint_only_if_they_have_to_wait():
    mailbox: Mailbox[str] = Mailbox(2)
    ran = []

    async def bystander():
        ran.append(True)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(bystander)
        await mailbox.put("letter")
        await mailbox.wait()
        assert ran == []


async def test_a_cancelled_put_leaves_the_mailbox_unchanged(autojump_clock):
    mailbox: Mailbox[int] = Mailbox(1)
    mailbox.put_nowait(1)
    with trio.move_on_after(5) as scope:
        await mailbox.put(2)
    assert scope.cancelled_caught
    assert mailbox.take_all() == [1]
    with trio.move_on_after(5) as scope:
        await mailbox.wait()
    assert scope.cancelled_caught
    mailbox.put_nowait(3)
    assert mailbox.take_all() == [3]
