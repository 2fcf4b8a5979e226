"""The settings in use, as operators read them over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.edge.test_http_admin import operator
from yoked_actor.app.process.reloading import take_over
from yoked_actor.settings import load_settings, sections
from yoked_actor.testing import World, open_world

SECRET = "a-secret-of-more-than-32-bytes-for-tests"


async def shown(world: World) -> dict[str, Any]:
    found = await operator(world).call("GET", "/api/admin/settings")
    return {one["name"]: one for one in found["settings"]}


async def test_every_setting_is_shown_and_no_secret(autojump_clock):
    given: dict[str, dict[str, object]] = {
        "auth": {"secret": SECRET},
        "edge": {"commands_per_s": 77.0},
    }
    async with open_world(settings=given) as world:
        found = await shown(world)
        text = str(await operator(world).call("GET", "/api/admin/settings"))
    expected = {f"{name}.{key}" for name, model in sections().items() for key in model.model_fields}
    assert set(found) == expected
    assert SECRET not in text
    assert found["auth.secret"]["value"] == "(hidden)"
    assert found["alerts.webhook_secret"]["value"] is None
    assert (found["edge.commands_per_s"]["value"], found["edge.commands_per_s"]["default"]) == (
        77.0,
        20.0,
    )
    assert all(one["description"] for one in found.values())


def test_each_setting_knows_where_it_comes_from(tmp_path: Path) -> None:
    file = tmp_path / "yoked.toml"
    file.write_text(
        "[server]\nport = 1\n[edge]\ncommands_per_s = 9\n[jobs.retry.default]\nattempts = 3\n"
    )
    environ = {"YOKED_EDGE__COMMANDS_PER_S": "11", "YOKED_CONSOLE__MAX_WATCHERS": "3"}
    settings = load_settings(file, environ, {"server": {"port": 2, "host": None}})
    assert settings.source_of("server", "port") == "--port"
    assert settings.source_of("server", "host") == "default"
    assert settings.source_of("edge", "commands_per_s") == "YOKED_EDGE__COMMANDS_PER_S"
    assert settings.source_of("console", "max_watchers") == "YOKED_CONSOLE__MAX_WATCHERS"
    assert settings.source_of("jobs", "retry") == str(file)
    newer = load_settings(file, {}, {})
    take_over(settings, newer)
    # What a reload changes has its new source; the port needs a restart, and keeps the old one.
    assert settings.source_of("console", "max_watchers") == "default"
    assert settings.source_of("edge", "commands_per_s") == str(file)
    assert settings.source_of("server", "port") == "--port"
