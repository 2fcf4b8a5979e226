"""09:00 in every zone: gaps, overlaps, skipped dates, unusual offsets."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.world_clock import FIRST_YEAR, LAST_YEAR, changes, date_shown, expected_run
from yoked_actor.domain.time import (
    LONGEST_LOOK_BACK,
    MICROSECONDS,
    Run,
    from_datetime,
    is_current,
    local_date,
    next_run,
    run_instant,
    sort_runs,
    to_datetime,
    tzdata_version,
    zone_named,
    zone_names,
)
from yoked_actor.domain.time.local_day import runs_from

NINE = time(9)
HOUR = 3600 * MICROSECONDS
NAMES = sorted(zone_names())
TIMES = [time(0), time(0, 30), time(2), time(2, 30), time(9), time(12, 34, 56), time(23, 30)]

names = st.sampled_from(NAMES)
days = st.dates(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31))
times = st.sampled_from(TIMES) | st.times().map(lambda at: at.replace(microsecond=0))


def zone(name: str) -> ZoneInfo:
    found = zone_named(name)
    assert found is not None
    return found


def utc(text: str) -> int:
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=UTC))


def days_around_changes(name: str) -> set[date]:
    return {
        datetime.fromtimestamp(second, UTC).date() + timedelta(days=shift)
        for second in changes(name)
        for shift in (-1, 0, 1)
    }


# The rulings, by example


@pytest.mark.parametrize(
    ("name", "day", "at", "comes"),
    [
        ("UTC", "2026-07-01", "09:00", "2026-07-01T09:00"),
        ("Europe/Berlin", "2026-01-15", "09:00", "2026-01-15T08:00"),
        ("Europe/Berlin", "2026-07-15", "09:00", "2026-07-15T07:00"),
        # Half and quarter hours.
        ("Asia/Kolkata", "2026-07-15", "09:00", "2026-07-15T03:30"),
        ("Asia/Kathmandu", "2026-07-15", "09:00", "2026-07-15T03:15"),
        ("Australia/Eucla", "2026-07-15", "09:00", "2026-07-15T00:15"),
        ("America/St_Johns", "2026-07-15", "09:00", "2026-07-15T11:30"),
        ("Pacific/Marquesas", "2026-07-15", "09:00", "2026-07-15T18:30"),
        ("Pacific/Chatham", "2026-01-15", "09:00", "2026-01-14T19:15"),
        # Either side of the date line: the same instant is nine on two dates, a day apart.
        ("Pacific/Kiritimati", "2026-07-15", "09:00", "2026-07-14T19:00"),
        ("Pacific/Honolulu", "2026-07-14", "09:00", "2026-07-14T19:00"),
        ("Etc/GMT+12", "2026-07-15", "09:00", "2026-07-15T21:00"),
        # A time in a gap comes when the offset from before says so; clocks then show 03:30.
        ("Europe/Berlin", "2026-03-29", "02:30", "2026-03-29T01:30"),
        ("America/New_York", "2026-03-08", "02:30", "2026-03-08T07:30"),
        # Lord Howe puts its clocks forward by half an hour, Troll by two.
        ("Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-03T15:45"),
        ("Australia/Lord_Howe", "2026-10-04", "02:30", "2026-10-03T15:30"),
        ("Antarctica/Troll", "2026-03-29", "02:30", "2026-03-29T02:30"),
        # Clocks that are put forward at midnight: the day begins at one.
        ("America/Sao_Paulo", "2018-11-04", "00:00", "2018-11-04T03:00"),
        ("Asia/Beirut", "2026-03-29", "00:00", "2026-03-28T22:00"),
        ("Africa/Cairo", "2026-04-24", "00:30", "2026-04-23T22:30"),
        # In Nuuk the last hour of a Saturday is left out; its late run comes on Sunday.
        ("America/Nuuk", "2026-03-28", "23:30", "2026-03-29T01:30"),
        # A time that comes twice is the first of the two.
        ("Europe/Berlin", "2026-10-25", "02:30", "2026-10-25T00:30"),
        ("America/Havana", "2026-11-01", "00:30", "2026-11-01T04:30"),
        ("Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-04T14:45"),
        # Summer time that is winter's: Dublin by name, Morocco around Ramadan.
        ("Europe/Dublin", "2026-01-15", "09:00", "2026-01-15T09:00"),
        ("Africa/El_Aaiun", "2026-02-14", "09:00", "2026-02-14T08:00"),
        ("Africa/El_Aaiun", "2026-02-16", "09:00", "2026-02-16T09:00"),
        ("Africa/Casablanca", "2026-03-23", "09:00", "2026-03-23T08:00"),
        # Offsets that changed for good.
        ("Asia/Pyongyang", "2015-08-14", "09:00", "2015-08-14T00:00"),
        ("Asia/Pyongyang", "2015-08-16", "09:00", "2015-08-16T00:30"),
        ("America/Caracas", "2007-12-08", "09:00", "2007-12-08T13:00"),
        ("America/Caracas", "2007-12-10", "09:00", "2007-12-10T13:30"),
        ("Asia/Kathmandu", "1985-12-31", "09:00", "1985-12-31T03:30"),
        ("Africa/Monrovia", "1971-06-01", "09:00", "1971-06-01T09:44:30"),
    ],
)
def test_a_local_time_comes_when_it_is_ruled_to_come(name, day, at, comes):
    instant = run_instant(zone(name), date.fromisoformat(day), time.fromisoformat(at))
    assert instant == utc(comes)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("Pacific/Apia", date(2011, 12, 30)),
        ("Pacific/Fakaofo", date(2011, 12, 30)),
        ("Pacific/Kwajalein", date(1993, 8, 21)),
        ("Pacific/Enderbury", date(1994, 12, 31)),
        ("Pacific/Kiritimati", date(1994, 12, 31)),
        ("Asia/Manila", date(1844, 12, 31)),
    ],
)
@pytest.mark.parametrize("at", [time.min, NINE, time.max])
def test_a_date_that_a_zone_has_left_out_has_no_run(name, day, at):
    before, after = day - timedelta(days=1), day + timedelta(days=1)
    runs = list(islice(runs_from(zone(name), before, at), 2))
    assert [found for found, _ in runs] == [before, after]
    assert run_instant(zone(name), day, at) is None
    # There the clock went on as ever, so the runs are a day apart all the same.
    assert runs[1][1] - runs[0][1] == 24 * HOUR
    assert next_run(zone(name), runs[0][1], at) == runs[1]


def test_a_date_that_comes_twice_has_one_run():
    # Kwajalein went back over the date line on 1 October 1969: 30 September was shown twice.
    kwajalein = zone("Pacific/Kwajalein")
    runs = list(islice(runs_from(kwajalein, date(1969, 9, 29), NINE), 3))
    assert [day.day for day, _ in runs] == [29, 30, 1]
    assert [later - sooner for (_, sooner), (_, later) in pairwise(runs)] == [
        24 * HOUR,
        47 * HOUR,
    ]


def test_a_day_of_changing_clocks_has_23_or_25_hours_between_two_runs():
    berlin = zone("Europe/Berlin")
    gaps = {}
    for day in (date(2026, 3, 28), date(2026, 6, 1), date(2026, 10, 24)):
        (_, first), (_, second) = islice(runs_from(berlin, day, NINE), 2)
        gaps[day.month] = (second - first) // HOUR
    assert gaps == {3: 23, 6: 24, 10: 25}


# Against what the clocks show


def test_on_all_days_around_all_changes_in_the_world_the_run_is_the_ruled_one():
    seen: dict[tuple[int, ...], str] = {}
    checked = 0
    for name in NAMES:
        # Many names are links: what changes at the same instants is looked at once for all times.
        same_as = seen.setdefault(tuple(changes(name)), name)
        for day in days_around_changes(name):
            for at in TIMES if same_as == name else (NINE,):
                assert run_instant(zone(name), day, at) == expected_run(name, day, at), (name, day)
                checked += 1
    assert checked > 100_000


@given(names, days, times)
def test_the_run_of_any_date_is_the_ruled_one(name, day, at):
    assert run_instant(zone(name), day, at) == expected_run(name, day, at)


@given(names, st.data(), times)
def test_runs_follow_each_other_in_order_and_leave_no_date_out(name, data, at):
    near_changes = sorted(days_around_changes(name))
    some = st.sampled_from(near_changes) | days if near_changes else days
    first = data.draw(some)
    runs = list(islice(runs_from(zone(name), first, at), 8))
    for (sooner, earlier), (later, instant) in pairwise(runs):
        assert earlier < instant
        between = [sooner + timedelta(days=n) for n in range(1, (later - sooner).days)]
        assert all(expected_run(name, day, at) is None for day in between)


@given(names, days, times, st.integers(-36 * HOUR, 36 * HOUR))
def test_the_next_run_is_the_first_that_is_later(name, day, at, shift):
    now = from_datetime(datetime.combine(day, time(12), UTC)) + shift
    found, instant = next_run(zone(name), now, at)
    assert instant > now
    assert run_instant(zone(name), found, at) == instant
    nearby = [found + timedelta(days=n) for n in range(-4, 5)]
    others = [expected_run(name, other, at) for other in nearby]
    assert min(run for run in others if run is not None and run > now) == instant
    assert next_run(zone(name), instant - 1, at) == (found, instant)
    assert next_run(zone(name), instant, at)[1] > instant


@given(names, days, st.integers(0, 24 * HOUR))
def test_the_local_date_is_the_date_that_clocks_show(name, day, shift):
    now = from_datetime(datetime.combine(day, time(0), UTC)) + shift
    assert local_date(zone(name), now) == date_shown(name, now)


# What is due


def berlin_run(day: int) -> Run:
    when = date(2026, 6, day)
    instant = run_instant(zone("Europe/Berlin"), when, NINE)
    assert instant is not None
    return Run("Europe/Berlin", when, instant)


def berlin_at(text: str) -> int:
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=zone("Europe/Berlin")))


def sorted_runs(first: int, now: str, taken: tuple[int, ...] = ()):
    dates = {date(2026, 6, day) for day in taken}
    berlin = zone("Europe/Berlin")
    return sort_runs("Europe/Berlin", berlin, NINE, date(2026, 6, first), berlin_at(now), dates)


def test_before_nine_nothing_is_due_and_today_is_next():
    found = sorted_runs(10, "2026-06-10T08:59:59.999999")
    assert (found.started, found.missed, found.planned) == ([], [], berlin_run(10))


def test_from_nine_until_midnight_the_run_of_today_is_due():
    for now in ("2026-06-10T09:00", "2026-06-10T23:59:59.999999"):
        found = sorted_runs(10, now)
        assert (found.started, found.missed) == ([berlin_run(10)], [])
        assert found.planned == berlin_run(11)


def test_after_midnight_it_is_missed():
    found = sorted_runs(10, "2026-06-11T00:00")
    assert (found.started, found.missed, found.planned) == ([], [berlin_run(10)], berlin_run(11))


def test_of_several_days_only_today_is_caught_up():
    found = sorted_runs(7, "2026-06-10T09:30")
    assert found.missed == [berlin_run(7), berlin_run(8), berlin_run(9)]
    assert found.started == [berlin_run(10)]


def test_a_date_that_is_taken_is_neither_started_nor_missed_nor_planned():
    found = sorted_runs(7, "2026-06-10T09:30", taken=(8, 10, 11))
    assert found.missed == [berlin_run(7), berlin_run(9)]
    assert (found.started, found.planned) == ([], berlin_run(12))


def test_a_clock_that_was_wrong_does_not_fill_the_database_with_missed_days():
    berlin = zone("Europe/Berlin")
    found = sort_runs(
        "Europe/Berlin", berlin, NINE, date(1970, 1, 1), berlin_at("2026-06-10T09:30")
    )
    assert len(found.missed) == LONGEST_LOOK_BACK.days
    assert len(found.missed) + found.unrecorded == (date(2026, 6, 10) - date(1970, 1, 1)).days


def test_a_late_run_that_a_gap_pushed_over_midnight_is_on_time():
    nuuk, late = zone("America/Nuuk"), time(23, 30)
    instant = run_instant(nuuk, date(2026, 3, 28), late)
    assert instant is not None
    assert local_date(nuuk, instant) == date(2026, 3, 29)
    run = Run("America/Nuuk", date(2026, 3, 28), instant)
    assert is_current(nuuk, run, local_date(nuuk, instant))
    assert sort_runs(run.zone, nuuk, late, run.day, instant).started == [run]
    assert sort_runs(run.zone, nuuk, late, run.day, instant + 24 * HOUR).missed[0] == run


def test_rules_that_changed_after_the_plan_do_not_make_the_planned_run_too_old():
    # As if Samoa's jump over the date line were learned of when the run was planned already.
    apia = zone("Pacific/Apia")
    run = Run("Pacific/Apia", date(2011, 12, 30), utc("2011-12-30T19:00"))
    assert local_date(apia, run.scheduled_at) == date(2011, 12, 31)
    assert is_current(apia, run, local_date(apia, run.scheduled_at))


# Where zones come from


def test_the_zones_are_those_of_the_package():
    assert {"Europe/Berlin", "Pacific/Apia", "UTC"} <= zone_names()
    assert len(zone_names()) > 590
    assert all(zone(name).key == name for name in NAMES)
    assert tzdata_version()


@pytest.mark.parametrize("name", ["", "localtime", "Mars/Olympus", "../zones", "/etc/localtime"])
def test_what_the_package_does_not_list_is_no_zone(name):
    assert zone_named(name) is None


def test_the_zones_of_the_system_are_never_read(tmp_path):
    # A system whose Berlin is Tokyo.
    source = files("tzdata").joinpath("zoneinfo", "Asia", "Tokyo").read_bytes()
    (tmp_path / "Europe").mkdir()
    (tmp_path / "Europe" / "Berlin").write_bytes(source)
    program = (
        "from datetime import date, time; from zoneinfo import ZoneInfo\n"
        "from yoked_actor.domain.time.local_day import run_instant\n"
        "from yoked_actor.domain.time.zones import zone_named\n"
        "for zone in (ZoneInfo('Europe/Berlin'), zone_named('Europe/Berlin')):\n"
        "    print(run_instant(zone, date(2026, 1, 15), time(9)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONTZPATH": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [
        str(utc("2026-01-15T00:00")),
        str(utc("2026-01-15T08:00")),
    ]


def test_to_datetime_and_back_is_exact():
    instant = run_instant(zone("Asia/Kathmandu"), date(2026, 7, 15), NINE)
    assert instant is not None
    shown = to_datetime(instant).astimezone(zone("Asia/Kathmandu"))
    assert (shown.date(), shown.time()) == (date(2026, 7, 15), NINE)
