"""Runs a server in its own process, on a real port and a real disk."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

# Long, because the machine may be busy.
PATIENCE_S = 90.0
_READY = re.compile(rb"yoked-actor ready on (https?://\S+:(\d+))\n")


class ServerProcess:
    """`yoked-actor serve` on one data directory; the port stays the same when restarted."""

    def __init__(
        self,
        data_dir: Path,
        *flags: str,
        dev: bool = True,
        port: int | None = None,
        **settings: object,
    ) -> None:
        self.data_dir = data_dir
        self.port = free_port() if port is None else port
        self.url = ""
        self.starts = 0
        self._flags = ("--dev", *flags) if dev else flags
        self._settings = {f"YOKED_{name.upper()}": str(value) for name, value in settings.items()}
        self._process: subprocess.Popen[bytes] | None = None

    def set(self, **settings: object) -> None:
        """Change settings of the next process."""
        self._settings |= {f"YOKED_{name.upper()}": str(v) for name, v in settings.items()}

    def setting(self, name: str) -> str:
        """A setting of the process."""
        return self._settings[f"YOKED_{name.upper()}"]

    @property
    def log(self) -> str:
        """The standard error of all processes that were started."""
        return self._log_file.read_text()

    def log_lines(self) -> list[dict[str, Any]]:
        """The lines of its log that are JSON. A kill may have cut one off."""
        lines = self.log.splitlines()
        return [json.loads(one) for one in lines if one.startswith("{") and one.endswith("}")]

    @property
    def database(self) -> Path:
        return self.data_dir / "yoked.db"

    @property
    def _log_file(self) -> Path:
        return self.data_dir.with_suffix(".log")

    def start(self) -> None:
        """Start the process, and wait for the ready line."""
        self._process = self.launch("--port", str(self.port))
        self.starts += 1
        line = _read_line(self._process)
        found = _READY.fullmatch(line)
        if found is None:
            self.kill()
            raise AssertionError(f"not ready: {line!r}\n{self.log}")
        self.url, self.port = found[1].decode(), int(found[2])

    def launch(self, *flags: str) -> subprocess.Popen[bytes]:
        """Start a process on this directory, without waiting for the ready line."""
        self.data_dir.parent.mkdir(parents=True, exist_ok=True)
        with self._log_file.open("ab") as log:
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", "yoked_actor", "serve"),
                    *("--data", str(self.data_dir)),
                    *self._flags,
                    *flags,
                ],
                env=environment() | self._settings,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def kill(self) -> None:
        """kill -9."""
        assert self._process is not None
        self._process.kill()
        self._reap()

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for the process to exit; returns the exit code."""
        assert self._process is not None
        return self._reap()

    def stop(self) -> int:
        """Send SIGTERM and wait for the process to exit."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def read(self, sql: str) -> list[tuple[object, ...]]:
        """Rows of the database."""
        with closing(sqlite3.connect(self.database)) as connection:
            return connection.execute(sql).fetchall()

    def _reap(self) -> int:
        process = self._process
        assert process is not None
        try:
            code = process.wait(PATIENCE_S)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()
        self._process = None
        return code


@contextmanager
def running_server(
    data_dir: Path,
    *flags: str,
    dev: bool = True,
    port: int | None = None,
    **settings: object,
) -> Iterator[ServerProcess]:
    """Run a server for the duration of the block, unless the block stops it."""
    server = ServerProcess(data_dir, *flags, dev=dev, port=port, **settings)
    server.start()
    try:
        yield server
    finally:
        if server.is_running():
            server.kill()


def environment() -> dict[str, str]:
    """The environment of the tests, without YOKED_* settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("YOKED_")}


def run_cli(*arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
    """Run `yoked-actor` with arguments, and wait for it."""
    return subprocess.run(
        [sys.executable, "-m", "yoked_actor", *arguments],
        env=environment() | {f"YOKED_{name.upper()}": str(v) for name, v in settings.items()},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def free_port(not_before: int = 0) -> int:
    """A free port below the system's range of ephemeral ports.

    While the server is down, a client could get the server's port as its own ephemeral port. It
    would connect to itself, and the server could not bind the port again. Parallel test processes
    use different ranges, because a port is free between two starts of a server.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 20_000 + 3_000 * (worker % 4) + os.getpid() % 2_000
    for port in range(max(first, not_before), first + 1_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("there is no free port")


def _read_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    line, end = b"", time.monotonic() + PATIENCE_S
    while not line.endswith(b"\n"):
        left_s = end - time.monotonic()
        if not select.select([process.stdout], [], [], max(left_s, 0))[0]:
            break
        data = os.read(process.stdout.fileno(), 1)
        if not data:
            break
        line += data
    return line
