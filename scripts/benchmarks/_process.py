"""A server in a process of its own, and its CPU and memory as the kernel counts them.

The server is the real one, `yoked-actor serve`, on a free loopback port, with its data on the disk
of the working directory. It gets one core and the benchmark another, so that neither takes the
other's time; on one core they share it, and the report says so.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import jwt

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SECRET = secrets.token_urlsafe(48)
_READY = re.compile(r"ready on http://[^:]+:(\d+)")

# A crowd of two hundred speaks faster than two hundred people could.
UNLIMITED = {
    "YOKED_EDGE__COMMANDS_PER_S": "100000",
    "YOKED_EDGE__COMMANDS_BURST": "100000",
    "YOKED_EDGE__FRAMES_PER_S": "100000",
    "YOKED_EDGE__FRAMES_BURST": "100000",
}


def cores() -> tuple[set[int], set[int]] | None:
    """A core for the server and one for the benchmark; None if there are not two."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    allowed = sorted(os.sched_getaffinity(0))
    return ({allowed[0]}, {allowed[1]}) if len(allowed) > 1 else None


def cpu_s_of(pid: int) -> float:
    """CPU seconds of all threads of a process, in user code and in the kernel, so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def stolen_s() -> float:
    """CPU seconds of all cores that the host of a virtual machine gave to others, so far."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(fields[8]) / TICKS_PER_S


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and that run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has just ended
        if parent == pid:
            found.append(int(status.parent.name))
    return found


class Process:
    """A process that serves a port of the loopback."""

    def __init__(self, popen: subprocess.Popen[str], port: int) -> None:
        self.popen = popen
        self.pid = popen.pid
        self.port = port

    def cpu_s(self) -> float:
        """CPU seconds of all its threads, in user code and in the kernel, so far."""
        return cpu_s_of(self.pid)

    def rss_kib(self) -> int:
        """Resident memory."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
        assert found is not None
        return int(found[1])

    def metric(self, name: str) -> float:
        """The present value of one of the server's metrics, summed over its labels."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        pattern = rf"^{re.escape(name)}(?:{{[^}}]*}})? (\S+)$"
        return sum(map(float, re.findall(pattern, text, re.MULTILINE)))


@contextlib.contextmanager
def running(
    command: Sequence[str], environment: dict[str, str], log: Path, core: set[int] | None
) -> Iterator[Process]:
    """Start a process that prints its port when it is ready; stop it on exit."""
    with log.open("ab") as errors:
        popen = subprocess.Popen(
            command,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    try:
        if core is not None:
            os.sched_setaffinity(popen.pid, core)
        assert popen.stdout is not None
        found = _READY.search(popen.stdout.readline())
        if found is None:
            raise SystemExit(f"the server did not start:\n{log.read_text()[-2000:]}")
        yield Process(popen, int(found[1]))
    finally:
        popen.send_signal(signal.SIGTERM)
        try:
            popen.wait(20)
        except subprocess.TimeoutExpired:
            popen.kill()
            popen.wait()
        assert popen.stdout is not None
        popen.stdout.close()


@contextlib.contextmanager
def serving(
    data: Path, settings: dict[str, str], core: set[int] | None, profile: Path | None = None
) -> Iterator[Process]:
    """The server on a data directory; with `profile`, under the sampler, which writes there."""
    sampler = ["scripts.benchmarks._sampler", str(profile)]
    program = ["yoked_actor"] if profile is None else sampler
    command = [sys.executable, "-m", *program, "serve"]
    command += ["--port", "0", "--data", str(data)]
    environment = UNLIMITED | {"YOKED_AUTH__SECRET": SECRET, "PYTHONUNBUFFERED": "1"} | settings
    with running(command, environment, data.parent / "server.log", core) as process:
        yield process


def token(user_id: str) -> str:
    """A token of a user, valid longer than any benchmark takes."""
    return jwt.encode({"sub": user_id, "exp": int(time.time()) + 86_400}, SECRET, "HS256")
