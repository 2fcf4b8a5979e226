"""`yoked-actor rooms`: what it declares, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from yoked_actor.cli.main import main
from yoked_actor.store import InlineRunner, open_store


@pytest.fixture(autouse=True)
def database(tmp_path: Path) -> None:
    async def make() -> None:
        async with open_store(tmp_path / "yoked.db", runner=InlineRunner()):
            pass

    trio.run(make)


def rooms(tmp_path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["rooms", *arguments, "--data", str(tmp_path)])


def listed(tmp_path: Path) -> list[dict[str, object]]:
    result = rooms(tmp_path, "list", "--json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, object]] = json.loads(result.stdout)
    return found


def test_a_room_is_added_changed_listed_and_removed(tmp_path: Path) -> None:
    added = rooms(
        tmp_path,
        *("add", "friday", "--set", "name=Friday evening", "--set", "capacity=100"),
        *("--set", 'schedule=["fri 20:00-23:00"]', "--set", "entry=code", "--set", "code=come-in"),
    )
    assert added.exit_code == 0, added.output
    assert listed(tmp_path) == [
        {
            "room": "friday",
            "source": "database",
            "name": "Friday evening",
            "capacity": 100,
            "schedule": ["fri 20:00-23:00"],
            "entry": "code",
            "code": "**********",
        }
    ]
    changed = rooms(tmp_path, "change", "friday", "--set", "capacity=", "--set", 'guests=["ana"]')
    assert changed.exit_code == 0, changed.output
    (found,) = listed(tmp_path)
    assert "capacity" not in found
    assert (found["guests"], found["entry"]) == (["ana"], "code")
    assert rooms(tmp_path, "remove", "friday").exit_code == 0
    assert listed(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("add", "Friday"), "is no id of a room"),
        (("add", "main"), "always exists"),
        (("add", "x", "--set", "capacty=1"), "capacty: is not a setting"),
        (("add", "x", "--set", "capacity=0"), "capacity: must be"),
        (("add", "x", "--set", "entry=code"), "code: must be set"),
        (("add", "x", "--set", 'schedule=["someday"]'), "schedule: has"),
        (("add", "x", "--set", "time_zone=Mars"), "time_zone: must be"),
        (("add", "x", "--set", "tier2_after_s=99.0"), "tier3_after_s: must be at least"),
        (("change", "x", "--set", "capacity=1"), "there is no room 'x'"),
        (("remove", "x"), "there is no room 'x'"),
    ],
)
def test_a_bad_room_is_refused_with_a_reason(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    result = rooms(tmp_path, *arguments)
    assert result.exit_code == 1, result.output
    assert said in result.output
    assert listed(tmp_path) == []
