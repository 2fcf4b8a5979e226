"""The compiled build: the same behaviour, by the same tests; and an edited source runs instead.

Compiling takes a minute, once for each state of the sources. It is kept in `.cache/compiled`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from yoked_actor import compiled

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
LONGEST_BUILD_S = 1800.0
LONGEST_RUN_S = 1800.0

DOMAIN = (
    "tests/domain/test_lobby_states.py",
    "tests/domain/test_lobby.py",
    "tests/domain/test_matches.py",
    "tests/domain/test_dates.py",
    "tests/domain/test_restart.py",
    "tests/domain/test_deadlines.py",
    "tests/domain/test_nudges.py",
    "tests/domain/test_guarantee.py",
)
SCENARIOS = (
    "tests/scenarios/test_voting_outcomes.py",
    "tests/scenarios/test_crash_and_restart.py",
    "tests/scenarios/test_leaving_a_match.py",
    "tests/scenarios/test_disconnects.py",
    "tests/scenarios/test_clock_steps.py",
    "tests/scenarios/test_erasure.py",
)
CONFORMANCE = (
    "tests/store/test_conformance.py",
    "tests/edge/test_websocket_conformance.py",
)
ACTORS = (
    "tests/actors/test_matchmaker.py",
    "tests/actors/test_sessions.py",
    "tests/actors/test_mailbox.py",
    "tests/edge/test_hub.py",
    "tests/edge/test_conversation.py",
    "tests/edge/test_limits.py",
    "tests/edge/test_stalls.py",
    "tests/edge/test_garbage.py",
)


def environment(**given: str) -> dict[str, str]:
    return {key: text for key, text in os.environ.items() if key != compiled.VARIABLE} | given


def run(*command: str | Path, cwd: Path = ROOT, **given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(**given),
        timeout=LONGEST_RUN_S,
        check=False,
    )


@pytest.fixture(scope="module")
def build() -> Path:
    """The folder of the build of the present sources."""
    done = subprocess.run(
        [ROOT / "scripts" / "compile"],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=LONGEST_BUILD_S,
        check=False,
    )
    if "no C compiler" in done.stderr or "the headers of Python" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return compiled.cache() / compiled.digest()


def test_the_compiled_modules_pass_the_tests_of_their_sources(build: Path) -> None:
    # One process for all: each would import and collect for three seconds first.
    files = (*DOMAIN, *SCENARIOS, *CONFORMANCE, *ACTORS)
    done = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-x", *files)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout


def test_the_version_says_which_build_runs(build: Path) -> None:
    program = Path(sys.executable).with_name("yoked-actor")
    assert run(program, "--version").stdout.endswith("(compiled)\n")
    pure = run(program, "--version", YOKED_PURE_PYTHON="1").stdout
    assert pure.endswith("(pure Python: YOKED_PURE_PYTHON is set)\n")


FLOOR = "import yoked_actor.domain.lobby.floor.floor as floor; print(floor.__file__)"


@pytest.fixture
def copy(build: Path, tmp_path: Path) -> Path:
    """A copy of the sources and of their build, as a wheel has both."""
    shutil.copytree(
        ROOT / "yoked_actor",
        tmp_path / "yoked_actor",
        ignore=shutil.ignore_patterns("__pycache__", "_compiled"),
    )
    shutil.copytree(build, tmp_path / "yoked_actor" / "_compiled" / build.name)
    return tmp_path


def test_a_build_inside_the_package_is_used(copy: Path) -> None:
    found = run(sys.executable, "-c", FLOOR, cwd=copy)
    assert Path(found.stdout.strip()).is_relative_to(copy / "yoked_actor" / "_compiled")


def test_an_edited_source_runs_instead_of_the_build(copy: Path) -> None:
    # Not a compiled module: a compiled one may rely on its constants all the same.
    edited = copy / "yoked_actor" / "domain" / "rules.py"
    edited.write_text(edited.read_text() + "\n# edited\n")
    found = run(sys.executable, "-c", FLOOR, cwd=copy)
    assert found.stdout.strip() == str(copy / "yoked_actor/domain/lobby/floor/floor.py")
    shown = run(sys.executable, "-m", "yoked_actor", "--version", cwd=copy).stdout
    assert (
        "(pure Python: the compiled modules are of other sources, or for another Python)" in shown
    )


def test_a_build_serves_every_patch_release_of_its_python(copy: Path) -> None:
    # A wheel is installed on machines whose Python was built elsewhere, and later.
    another = "import sys; sys.version = '3.11.99 (main, Jan 1 2027, 00:00:00) [GCC 15.1.0]'\n"
    found = run(sys.executable, "-c", another + FLOOR, cwd=copy)
    assert Path(found.stdout.strip()).is_relative_to(copy / "yoked_actor" / "_compiled")


def test_a_traceback_names_the_lines_of_the_source(build: Path) -> None:
    code = (
        "from yoked_actor.domain.lobby import Lobby, events\n"
        "from yoked_actor.domain.rules import Rules\n"
        "Lobby(Rules()).handle(events.Spin('nobody'), 0)\n"
    )
    failed = run(sys.executable, "-c", code)
    assert "KeyError: 'nobody'" in failed.stderr
    assert 'yoked_actor/domain/lobby/machine/handlers.py", line ' in failed.stderr
