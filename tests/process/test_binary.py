"""The one-file binary, in an environment that offers it nothing.

Building it takes about a minute. It is built once for each state of what goes into it, and kept in
`.cache/binary`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from tests.process.house import PATIENCE_S, House
from tests.process.visitors import meet
from yoked_actor.client import Api, open_client
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "binary"
KEPT = 3
LONGEST_BUILD_S = 600.0


def digest() -> str:
    """Of everything that goes into the binary."""
    found = hashlib.sha256(sys.version.encode())
    files = [path for path in (ROOT / "yoked_actor").rglob("*") if "__pycache__" not in path.parts]
    files += [ROOT / name for name in ("pyproject.toml", "constraints.txt", "scripts/build-binary")]
    for path in sorted(path for path in files if path.is_file()):
        found.update(f"{path.relative_to(ROOT)}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


@pytest.fixture(scope="session")
def binary() -> Path:
    """The binary of these sources."""
    folder = CACHE / digest()
    program = folder / "yoked-actor"
    if not program.exists():
        making = CACHE / f"making-{os.getpid()}"
        done = subprocess.run(
            [ROOT / "scripts" / "build-binary", "--no-wheel", "--output", making],
            capture_output=True,
            text=True,
            timeout=LONGEST_BUILD_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        shutil.rmtree(folder, ignore_errors=True)
        making.rename(folder)
    os.utime(folder)
    for old in sorted(CACHE.iterdir(), key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old)
    return program


class EmptyHouse(House):
    """The binary, with no Python to be found, no home to write to, and somewhere else."""

    def __init__(self, binary: Path, folder: Path, *flags: str) -> None:
        super().__init__(folder / "data", *flags)
        self._binary = binary
        self.home = folder / "home"
        self.scratch = folder / "scratch"
        self.home.mkdir(mode=0o555)
        self.scratch.mkdir()

    def launch(self, *flags: str) -> subprocess.Popen[bytes]:
        with self._log_file.open("ab") as log:
            return subprocess.Popen(
                [self._binary, "serve", "--data", self.data_dir, *self._flags, *flags],
                env=self.environment(),
                cwd="/",
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    def environment(self) -> dict[str, str]:
        return {"PATH": "/nonexistent", "HOME": str(self.home), "TMPDIR": str(self.scratch)}

    def interrupt(self) -> int:
        """Ctrl-C: a terminal sends it to both processes that there are."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGINT)
        return self.wait()

    def run(self, *arguments: str) -> str:
        """What a command prints."""
        done = subprocess.run(
            [self._binary, *arguments],
            env=self.environment(),
            cwd="/",
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def open_empty_house(binary: Path, folder: Path, *flags: str) -> Iterator[EmptyHouse]:
    house = EmptyHouse(binary, folder, *flags)
    house.start()
    try:
        yield house
    finally:
        if house.is_running():
            house.kill()


@pytest.fixture
def house(binary, tmp_path):
    with open_empty_house(binary, tmp_path) as house:
        yield house


async def test_two_people_meet_on_a_binary_that_has_nothing_but_itself(house):
    with trio.fail_after(PATIENCE_S):
        await meet(house)
    assert await trio.to_thread.run_sync(house.stop) == 0
    assert '"stopped"' in house.log
    assert list(house.home.iterdir()) == []
    assert list(house.scratch.iterdir()) == [], "what it unpacked is gone with it"


async def test_people_keep_their_places_when_the_binary_is_restarted(house):
    token = await Api(house.url).login("ana", make_profile("Ana"))
    async with open_client(house.url, token) as ana:
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        assert await trio.to_thread.run_sync(house.stop) == 0
        await trio.to_thread.run_sync(house.start)
        with trio.fail_after(PATIENCE_S):
            welcome = await ana.wait_for("welcome")
        assert welcome.snapshot["waiting_since"] == since


async def test_the_pages_the_contract_and_the_metrics_are_inside(house):
    for path, text in (
        ("/", b"<!doctype html>"),
        ("/try.js", b"WebSocket"),
        ("/docs", b"<!doctype html>"),
        ("/openapi.json", b'"openapi"'),
        ("/asyncapi.json", b'"asyncapi"'),
        ("/metrics", b"yoked_loop_lag_seconds"),
    ):
        answer = await Api(house.url).request("GET", path)
        assert answer.status == 200, path
        assert text in answer.body, path


async def test_every_time_zone_is_inside(house):
    api = Api(house.url)
    await api.login("ana", make_profile("Ana") | {"time_zone": "Antarctica/Troll"})
    assert (await api.call("GET", "/api/profile"))["time_zone"] == "Antarctica/Troll"


def test_ctrl_c_reaches_both_of_its_processes_and_drains_once(house):
    assert house.interrupt() == 0
    assert house.log.count('"stopping"') == 1


def test_it_starts_within_seconds_and_knows_its_version_and_settings(binary, tmp_path):
    house = EmptyHouse(binary, tmp_path)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    began = time.monotonic()
    assert house.run("--version") == f"yoked-actor, version {version}\n"
    assert time.monotonic() - began < PATIENCE_S / 3
    assert house.run("config") == (ROOT / "config" / "yoked.toml").read_text("utf-8")
    assert house.run("simulate", "--help").startswith("Usage: yoked-actor simulate")
