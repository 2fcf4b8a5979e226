"""Reloading the settings: all settings that can change do, or none."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from yoked_actor.app.process.reloading import Reloaded, reload
from yoked_actor.domain.ops import Alert
from yoked_actor.settings import Settings, load_settings, sections
from yoked_actor.testing import open_world


def write(file: Path, text: str) -> Settings:
    file.write_text(text)
    return load_settings(file, {}, {})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "yoked.toml"


def again(settings: Settings, file: Path, text: str) -> Reloaded | None:
    file.write_text(text)
    return reload(settings, lambda: load_settings(file, {}, {}))


def test_sections_name_settings_that_exist() -> None:
    for name, model in sections().items():
        assert set(model.model_fields) >= model.RELOADS, name


def test_reloadable_settings_change_in_place_and_the_rest_is_reported(file: Path) -> None:
    settings = write(file, "[jobs]\nalert_depth = 5\n[server]\nport = 1234\n")
    jobs, alerts = settings.jobs, settings.alerts
    with capture_logs() as logs:
        reloaded = again(
            settings,
            file,
            "[jobs]\nalert_depth = 7\n[server]\nport = 4321\nreconnect_after_s = 9.0\n"
            '[alerts]\nwebhook_url = "https://ops.test/"\nwebhook_secret = "sixteen bytes....."\n',
        )
    assert reloaded == Reloaded(
        [
            "server.reconnect_after_s",
            "jobs.alert_depth",
            "alerts.webhook_url",
            "alerts.webhook_secret",
        ],
        ["server.port"],
    )
    assert (jobs.alert_depth, alerts.webhook_url) == (7, "https://ops.test/")
    assert (settings.server.port, settings.server.reconnect_after_s) == (1234, 9.0)
    assert [(line["log_level"], line["event"]) for line in logs] == [
        ("info", "settings_reloaded"),
        ("warning", "settings_not_reloaded"),
    ]
    assert logs[1]["names"] == ["server.port"]
    assert "sixteen" not in str(logs)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[jobs]\nalert_depth = 0\n", "jobs.alert_depth = 0"),
        ("[jobs]\nalert_depth = 9\nalert_deep = 8\n", "did you mean alert_depth?"),
        ("[jobs\n", "is not valid TOML"),
        ("[jobs]\nalert_depth = 9\nkeep_keys_days = 3\n", "jobs.keep_keys_days"),
    ],
)
def test_an_invalid_file_changes_nothing(file: Path, text: str, problem: str) -> None:
    settings = write(file, "[jobs]\nalert_depth = 5\n")
    before = settings.model_dump()
    with capture_logs() as logs:
        assert again(settings, file, text) is None
    assert settings.model_dump() == before
    [line] = logs
    assert (line["event"], line["log_level"]) == ("settings_not_usable", "error")
    assert any(problem in told for told in line["problems"])


def test_a_missing_file_changes_nothing(file: Path) -> None:
    settings = write(file, "[jobs]\nalert_depth = 5\n")
    file.unlink()
    assert reload(settings, lambda: load_settings(file, {}, {})) is None
    assert settings.jobs.alert_depth == 5


def test_a_value_that_is_only_valid_after_a_restart_is_refused(file: Path) -> None:
    turn = '[date]\nturn_urls = ["turn:t.test:3478"]\nturn_secret = "s"\n'
    settings = write(file, f"{turn}turn_ttl_s = 600.0\n")
    with capture_logs() as logs:
        text = f"{turn}turn_ttl_s = 60.0\n[matching]\ndate_length_s = 60.0\n"
        assert again(settings, file, text) is None
    assert settings.date.turn_ttl_s == 600.0
    assert "date.turn_ttl_s" in logs[0]["problems"][0]


def test_other_settings_objects_and_defaults_do_not_change(file: Path) -> None:
    settings = write(file, "")
    other = load_settings(None, {}, {})
    assert again(settings, file, "[server]\nreconnect_after_s = 9.0\n") is not None
    assert other.server.reconnect_after_s == 2.0
    assert load_settings(None, {}, {}).server.reconnect_after_s == 2.0


def test_two_settings_share_no_section() -> None:
    first = load_settings(None, {}, {})
    second = Settings(server=first.server)
    first.server.renew({"reconnect_after_s": 9.0})
    assert (first.server.reconnect_after_s, second.server.reconnect_after_s) == (9.0, 2.0)


def test_a_setting_is_not_changed_by_accident() -> None:
    settings = load_settings(None, {}, {})
    with pytest.raises(ValueError, match="frozen"):
        settings.jobs.alert_depth = 3  # type: ignore[misc]
    with pytest.raises(AssertionError):
        settings.server.renew({"port": 1})


async def test_a_running_server_uses_the_new_settings(
    autojump_clock: MockClock, file: Path
) -> None:
    async with open_world() as world:
        server = world.server
        await world.join("ana")
        for _ in range(3):
            server.base.metrics.lobby.of_room("main").count_commit_failure()
        server.base.alarm.wake()
        await trio.sleep(20)
        assert list(server.base.alarm.standing) == []
        text = (
            "[alerts]\ncommit_failures = 2\n[edge]\nmax_connections = 1\ncommands_per_s = 7.0\n"
            "[server]\nreconnect_after_s = 4.0\n"
        )
        assert again(server.base.settings, file, text) is not None
        server.settings_changed()
        await trio.sleep(20)
        assert list(server.base.alarm.standing) == [Alert.COMMIT_FAILURES]
        refused = await world.dial()()
        assert (await refused.receive_some()).startswith(b"HTTP/1.1 503 ")
        again(server.base.settings, file, "[edge]\ncommands_per_s = 7.0\n")
        server.settings_changed()
        document = await world.api("ana").call("GET", "/asyncapi.json")
        assert '"commands_per_s":7.0' in msgspec.json.encode(document).decode()
        assert server.edge.front_door.limits.max_connections == 20_000
