"""The one-file binary, in an environment without Python.

Building it takes about a minute. It is built once for each digest of its sources, and kept in
`.cache/binary`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from tests.process.server import PATIENCE_S, ServerProcess
from tests.process.visitors import meet
from yoked_actor.client import Api, open_client
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "binary"
KEPT = 3
LONGEST_BUILD_S = 1800.0


def digest() -> str:
    """The digest of everything that goes into the binary."""
    found = hashlib.sha256(sys.version.encode())
    files = [path for path in (ROOT / "yoked_actor").rglob("*") if "__pycache__" not in path.parts]
    made_by = ("scripts/build-binary", "scripts/compile", "scripts/lib/compile_modules.py")
    files += [ROOT / name for name in ("pyproject.toml", "constraints.txt", *made_by)]
    for path in sorted(path for path in files if path.is_file()):
        found.update(f"{path.relative_to(ROOT)}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


@pytest.fixture(scope="session")
def binary() -> Path:
    """The binary, built from the current sources."""
    folder = CACHE / digest()
    program = folder / "yoked-actor"
    if not program.exists():
        making = CACHE / f"making-{os.getpid()}"
        done = subprocess.run(
            [ROOT / "scripts" / "build-binary", "--no-wheel", "--output", making],
            capture_output=True,
            text=True,
            # A larger file, in less time.
            env=os.environ | {"PYINSTALLER_ZLIB_COMPRESSION_LEVEL": "1"},
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


class BinaryProcess(ServerProcess):
    """The binary, with an empty PATH, its own home, and another working directory."""

    def __init__(self, binary: Path, folder: Path, *flags: str) -> None:
        super().__init__(folder / "data", *flags)
        self._binary = binary
        self.given: dict[str, str] = {}
        self.wrapper: tuple[str, ...] = ()
        self.home = folder / "home"
        self.scratch = folder / "scratch"
        self.home.mkdir(mode=0o555)
        self.scratch.mkdir()

    def launch(self, *flags: str) -> subprocess.Popen[bytes]:
        with self._log_file.open("ab") as log:
            return subprocess.Popen(
                [
                    *self.wrapper,
                    self._binary,
                    "serve",
                    "--data",
                    self.data_dir,
                    *self._flags,
                    *flags,
                ],
                env=self.environment(),
                cwd="/",
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    def environment(self) -> dict[str, str]:
        emptied = {"PATH": "/nonexistent", "HOME": str(self.home), "TMPDIR": str(self.scratch)}
        return emptied | self.given

    def interrupt(self) -> int:
        """Ctrl-C: a terminal sends SIGINT to both processes of the binary."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGINT)
        return self.wait()

    def kill(self) -> None:
        """kill -9 to both: the bootloader does not pass SIGKILL on to the server."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self.wait()

    def run(self, *arguments: str, code: int = 0) -> str:
        """The output and errors of a command."""
        done = subprocess.run(
            [self._binary, *arguments],
            env=self.environment(),
            cwd="/",
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr


@contextmanager
def run_binary(binary: Path, folder: Path, *flags: str) -> Iterator[BinaryProcess]:
    server = BinaryProcess(binary, folder, *flags)
    server.start()
    try:
        yield server
    finally:
        if server.is_running():
            server.kill()


@pytest.fixture
def server(binary, tmp_path):
    with run_binary(binary, tmp_path) as server:
        yield server


async def test_two_people_meet_on_the_binary_without_python(server):
    with trio.fail_after(PATIENCE_S):
        await meet(server)
    assert await trio.to_thread.run_sync(server.stop) == 0
    assert '"stopped"' in server.log
    assert list(server.home.iterdir()) == []
    assert list(server.scratch.iterdir()) == [], "the unpacked files are removed"


async def test_people_keep_their_places_when_the_binary_is_restarted(server):
    token = await Api(server.url).login("ana", make_profile("Ana"))
    async with open_client(server.url, token) as ana:
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        assert await trio.to_thread.run_sync(server.stop) == 0
        await trio.to_thread.run_sync(server.start)
        with trio.fail_after(PATIENCE_S):
            welcome = await ana.wait_for("welcome")
        assert welcome.snapshot["waiting_since"] == since


async def test_the_pages_the_contract_and_the_metrics_are_inside(server):
    for path, text in (
        ("/", b"<!doctype html>"),
        ("/yoked.js", b"WebSocket"),
        ("/app/views/voting.js", b"Countdown"),
        ("/docs", b"<!doctype html>"),
        ("/openapi.json", b'"openapi"'),
        ("/asyncapi.json", b'"asyncapi"'),
        ("/metrics", b"yoked_loop_lag_seconds"),
    ):
        answer = await Api(server.url).request("GET", path)
        assert answer.status == 200, path
        assert text in answer.body, path


async def test_every_time_zone_is_inside(server):
    api = Api(server.url)
    await api.login("ana", make_profile("Ana") | {"time_zone": "Antarctica/Troll"})
    assert (await api.call("GET", "/api/profile"))["time_zone"] == "Antarctica/Troll"


def test_ctrl_c_reaches_both_of_its_processes_and_drains_once(server):
    assert server.interrupt() == 0
    assert server.log.count('"stopping"') == 1


def test_the_child_process_notifies_systemd_for_the_bootloader(binary, tmp_path):
    server = BinaryProcess(binary, tmp_path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(PATIENCE_S)
        server.given = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
        # As systemd does it: the variable has the PID of the process that was started.
        server.wrapper = ("/bin/sh", "-c", 'WATCHDOG_PID=$$ exec "$0" "$@"')
        server.start()
        try:
            assert manager.recv(4096).decode() == f"READY=1\nSTATUS=ready on {server.url}"
            assert [manager.recv(4096) for _ in range(3)] == [b"WATCHDOG=1"] * 3
            assert server.stop() == 0
            heard = [b"WATCHDOG=1"]
            while heard[-1] == b"WATCHDOG=1":
                heard.append(manager.recv(4096))
            assert heard[-1] == b"STOPPING=1\nSTATUS=draining"
        finally:
            if server.is_running():
                server.kill()


def test_it_knows_its_version_and_its_settings_and_has_what_sentry_needs(binary, tmp_path):
    server = BinaryProcess(binary, tmp_path)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert server.run("--version") in {
        f"yoked-actor, version {version} (compiled)\n",
        f"yoked-actor, version {version} (pure Python: this binary was built without a compiler)\n",
    }
    server.given = {"YOKED_PURE_PYTHON": "1"}
    assert "(pure Python: YOKED_PURE_PYTHON is set)" in server.run("--version")
    server.given = {}
    assert server.run("config") == (ROOT / "config" / "yoked.toml").read_text("utf-8")
    server.given = {"YOKED_LOG__SENTRY_DSN": "nonsense"}
    assert "is not the DSN of a Sentry project" in server.run("serve", code=1), "the SDK is inside"
    assert server.run("simulate", "--help").startswith("Usage: yoked-actor simulate")


async def test_offers_come_at_nine_on_the_day_that_the_clocks_go_forward(binary, tmp_path):
    """In Berlin 9:00 is 8:00 UTC on the 28th of March 2026, and 7:00 on the 29th, 23 hours on."""
    clock = ("--mock-clock", "--mock-clock-start", "2026-03-28T07:30:00Z")
    with run_binary(binary, tmp_path, *clock) as server:
        dev = Api(server.url)

        async def advance(minutes: float) -> None:
            with trio.fail_after(PATIENCE_S):
                await dev.call("POST", "/api/dev/clock/advance", {"seconds": 60 * minutes})

        ana = Api(server.url)
        await ana.login("ana", make_profile("Ana", gender="woman", seeking=["man"]))
        for number in range(12):
            him = make_profile(f"Ben {number}", gender="man", seeking=["woman"])
            await Api(server.url).login(f"ben{number}", him)
        assert await ana.call("GET", "/api/offers") == {"date": None, "offers": []}

        await advance(29.9)
        assert (await ana.call("GET", "/api/offers"))["date"] is None
        await advance(0.2)
        saturday = await ana.call("GET", "/api/offers")
        assert (saturday["date"], len(saturday["offers"])) == ("2026-03-28", 5)
        assert {one["expires_at"] for one in saturday["offers"]} == {"2026-03-29T07:00:00Z"}

        await advance(23 * 60 - 0.2)
        assert (await ana.call("GET", "/api/offers"))["date"] == "2026-03-28"
        await advance(0.2)
        sunday = await ana.call("GET", "/api/offers")
        assert (sunday["date"], len(sunday["offers"])) == ("2026-03-29", 5)
        assert {one["expires_at"] for one in sunday["offers"]} == {"2026-03-30T07:00:00Z"}
        met = {one["candidate"]["user_id"] for one in saturday["offers"]}
        assert met.isdisjoint(one["candidate"]["user_id"] for one in sunday["offers"])
        assert await trio.to_thread.run_sync(server.stop) == 0
