"""What users who only wait cost the server: nothing sent, heartbeats, and WebSocket pings.

    scripts/bench heartbeats [--clients 500] [--beats 10]

All clients are in line for partners that do not exist. After their limits have widened for the last
time, the CPU of the server is read while nobody sends anything, then while every client sends
`heartbeat` so many times, then while every client sends as many pings. Prints the CPU of a quiet
second, the CPU of 1,000 signs of life, how many rounds of the matchmaker they caused, and the
memory of a client in line.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from scripts.benchmarks._load import Client, Crowd
from scripts.benchmarks._process import Process, cores, serving
from scripts.benchmarks.herd import ignore, sign_up, wait_for_line

_QUIET_S = 10.0
_EMPTY_PING = b"\x89\x80\x00\x00\x00\x00"
# No user is lost, however long the others take to come, and the last tier is reached soon.
_SETTINGS = {
    "YOKED_MATCHING__LIVENESS_S": "600",
    "YOKED_SESSION__FORGET_AFTER_S": "700",
    "YOKED_MATCHING__FORCED_AFTER_S": "20",
    "YOKED_EDGE__PING_INTERVAL_S": "3600",
    "YOKED_EDGE__PING_TIMEOUT_S": "3600",
}


def main() -> None:
    """Fill the line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--beats", type=int, default=10, help="signs of life of each client")
    arguments = parser.parse_args()
    mine = cores()
    user_ids = [f"waiter{number}" for number in range(arguments.clients)]
    with (
        tempfile.TemporaryDirectory(dir=".", prefix=".heartbeats-") as folder,
        serving(Path(folder) / "data", _SETTINGS, None if mine is None else mine[0]) as process,
    ):
        for user_id in user_ids:
            sign_up(process, user_id)
        empty_kib = process.rss_kib()
        crowd = Crowd(process.port)
        clients = crowd.connect(user_ids, ignore)
        for client in clients:
            client.command(b"spin")
        wait_for_line(crowd, process, len(user_ids))
        _let_pass(crowd, 25.0)
        each_kib = (process.rss_kib() - empty_kib) / len(clients)
        print(f"{len(clients)} in line, {each_kib:.1f} KiB each")
        began, cpu_s = time.monotonic(), process.cpu_s()
        _let_pass(crowd, _QUIET_S)
        share = (process.cpu_s() - cpu_s) / (time.monotonic() - began)
        print(f"nobody sends: {100 * share:.1f} % of a core")
        _measure("heartbeats", crowd, process, clients, arguments.beats, _beat)
        _measure("pings", crowd, process, clients, arguments.beats, _ping)
        crowd.leave()


def _measure(
    name: str,
    crowd: Crowd,
    process: Process,
    clients: list[Client],
    beats: int,
    send: Callable[[Client], None],
) -> None:
    rounds, cpu_s = process.metric("yoked_rounds_total"), process.cpu_s()
    for _ in range(beats):
        for client in clients:
            send(client)
        _let_pass(crowd, 0.5)
    _let_pass(crowd, 1.0)
    thousands = beats * len(clients) / 1000
    cpu_ms = 1000 * (process.cpu_s() - cpu_s) / thousands
    played = process.metric("yoked_rounds_total") - rounds
    print(f"{name}: {cpu_ms:.0f} ms of CPU and {played / thousands:.1f} rounds for each 1,000")


def _beat(client: Client) -> None:
    client.command(b"heartbeat")


def _ping(client: Client) -> None:
    client.sock.send(_EMPTY_PING)


def _let_pass(crowd: Crowd, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        crowd.step(0.1)


if __name__ == "__main__":
    main()
