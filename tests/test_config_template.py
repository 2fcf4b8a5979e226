from __future__ import annotations

from pathlib import Path

import pytest

from yoked_actor.cli.run.settings_template import PAGE, TEMPLATE, render_template, with_tables

ROOT = Path(__file__).parents[1]
HINT = "out of date: run scripts/check --fix"


def test_the_commented_file_is_what_the_models_render() -> None:
    assert (ROOT / TEMPLATE).read_text("utf-8") == render_template(), HINT


def test_the_tables_of_the_page_are_what_the_models_render() -> None:
    page = (ROOT / PAGE).read_text("utf-8")
    assert page == with_tables(page), HINT


def test_a_page_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="markers"):
        with_tables("# Configuration\n")
