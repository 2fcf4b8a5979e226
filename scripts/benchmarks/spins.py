"""Measures the spin loop of a real server over real sockets: CPU, latency, memory.

Run it with `scripts/bench spins`; `--help` explains the figures.
"""

from __future__ import annotations

import contextlib
import gc
import http.client
import json
import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import msgspec

from scripts.benchmarks._echo import cpu_us_per_echo
from scripts.benchmarks._latency import measure_latency
from scripts.benchmarks._lonely import PATIENCE, let_wait
from scripts.benchmarks._parts_picture import as_text
from scripts.benchmarks._process import Process, cores, serving, token
from scripts.benchmarks._spinning import PAIRS_USED, Window, cycle, sit
from scripts.benchmarks._spins_report import Report, print_report

_WARM_IDLERS = 100


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--clients", default=200, show_default=True, help="Sockets at full load.")
@click.option("--seconds", default=12.0, show_default=True, help="Length of each measurement.")
@click.option("--rate", default=40.0, show_default=True, help="Lifetimes/s for the latency.")
@click.option("--idle", default=2000, show_default=True, help="Idle users for the memory.")
@click.option("--arrivals", default=16, show_default=True, help="How many of them come at once.")
@click.option(
    "--mode",
    type=click.Choice(["spin", "requeue", "date"]),
    default="spin",
    show_default=True,
    help="What a lifetime at full load consists of; see above.",
)
@click.option(
    "--runner",
    type=click.Choice(["thread", "inline"]),
    default="thread",
    show_default=True,
    help="Where the server runs its SQL (store.runner).",
)
@click.option("--postgres", is_flag=True, help="Store on a PostgreSQL of its own (fsync on).")
@click.option("--level", default="info", show_default=True, help="The server's log level.")
@click.option(
    "--only",
    type=click.Choice(["echo", "load", "latency", "memory"]),
    multiple=True,
    help="Measure this part only; may be given more than once.",
)
@click.option("--profile", is_flag=True, help="Full load, sampled: where the CPU time goes.")
@click.option("--picture", type=Path, help="With --profile: write it to this SVG file, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option(
    "--waiting",
    default=0,
    help="Measure the load once more with so many others in line who cannot be paired.",
)
@click.option("--seed", default=1, show_default=True, help="For when people spin (latency).")
def main(
    clients: int,
    seconds: float,
    rate: float,
    idle: int,
    arrivals: int,
    mode: str,
    runner: str,
    postgres: bool,
    level: str,
    only: tuple[str, ...],
    profile: bool,
    picture: Path | None,
    as_json: bool,
    waiting: int,
    seed: int,
) -> None:
    """Measure the spin loop: CPU per pair lifetime, spin-to-matched latency, idle memory.

    A real server (`yoked-actor serve`, synchronous=FULL) runs in a process of its own on one core,
    with its data in a temporary folder of the working directory; the clients run in this process
    on another core. Rate limits are raised, everything else is as shipped.

    A LIFETIME is one match: both spin, both acknowledge, both vote, both get the outcome. It
    counts when both have got it. Three variants differ in how users return to the line:

    \b
      spin     both pass; the outcome puts both back into line, and each client also sends
               `spin`, which is answered with the place or match that it has: 6 commands
      requeue  as above without that `spin`: 4 commands
      date     both say yes; a video date opens, one side ends it, both are idle and spin
               again: 7 commands and six events more

    Two users who met never meet again, so after 30 % of the possible pairs new users connect.
    Server CPU is read from /proc before and after each such window, without connecting.

    LATENCY is measured at a steady rate by the clock, from the instant at which the later of two
    users was due to spin until each of them has received `matched`.

    MEMORY is the growth of the server's resident memory by idle, welcomed users with profiles.

    ECHO is the reference for this machine: the CPU of one 64-byte echo of a bare trio server.
    If the load average before the run is not near 0, do not trust any figure. In a virtual machine
    the host may take CPU time away (steal); the report says how much during the latency. Where
    real-time priorities are permitted it also says how often the machine paused for more than a
    millisecond, and the p99 of the waits that no pause fell into.
    """
    wanted = set(only or ("echo", "load", "latency", "memory"))
    if profile:
        wanted = {"load"}
    say = (lambda text: None) if as_json else _say
    pinning = cores()
    server_core, own_core = pinning or (None, None)
    if own_core is not None:
        os.sched_setaffinity(0, own_core)
    gc.disable()
    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir="."))
    data = folder / "data"
    settings = {"YOKED_STORE__RUNNER": runner, "YOKED_LOG__LEVEL": level}
    cleanup = contextlib.ExitStack()
    try:
        if postgres:
            settings["YOKED_STORE__URL"] = cleanup.enter_context(_own_postgres())
        report = Report(pinning is not None, runner, sync_ms(folder), os.getloadavg()[0])
        cores_text = "a core each" if report.pinned else "no core of their own"
        say(f"server and clients have {cores_text}; load average {report.load_average:.1f}")
        say(f"disk: write and sync of 4 KiB takes {report.sync_ms:.2f} ms (median)")
        if "echo" in wanted:
            report.echo_us = cpu_us_per_echo(folder / "echo.log", server_core, clients, 3.0)
            say(f"echo: {report.echo_us:.1f} us of CPU")
        # Memory and latency come first: they need users without a history.
        rounds = 2 if waiting else 1
        fresh = clients * (1 + rounds * _windows(clients, seconds))
        users = _users(max(idle + _WARM_IDLERS, fresh))
        if waiting:
            settings |= PATIENCE
        say(f"storing {len(users)} profiles over HTTP")
        with serving(data, settings, server_core) as server:
            store_profiles(server, users)
        if "memory" in wanted:
            with serving(data, settings, server_core) as server:
                warm, sitting = users[-_WARM_IDLERS:], users[:idle]
                report.kib_per_idle = sit(server, sitting, warm, arrivals)
                say(f"memory: {report.kib_per_idle:.1f} KiB for each of {idle} idle users")
        if "latency" in wanted:
            with serving(data, settings, server_core) as server:
                measure_latency(
                    report, server, users[:clients], rate, max(seconds, 20.0), seed, say
                )
        if "load" in wanted:
            profile_file = folder / "profile" if profile else None
            with serving(data, settings, server_core, profile_file) as server:
                half = (len(users) - clients) // rounds // clients * clients
                players = users[clients : clients + half]
                _measure_load(report, server, players, clients, seconds, mode, say)
                if waiting:
                    say(f"bringing {waiting} others into line")
                    let_wait(server, waiting)
                    crowded = Report(report.pinned, runner, report.sync_ms, report.load_average)
                    others = users[clients + half :]
                    _measure_load(crowded, server, others, clients, seconds, mode, say)
                    report.waiting = waiting
                    report.crowded_per_cpu_s = crowded.lifetimes_per_cpu_s
            stored = _check_stored(data, settings.get("YOKED_STORE__URL"), report.lifetimes, say)
            if profile_file is not None:
                print(as_text(profile_file, stored, picture))
    finally:
        cleanup.close()
        shutil.rmtree(folder)
    if as_json:
        print(json.dumps(msgspec.to_builtins(report)))
    else:
        print_report(report)


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def _windows(clients: int, seconds: float) -> int:
    """How many sets of new users are enough at 4,000 lifetimes/s."""
    return 2 + int(seconds * 4000 / (PAIRS_USED * (clients // 2) ** 2))


def _users(count: int) -> list[str]:
    """Women and men in turn."""
    return [f"{'wm'[number % 2]}{number:05d}" for number in range(count)]


def store_profiles(server: Process, users: Sequence[str]) -> None:
    """Give every user a profile, as a client would."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    for number, user_id in enumerate(users):
        woman = user_id.startswith("w")
        profile = {
            "display_name": f"User {number}",
            "birth_date": f"{1980 + number % 25}-04-{1 + number % 28:02d}",
            "gender": "woman" if woman else "man",
            "location": {"lat": 52.3 + number % 40 / 100, "lon": 13.2 + number % 37 / 100},
            "time_zone": "Europe/Berlin",
            "interests": ["climbing", "jazz"],
            "preferences": {
                "seeking": ["man" if woman else "woman"],
                "min_age": 18,
                "max_age": 60,
                "max_distance_km": 200,
            },
        }
        headers = {"Authorization": f"Bearer {token(user_id)}", "Content-Type": "application/json"}
        connection.request("PUT", "/api/profile", json.dumps(profile), headers)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"the profile of {user_id} was refused: {body.decode()}")
    connection.close()


def _measure_load(
    report: Report,
    server: Process,
    users: Sequence[str],
    clients: int,
    seconds: float,
    mode: str,
    say: Callable[[str], None],
) -> None:
    names = ("yoked_messages_total", "yoked_commit_seconds_count", "yoked_commit_seconds_sum")
    before = [server.metric(name) for name in names]
    total = Window()
    for window in cycle(server, users, clients, seconds, mode):
        total.add(window)
        say(
            f"load: {window.lifetimes} lifetimes in {window.seconds:.1f} s,"
            f" {window.lifetimes / window.cpu_s:.0f} per CPU second"
        )
    messages, commits, commit_s = (
        server.metric(name) - old for name, old in zip(names, before, strict=True)
    )
    report.mode = mode
    report.lifetimes = total.lifetimes
    report.lifetimes_per_cpu_s = total.lifetimes / total.cpu_s
    report.lifetimes_per_s = total.lifetimes / total.seconds
    report.cpu_us_per_lifetime = total.cpu_s / total.lifetimes * 1e6
    report.cpu_share = total.cpu_s / total.seconds
    if report.echo_us is not None:
        report.echoes_per_lifetime = report.cpu_us_per_lifetime / report.echo_us
    report.commands_per_lifetime = total.commands / total.lifetimes
    report.events_per_lifetime = total.events / total.lifetimes
    report.messages_per_commit = messages / commits
    report.commit_ms = commit_s / commits * 1000


@contextlib.contextmanager
def _own_postgres() -> Iterator[str]:
    """The URL of a database on a server that runs as long as the block."""
    from tests.postgres import running_postgres

    with running_postgres(fsync=True) as server, server.database() as url:
        yield url


def _check_stored(data: Path, url: str | None, lifetimes: int, say: Callable[[str], None]) -> int:
    """How many outcomes are in the database: at least one for each lifetime that was counted."""
    query = "SELECT count(*) FROM matches WHERE outcome IS NOT NULL"
    stored: int
    if url is None:
        with contextlib.closing(sqlite3.connect(data / "yoked.db")) as database:
            (stored,) = database.execute(query).fetchone()
    else:
        import psycopg

        with psycopg.connect(url) as connection:
            row = connection.execute(query).fetchone()
            stored = 0 if row is None else row[0]
    if stored < lifetimes:
        raise SystemExit(f"{lifetimes} outcomes were told, and only {stored} are stored")
    say(f"load: {stored} outcomes are stored, warm-up included")
    return stored


def sync_ms(folder: Path) -> float:
    """Median time of writing and syncing 4 KiB here."""
    path = folder / "sync"
    times = []
    with path.open("wb", buffering=0) as file:
        for _ in range(200):
            file.write(bytes(4096))
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - began)
    path.unlink()
    return statistics.median(times) * 1000


if __name__ == "__main__":
    main()
