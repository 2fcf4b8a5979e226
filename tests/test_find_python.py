"""scripts/lib/find_python.sh, which chooses the Python of .venv."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parent.parent / "scripts/lib/find_python.sh"

# A program that answers the questions of find_python.sh as a Python would.
_STAND_IN = """#!/bin/bash
case "$*" in
    *ensurepip*) exit {unsuitable} ;;
    *_base_executable*) echo "$0" ;;
    *) echo {cost} ;;
esac
"""


def install(path: Path, *, cost: int, suitable: bool = True) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(_STAND_IN.format(cost=cost, unsuitable=int(not suitable)))
    path.chmod(0o755)
    return path


def find_python(folder: Path, *, search: str, chosen: str = "") -> subprocess.CompletedProcess[str]:
    """Runs find_python with the folders of `search`, separated by blanks, on PATH."""
    kept = folder / "kept"
    program = f"""
        set -euo pipefail
        die() {{ echo "$*" >&2; exit 1; }}
        source {LIBRARY}
        find_python {kept}
    """
    path = ":".join(str(folder / name) for name in search.split())
    return subprocess.run(
        ["/bin/bash", "-c", program],
        env={"PATH": path, "PYTHON": chosen},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("first", "second", "wins"),
    [(100, 79, "second"), (100, 81, "first"), (100, 120, "first")],
    ids=["clearly faster", "a little faster", "slower"],
)
def test_the_first_python_gives_way_to_one_that_is_clearly_faster(
    tmp_path: Path, first: int, second: int, wins: str
) -> None:
    pythons = {
        "first": install(tmp_path / "a/python3", cost=first),
        "second": install(tmp_path / "b/python3", cost=second),
    }
    found = find_python(tmp_path, search="a b")
    assert (found.stdout.strip(), found.stderr) == (str(pythons[wins]), "")


def test_the_fastest_of_several_is_chosen(tmp_path: Path) -> None:
    install(tmp_path / "a/python3", cost=100)
    install(tmp_path / "a/python3.12", cost=60)
    fastest = install(tmp_path / "b/python3.11", cost=50)
    assert find_python(tmp_path, search="a b").stdout.strip() == str(fastest)


def test_a_python_that_cannot_make_an_environment_is_passed_over(tmp_path: Path) -> None:
    install(tmp_path / "a/python3", cost=1, suitable=False)
    suitable = install(tmp_path / "b/python3.11", cost=100)
    assert find_python(tmp_path, search="a b").stdout.strip() == str(suitable)


def test_a_choice_once_made_is_kept_while_it_works(tmp_path: Path) -> None:
    kept = install(tmp_path / "a/python3", cost=100)
    faster = install(tmp_path / "b/python3", cost=10)
    (tmp_path / "kept").write_text(f"{kept}\n")
    assert find_python(tmp_path, search="a b").stdout.strip() == str(kept)
    kept.unlink()
    assert find_python(tmp_path, search="a b").stdout.strip() == str(faster)


def test_the_variable_python_decides(tmp_path: Path) -> None:
    install(tmp_path / "a/python3", cost=10)
    wanted = install(tmp_path / "b/my-python", cost=100)
    assert find_python(tmp_path, search="a", chosen=str(wanted)).stdout.strip() == str(wanted)


def test_an_unsuitable_choice_is_refused_and_not_replaced(tmp_path: Path) -> None:
    install(tmp_path / "a/python3", cost=10)
    old = install(tmp_path / "b/my-python", cost=10, suitable=False)
    found = find_python(tmp_path, search="a", chosen=str(old))
    assert found.returncode == 1
    assert found.stdout == ""
    assert f"PYTHON={old} is not a Python 3.11 or newer" in found.stderr


def test_without_any_python_the_error_says_what_is_required(tmp_path: Path) -> None:
    found = find_python(tmp_path, search="nothing")
    assert found.returncode == 1
    assert found.stdout == ""
    assert "Python 3.11 or newer with the modules venv and ensurepip is required" in found.stderr
    assert "python3-venv" in found.stderr
