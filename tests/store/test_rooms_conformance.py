"""What a store owes about declared rooms and their guests."""

from __future__ import annotations

import pytest

from tests.store.conftest import Opener
from yoked_actor.domain.lobby import Changes, Erasure
from yoked_actor.store import DeclaredRoom, TooManyRooms

JAZZ = DeclaredRoom("jazz", '{"name": "Jazz"}', ("ana", "bob"))
ROCK = DeclaredRoom("rock", '{"capacity": 20}')


async def test_declared_rooms_come_back_in_the_order_of_their_ids(open_again: Opener) -> None:
    async with open_again() as store:
        assert await store.rooms.all() == []
        await store.rooms.put(ROCK, "root", 1)
        await store.rooms.put(JAZZ, "root", 1)
        assert await store.rooms.all() == [JAZZ, ROCK]


async def test_a_later_definition_and_its_guests_replace_the_earlier_one(
    open_again: Opener,
) -> None:
    later = DeclaredRoom("jazz", "{}", ("cid",))
    async with open_again() as store:
        await store.rooms.put(JAZZ, "root", 1)
        await store.rooms.put(later, "root", 1)
        assert await store.rooms.all() == [later]


async def test_a_removed_room_is_gone_with_its_guests(open_again: Opener) -> None:
    async with open_again() as store:
        await store.rooms.put(JAZZ, "root", 1)
        assert await store.rooms.remove("jazz", "root", 1)
        assert not await store.rooms.remove("jazz", "root", 1)
        await store.rooms.put(DeclaredRoom("jazz", "{}"), "root", 1)
        assert await store.rooms.all() == [DeclaredRoom("jazz", "{}")]


async def test_an_erased_user_is_no_guest_any_more(open_again: Opener) -> None:
    async with open_again() as store:
        await store.rooms.put(JAZZ, "root", 1)
        assert (await store.privacy.export("ana", 1)).guest_in == ["jazz"]
        await store.commit(Changes(erased=[Erasure("ana", "~erased-1", 1)]))
        assert await store.rooms.all() == [DeclaredRoom("jazz", JAZZ.definition, ("bob",))]


async def test_each_change_of_a_room_has_a_number_and_is_in_the_audit(open_again: Opener) -> None:
    async with open_again() as store:
        first = await store.rooms.version()
        assert await store.rooms.put(JAZZ, "olga", 5)
        assert not await store.rooms.put(JAZZ, "olga", 6)
        assert await store.rooms.get("jazz") == JAZZ
        assert await store.rooms.remove("jazz", "olga", 7)
        assert not await store.rooms.remove("jazz", "olga", 8)
        assert await store.rooms.get("jazz") is None
        assert await store.rooms.version() == first + 3
        found = [(one.action, one.subject, one.at) for one in await store.audit.entries(10)]
        assert found == [
            ("remove_room", "jazz", 7),
            ("change_room", "jazz", 6),
            ("add_room", "jazz", 5),
        ]


async def test_a_room_too_many_is_not_declared_and_a_known_one_is_changed(
    open_again: Opener,
) -> None:
    async with open_again() as store:
        await store.rooms.put(JAZZ, "olga", 1, most=1)
        with pytest.raises(TooManyRooms):
            await store.rooms.put(ROCK, "olga", 2, most=1)
        await store.rooms.put(DeclaredRoom("jazz", "{}"), "olga", 3, most=1)
        assert await store.rooms.all() == [DeclaredRoom("jazz", "{}")]
        assert len(await store.audit.entries(10)) == 2
