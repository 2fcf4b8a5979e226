"""Reconnects of all clients at once after a kill -9.

    scripts/bench herd [--clients 2000]

Half of the users were in line, and are known to the new server when it starts; the other half were
idle, and have to be loaded from the disk. Every client connects and says hello at the same time, as
fast as one thread can send, to a server that has just been started on the same data. Nobody may be
turned away. Prints how long it took.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import urllib.request
from pathlib import Path

from scripts.benchmarks._load import Client, Crowd, Received
from scripts.benchmarks._process import Process, cores, serving, token
from yoked_actor.testing.profiles import make_profile


def main() -> None:
    """Connect all clients, kill the server, restart it, and reconnect all clients."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=2000)
    count = parser.parse_args().clients
    mine = cores()
    core = None if mine is None else mine[0]
    user_ids = [f"herd{number}" for number in range(count)]
    settings = {"YOKED_MATCHING__RESUME_GRACE_S": "300", "YOKED_MATCHING__LIVENESS_S": "120"}
    with tempfile.TemporaryDirectory(dir=".", prefix=".herd-") as folder:
        data = Path(folder) / "data"
        with serving(data, settings, core) as first:
            for user_id in user_ids:
                sign_up(first, user_id)
            crowd = Crowd(first.port)
            for client in crowd.connect(user_ids, ignore)[::2]:
                client.command(b"spin")
            wait_for_line(crowd, first, len(user_ids[::2]))
            first.popen.kill()
            first.popen.wait()
            crowd.leave()
        with serving(data, settings, core) as second:
            _come_back(second, user_ids)


def _come_back(process: Process, user_ids: list[str]) -> None:
    began = time.monotonic()
    waits_s: list[float] = []

    def handle(client: Client, received: Received) -> None:
        if received.type == "welcome":
            waits_s.append(time.monotonic() - began)

    crowd = Crowd(process.port)
    # Crowd ends the program when one is closed or refused.
    crowd.connect(user_ids, handle, arrivals=len(user_ids) + 1)
    waits_s.sort()
    print(
        f"{len(waits_s)} of {len(user_ids)} welcomed; half of them after"
        f" {waits_s[len(waits_s) // 2]:.2f} s, the last after {waits_s[-1]:.2f} s;"
        f" {process.metric('yoked_waiting_users'):.0f} in line;"
        f" server: {process.cpu_s():.2f} s of CPU, {process.rss_kib() // 1024} MiB"
    )
    crowd.leave()


def sign_up(process: Process, user_id: str) -> None:
    """Store a profile that seeks a gender that nobody has, so that all users stay in line."""
    profile = make_profile(user_id, gender="woman", seeking=["nonbinary"])
    request = urllib.request.Request(
        f"http://127.0.0.1:{process.port}/api/profile",
        json.dumps(profile).encode(),
        {"Authorization": f"Bearer {token(user_id)}", "Content-Type": "application/json"},
        method="PUT",
    )
    with urllib.request.urlopen(request, timeout=30):
        pass


def ignore(client: Client, received: Received) -> None:
    """Handle nothing."""


def wait_for_line(crowd: Crowd, process: Process, length: int) -> None:
    """Wait until so many users are in line."""
    deadline = time.monotonic() + 60
    while process.metric("yoked_waiting_users") < length:
        if time.monotonic() > deadline:
            raise SystemExit("not everybody was in line within a minute")
        crowd.step(0.1)


if __name__ == "__main__":
    main()
