"""Opening times of rooms, and who may enter."""

from __future__ import annotations

from datetime import datetime

import pytest

from yoked_actor.domain.rooms import Entry, Hours, Room, Span, is_room_id, weekly_of
from yoked_actor.domain.time import Instant, from_datetime


def at(text: str) -> Instant:
    return from_datetime(datetime.fromisoformat(text))


def weekly(*entries: str, zone: str = "UTC", **more: Instant) -> Hours:
    found = tuple(entry for text in entries if (entry := weekly_of(text)) is not None)
    assert len(found) == len(entries)
    return Hours(schedule=found, time_zone=zone, **more)


def test_a_room_without_times_is_always_open() -> None:
    assert Hours().span(at("2026-01-02T20:00:00Z")) == Span(None, None)
    assert Hours().is_open(0)


def test_a_room_is_open_from_its_first_instant_until_before_its_last() -> None:
    hours = Hours(at("2026-01-02T20:00:00Z"), at("2026-01-02T23:00:00Z"))
    assert not hours.is_open(at("2026-01-02T19:59:59Z"))
    assert hours.is_open(at("2026-01-02T20:00:00Z"))
    assert not hours.is_open(at("2026-01-02T23:00:00Z"))
    assert hours.span(at("2026-01-02T23:00:00Z")) is None


def test_a_schedule_is_local_and_follows_the_clocks() -> None:
    hours = weekly("fri 20:00-23:00", zone="Europe/Berlin")
    winter = hours.span(at("2026-01-02T12:00:00Z"))
    summer = hours.span(at("2026-07-03T12:00:00Z"))
    assert winter == Span(at("2026-01-02T19:00:00Z"), at("2026-01-02T22:00:00Z"))
    assert summer == Span(at("2026-07-03T18:00:00Z"), at("2026-07-03T21:00:00Z"))
    after_it = hours.span(at("2026-01-02T22:00:00Z"))
    assert after_it == Span(at("2026-01-09T19:00:00Z"), at("2026-01-09T22:00:00Z"))


def test_an_end_that_is_not_later_is_on_the_next_day() -> None:
    hours = weekly("fri-sat 22:00-02:00")
    assert hours.is_open(at("2026-01-03T01:59:00Z"))
    assert not hours.is_open(at("2026-01-03T02:00:00Z"))
    assert hours.is_open(at("2026-01-04T01:00:00Z"))
    assert not hours.is_open(at("2026-01-05T01:00:00Z"))


def test_entries_that_touch_are_one_opening() -> None:
    hours = weekly("fri 18:00-24:00", "sat 00:00-03:00")
    span = hours.span(at("2026-01-02T20:00:00Z"))
    assert span == Span(at("2026-01-02T18:00:00Z"), at("2026-01-03T03:00:00Z"))


def test_a_room_that_never_closes_by_its_schedule_has_no_end() -> None:
    span = weekly("daily 00:00-24:00").span(at("2026-01-02T20:00:00Z"))
    assert span is not None
    assert span.closes_at is None


def test_a_schedule_holds_inside_the_first_and_the_last_instant() -> None:
    first, last = at("2026-01-09T20:00:00Z"), at("2026-01-16T21:00:00Z")
    hours = weekly("fri 19:00-23:00", opens_at=first, closes_at=last)
    now = at("2026-01-02T20:00:00Z")
    assert hours.span(now) == Span(first, at("2026-01-09T23:00:00Z"))
    assert hours.span(at("2026-01-16T20:00:00Z")) == Span(at("2026-01-16T19:00:00Z"), last)
    assert hours.span(at("2026-01-17T00:00:00Z")) is None


@pytest.mark.parametrize(
    "text", ["", "fri", "fri 20:00", "fri 20-23", "friday 20:00-23:00", "fri 25:00-26:00"]
)
def test_an_entry_that_cannot_be_read_is_none(text: str) -> None:
    assert weekly_of(text) is None


@pytest.mark.parametrize("room", ["main", "a", "x" * 32, "fri-20_00"])
def test_ids_of_rooms(room: str) -> None:
    assert is_room_id(room)


@pytest.mark.parametrize("room", ["", "x" * 33, "Main", "a b", "\u00e4", "a/b", "a\n"])
def test_no_ids_of_rooms(room: str) -> None:
    assert not is_room_id(room)


def test_a_code_is_compared_as_a_whole_and_a_list_by_id() -> None:
    vault = Room(room="vault", name="Vault", entry=Entry.CODE, code="sesame")
    assert vault.accepts("sesame")
    assert not any(vault.accepts(code) for code in (None, "", "sesam", "sesame "))
    club = Room(room="club", name="Club", entry=Entry.LIST, guests=frozenset({"zoe"}))
    assert (club.invites("zoe"), club.invites("ana")) == (True, False)
    assert club.accepts(None)
