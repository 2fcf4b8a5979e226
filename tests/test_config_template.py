from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from yoked_actor.cli.run.settings_template import PAGE, TEMPLATE, render_template, with_tables
from yoked_actor.settings import RoomSettings, load_settings

ROOT = Path(__file__).parents[1]
HINT = "out of date: run scripts/check --fix"


def test_the_commented_file_is_what_the_models_render() -> None:
    assert (ROOT / TEMPLATE).read_text("utf-8") == render_template(), HINT


def test_the_tables_of_the_page_are_what_the_models_render() -> None:
    page = (ROOT / PAGE).read_text("utf-8")
    assert page == with_tables(page), HINT


def test_the_example_of_a_room_can_be_used(tmp_path: Path) -> None:
    _, begin, rest = render_template().partition("#[rooms.friday]\n")
    assert begin
    lines = [line[1:] for line in rest.splitlines() if line.startswith("#  ")]
    file = tmp_path / "yoked.toml"
    file.write_text("[rooms.friday]\n" + "\n".join(lines), "utf-8")
    settings = load_settings(file, {}, {})
    assert len(lines) == len(RoomSettings.model_fields)
    assert settings.rooms["friday"].schedule == ("fri 20:00-23:00",)
    assert replace(settings.rules(), **settings.rooms["friday"].overrides()) == settings.rules()


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="markers"):
        with_tables("# Configuration\n")
