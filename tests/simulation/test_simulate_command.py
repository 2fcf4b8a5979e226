"""`yoked-actor simulate`: its options, its report, and how it makes a failing run small."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from yoked_actor.cli.simulate import simulate as command
from yoked_actor.simulation import shrink as shrinking
from yoked_actor.simulation.page import page_of
from yoked_actor.simulation.plan import Wish
from yoked_actor.simulation.run import simulate
from yoked_actor.simulation.shrink import shrink
from yoked_actor.simulation.text import text_of


def test_a_run_prints_its_digest_and_writes_a_page_and_a_history(tmp_path: Path) -> None:
    page, history = tmp_path / "report.html", tmp_path / "history.txt"
    options = ["--people", "4", "--days", "1", "--seed", "5"]
    found = CliRunner().invoke(
        command, [*options, "--json", "--report", str(page), "--history", str(history)]
    )
    assert found.exit_code == 0, found.output
    result = json.loads(found.stdout.splitlines()[-1])
    assert result["violations"] == []
    assert result["lines"] == len(history.read_text().splitlines())
    text = page.read_text()
    assert result["digest"] in text
    assert "<svg" in text
    assert "src=" not in text
    assert "href=" not in text


def test_the_evening_of_the_lobby_has_a_command_of_its_own() -> None:
    runner = CliRunner()
    found = runner.invoke(command, ["evening", "--people", "20", "--hours", "0.05"])
    assert found.exit_code == 0, found.output
    assert "20 people, policy fair_queue, seed 1" in found.output
    refused = runner.invoke(command, ["--people", "20", "--hours", "0.05"])
    assert refused.exit_code == 2
    assert "simulate evening" in refused.output


def test_unknown_faults_and_bad_numbers_are_usage_errors() -> None:
    for options in (["--faults", "rain"], ["--only-faults", "x"], ["--people", "1"]):
        assert CliRunner().invoke(command, options).exit_code == 2


def test_a_planted_fault_is_found_and_its_run_is_made_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def keep(credit: int, change: object, *, step: int, cap: int) -> int:
        return credit

    monkeypatch.setattr("yoked_actor.domain.lobby.machine.matches.credit_after", keep)
    monkeypatch.setattr(shrinking, "MOST_RUNS", 6)
    failed = simulate(Wish(seed=22, people=16, days=2, faults=("drain",)))
    assert failed.violations[0].kind == "credit"
    assert "to see it again: yoked-actor simulate --people 16 --days 2" in text_of(failed)
    assert "VIOLATION credit" in page_of(failed)
    said: list[str] = []
    small = shrink(failed, said.append)
    assert small.violations[0].kind == "credit"
    assert small.wish.days == 1
    assert small.wish.only_faults == ()
    assert len(small.wish.without) >= 4
    assert len(said) <= 6
