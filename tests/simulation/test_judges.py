"""What the judges and the faults know by themselves: limits, times of rooms, what is synced."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from yoked_actor.domain.time import Instant, from_datetime
from yoked_actor.simulation.judges.heard.accounts import Account
from yoked_actor.simulation.judges.heard.limits import kilometres, outside, surely_inside, years_on
from yoked_actor.simulation.rooms import CLUB, EARLY, LATE, posters
from yoked_actor.simulation.stage.disk import CLAIM, Disk, installed

TODAY = [date(2026, 3, 1)]
PACKAGE = Path(__file__).parents[2] / "yoked_actor"


def somebody(name: str, born: str, lat: float = 52.5, **wishes: Any) -> Account:
    account = Account(name)
    preferences = {"min_age": 30, "max_age": 40, "max_distance_km": 50.0, "strict": []} | wishes
    location = {"lat": lat, "lon": 13.4}
    account.profile = {"birth_date": born, "location": location, "preferences": preferences}
    return account


@pytest.mark.parametrize(
    ("born", "day", "years"),
    [
        ("1990-03-01", date(2026, 2, 28), 35),
        ("1990-03-01", date(2026, 3, 1), 36),
        ("1992-02-29", date(2026, 2, 28), 33),
        ("1992-02-29", date(2026, 3, 1), 34),
        ("1992-02-29", date(2028, 2, 29), 36),
    ],
)
def test_an_age_is_the_number_of_birthdays(born: str, day: date, years: int) -> None:
    assert years_on(born, day) == years


def test_a_degree_of_latitude_is_111_km() -> None:
    a, b = somebody("a", "1990-01-01"), somebody("b", "1990-01-01", lat=53.5)
    assert a.profile is not None
    assert b.profile is not None
    assert kilometres(a.profile, b.profile) == pytest.approx(111.2, abs=0.1)


def test_only_strict_limits_keep_two_apart() -> None:
    young, far = somebody("young", "2005-01-01"), somebody("far", "1990-01-01", lat=54.0)
    free = somebody("free", "1990-01-01")
    assert outside(free, young, TODAY) is None
    assert surely_inside(free, far, TODAY)
    by_age = somebody("by_age", "1990-01-01", strict=["age"])
    assert "is 21" in (outside(by_age, young, TODAY) or "")
    assert not surely_inside(by_age, young, TODAY)
    assert outside(by_age, far, TODAY) is None
    by_distance = somebody("by_distance", "1990-01-01", strict=["distance"])
    assert "km from" in (outside(by_distance, far, TODAY) or "")
    assert outside(by_distance, young, TODAY) is None


def test_a_birthday_between_two_days_excuses_both() -> None:
    strict = somebody("strict", "1990-01-01", strict=["age"])
    birthday = somebody("birthday", "1996-03-01")
    days = [date(2026, 2, 28), date(2026, 3, 1)]
    assert outside(strict, birthday, days) is None
    assert not surely_inside(strict, birthday, days)


def at(text: str) -> Instant:
    return from_datetime(datetime.fromisoformat(text))


def test_rooms_close_by_the_clocks_of_their_zone() -> None:
    rooms = posters(("Europe/Berlin", "Asia/Kolkata"))
    early = rooms[EARLY]
    assert not early.is_open(at("2026-06-01T19:59:59+02:00"))
    assert early.open_for_s(at("2026-06-01T20:00:30+02:00")) == 30.0
    assert early.closes_in_s(at("2026-06-01T20:04:00+02:00")) == 60.0
    assert early.closed_for_s(at("2026-06-01T20:05:10+02:00")) == 10.0
    assert rooms[LATE].is_open(at("2026-06-01T20:02:00+05:30"))
    assert rooms[CLUB].is_open(at("2026-06-01T04:00:00+02:00"))


def test_a_claim_is_recognised_by_its_statement() -> None:
    found = [path.name for path in PACKAGE.rglob("*.sql") if CLAIM in path.read_text()]
    names = ["claim", "claim_types"]
    assert sorted(found) == sorted(
        f"{name}{end}.sql" for name in names for end in ("", ".postgres")
    )


@pytest.mark.parametrize(
    ("level", "is_synced"), [("FULL", True), ("NORMAL", False), ("OFF", False)]
)
def test_the_disk_knows_whether_commits_are_synced(
    tmp_path: Path, level: str, is_synced: bool
) -> None:
    disk = Disk()
    with installed(lambda: disk):
        connection = sqlite3.connect(tmp_path / "some.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {level}")
        connection.execute("CREATE TABLE t (a)")
        connection.close()
    assert disk.is_synced is is_synced


def test_the_disk_notices_a_claim_that_has_changed_rows(tmp_path: Path) -> None:
    disk, noticed = Disk(), list[str]()
    with installed(lambda: disk):
        connection = sqlite3.connect(tmp_path / "some.db", isolation_level=None)
        connection.execute("CREATE TABLE jobs (id, status)")
        claim = f"UPDATE jobs SET {CLAIM} id = id RETURNING id"
        disk.when_changed(CLAIM, lambda: noticed.append("claimed"))
        connection.execute(claim).fetchall()
        connection.execute("SELECT 1")
        assert not noticed, "there was nothing to claim"
        connection.execute("INSERT INTO jobs VALUES (1, 'pending')")
        connection.execute(claim).fetchall()
        connection.execute("SELECT 1")
        assert noticed == ["claimed"]
        connection.close()
