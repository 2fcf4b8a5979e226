"""Job types of the deployer: a package that is installed beside the server registers them."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from tests.process.server import run_cli, running_server
from tests.process.test_care import wait_until

pytestmark = pytest.mark.process

EXAMPLE = Path(__file__).parents[2] / "examples" / "job-types"


def install(site: Path, *, broken: bool = False) -> None:
    """Put the example where Python finds it, with its entry points, as pip does."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    if broken:
        lines.append("missing = yoked_nowhere:register")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    shutil.copy(EXAMPLE / "yoked_reminders.py", site)


def test_a_job_of_an_installed_package_runs_and_a_broken_package_harms_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", broken=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    file = tmp_path / "reminders.txt"
    with running_server(tmp_path / "data") as server:
        payload = json.dumps({"file": str(file), "text": "hello"})
        for _ in range(2):
            added = run_cli(
                *("jobs", "enqueue", "reminders.write", payload, "--key", "one"),
                *("--data", str(server.data_dir)),
            )
            assert added.returncode == 0, added.stderr
        wait_until(
            "the line is written", lambda: file.exists() and file.read_text().endswith("hello\n")
        )
        bad = run_cli(*("jobs", "enqueue", "reminders.write", "{}", "--data", str(server.data_dir)))
        assert bad.returncode == 0
        wait_until(
            "the job is a dead letter",
            lambda: server.read("SELECT count(*) FROM jobs WHERE status = 'dead_letter'") == [(1,)],
        )
        assert "job_types_registered" in server.log
        assert "job_types_not_registered" in server.log
    assert file.read_text().count("hello") == 1


@pytest.mark.parametrize("payload", ["", "[]", "{", "1", "{'n': 1}"])
def test_a_payload_that_is_no_object_is_a_usage_error(tmp_path: Path, payload: str) -> None:
    done = run_cli("jobs", "enqueue", "a", payload, "--data", str(tmp_path))
    assert (done.returncode, "JSON must be an object" in done.stderr) == (2, True)
