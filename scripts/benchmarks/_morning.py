"""One zone's whole morning in a real server, while other users spin in the same process.

The run is asked for as an operator would, and the server does all of it: it freezes the pool,
enqueues a job for everybody, makes the run, stores every set and completes every job. Beside it, at
a steady rate, pairs of people in another part of the world spin, meet and part.
"""

from __future__ import annotations

import random
import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import msgspec
import trio

from scripts.benchmarks._pauses import Interval, Pauses, watching_pauses
from scripts.benchmarks._process import children_of, cpu_s_of, serving, stolen_s
from scripts.benchmarks._spinning import pace
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import wake_other_processes
from yoked_actor.actors.offers import Calendar
from yoked_actor.domain.lobby import Changes
from yoked_actor.domain.people import Person
from yoked_actor.domain.statistics import percentile
from yoked_actor.settings import load_settings
from yoked_actor.store import InlineRunner, enqueue_in, open_store
from yoked_actor.telemetry import Metrics

ZONE = "Europe/Berlin"
AT = "23:59"
"""Late, so that a run of today rarely overlaps with the measured one."""
CITIES = (
    *((52.52, 13.40), (53.55, 9.99), (48.14, 11.58), (50.94, 6.96)),
    *((50.11, 8.68), (48.78, 9.18), (51.23, 6.78), (51.05, 13.74)),
)
TAGS = tuple(f"tag{n}" for n in range(60))
SPINNERS = 200
RATE = 20.0
_PATIENCE_S = 600.0


class Morning(msgspec.Struct):
    """The figures of a morning."""

    people: int
    seconds: float
    phases_s: dict[str, float]
    sets: int
    offers: int
    peak_mib: float
    worker_peak_mib: float
    cpu_s: float
    worker_cpu_s: float
    bytes_per_user: float
    waits: list[Interval]
    stolen_s: float
    """CPU time that the host gave to others meanwhile."""
    pauses: Pauses | None
    """Times at which the whole machine stood still meanwhile; None if nobody could watch."""

    def text(self) -> str:
        """The figures as text."""
        phases = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.phases_s.items())
        lines = [
            f"a morning of {self.people:,} people: {self.seconds:.1f} s ({phases})",
            f"  {self.sets:,} sets with {self.offers:,} offers, {self.bytes_per_user:.0f} bytes"
            f" of database a user",
            f"  peak memory: server {self.peak_mib:.0f} MiB, its worker process"
            f" {self.worker_peak_mib:.0f} MiB",
            f"  CPU: server {self.cpu_s:.1f} s, its worker process {self.worker_cpu_s:.1f} s",
        ]
        if self.waits:
            lines.append(f"  {len(self.waits)} spins meanwhile: {_shown(self.waits)} until matched")
            lines.append(f"  the host took {1000 * self.stolen_s:.0f} ms of CPU time meanwhile")
        if self.waits and self.pauses is not None:
            running = [wait for wait in self.waits if not self.pauses.touch(wait)]
            lines.append(
                f"  the machine paused {len(self.pauses.intervals)} times,"
                f" {self.pauses.total_ms:.0f} ms in all, {self.pauses.longest_ms:.0f} ms at most"
            )
            lines.append(f"  {len(running)} spins without a pause: {_shown(running)}")
        return "\n".join(lines)


def _shown(waits: Sequence[Interval]) -> str:
    waits_ms = [1000 * (ended - began) for began, ended in waits]
    shares = (0.5, 0.95, 0.99) if waits_ms else ()
    shown = (f"p{100 * share:.0f} {percentile(waits_ms, share):.1f}" for share in shares)
    return f"{' '.join(shown)} ms"


def measure_morning(
    folder: Path, people: int, *, spinning: bool = True, worker: str = "auto"
) -> Morning:
    """Fill a database, start a server on it, and have it run a morning."""
    data = folder / "data"
    data.mkdir()
    trio.run(_fill, data / "yoked.db", people)
    day = (datetime.now(UTC) - timedelta(days=1)).date()
    size = _size(data)
    settings = {"YOKED_OFFERS__AT": AT, "YOKED_JOBS__WORKER_PROCESS": worker}
    with serving(data, settings, None) as server:
        began = time.monotonic()
        trio.run(_ask_for, data, day)
        watch = _Watch(data / "yoked.db", began, server.pid)
        cpu_s = server.cpu_s()
        stolen_before_s = stolen_s()
        waits: list[Interval] = []
        with watching_pauses() as pauses:
            if spinning:
                users = [f"{side}{n}" for n in range(SPINNERS // 2) for side in "wm"]
                waits, _ = pace(server, users, RATE, _PATIENCE_S, 1, watch.is_alive)
            watch.join()
        if watch.ended is None:
            raise SystemExit("the morning was not over in time; see server.log")
        sets, offers = _counted(data / "yoked.db")
        return Morning(
            people,
            watch.ended,
            watch.phases(),
            sets,
            offers,
            _peak_mib(server.pid),
            watch.worker_peak_mib,
            server.cpu_s() - cpu_s,
            watch.worker_cpu_s,
            (_size(data) - size) / people,
            waits,
            stolen_s() - stolen_before_s,
            pauses,
        )


async def _fill(database: Path, count: int) -> None:
    async with open_store(database, runner=InlineRunner()) as store:
        part: list[Person] = []
        for person in _people(count):
            part.append(person)
            if len(part) == 5_000:
                await store.commit(Changes(people=part))
                part = []
        await store.commit(Changes(people=part))


def _people(count: int) -> Iterator[Person]:
    lots = random.Random(1)
    for n in range(count):
        lat, lon = lots.choice(CITIES)
        gender, sought = ("woman", "man") if n % 2 else ("man", "woman")
        yield Person(
            user_id=f"user-{n:07d}",
            display_name=f"Person {n}",
            birth_date=date(lots.randint(1970, 2005), lots.randint(1, 12), lots.randint(1, 28)),
            gender=gender,
            lat=lat + lots.gauss(0, 0.15),
            lon=lon + lots.gauss(0, 0.2),
            time_zone=ZONE,
            interests=tuple(lots.sample(TAGS, lots.randint(2, 8))),
            seeking=frozenset({sought}),
            min_age=18,
            max_age=lots.randint(35, 70),
            max_distance_km=float(lots.choice((10, 25, 50, 100))),
        )
    for n in range(SPINNERS // 2):
        for side, gender, sought in (("w", "woman", "man"), ("m", "man", "woman")):
            yield Person(
                user_id=f"{side}{n}",
                display_name=f"{side}{n}",
                birth_date=date(1995, 6, 15),
                gender=gender,
                lat=-41.3,
                lon=174.8,
                time_zone="Pacific/Auckland",
                interests=(),
                seeking=frozenset({sought}),
                min_age=18,
                max_age=99,
                max_distance_km=50.0,
            )


async def _ask_for(data: Path, day: date) -> None:
    settings = load_settings(None, {}, {"offers": {"at": AT}})
    async with open_store(
        data / "yoked.db", runner=InlineRunner(), busy_timeout_s=10, shared=True
    ) as store:
        calendar = Calendar(
            store.calendar,
            Clock.real(),
            settings,
            enqueue_in,
            at=settings.offers.time_of_day(),
            metrics=Metrics().calendar,
        )
        await calendar.start_run(ZONE, day)
    wake_other_processes(data)


class _Watch(threading.Thread):
    """Records when the phases of the run end."""

    def __init__(self, database: Path, began: float, server: int) -> None:
        super().__init__(daemon=True)
        self._server = server
        self.worker_peak_mib = 0.0
        self.worker_cpu_s = 0.0
        self._database = database
        self._began = began
        self._reached: dict[str, float] = {}
        self.ended: float | None = None
        self.start()

    def run(self) -> None:
        """Poll until the run is done."""
        with closing(sqlite3.connect(self._database, timeout=10)) as connection:
            while time.monotonic() < self._began + _PATIENCE_S and self.ended is None:
                time.sleep(0.1)
                self._look(connection)
                self._look_at_worker()

    def _look_at_worker(self) -> None:
        for pid in children_of(self._server):
            try:
                self.worker_peak_mib = max(self.worker_peak_mib, _peak_mib(pid))
                self.worker_cpu_s = max(self.worker_cpu_s, cpu_s_of(pid))
            except OSError:
                pass  # it has just ended

    def _look(self, connection: sqlite3.Connection) -> None:
        now = time.monotonic() - self._began
        frozen, made = connection.execute(
            "SELECT count(*), count(outputs) FROM offer_runs WHERE zone = ?", (ZONE,)
        ).fetchone()
        if frozen:
            self._reached.setdefault("freeze", now)
        if made:
            self._reached.setdefault("enqueue and score", now)
            if not self._is_left(connection):
                self._reached["store and complete"] = now
                self.ended = now

    def _is_left(self, connection: sqlite3.Connection) -> bool:
        """Whether a job waits or runs. It reads few rows: to count them all takes a core."""
        jobs = "SELECT 1 FROM jobs WHERE type IN ('offers.zone_run', 'offers.user') AND status"
        row = connection.execute(
            f"SELECT EXISTS ({jobs} = 'in_progress') OR EXISTS ({jobs} IN ('pending', 'failed'))"
        ).fetchone()
        return bool(row[0])

    def phases(self) -> dict[str, float]:
        """The duration of each phase."""
        lengths, last = {}, 0.0
        for name, reached in self._reached.items():
            lengths[name] = reached - last
            last = reached
        return lengths


def _counted(database: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(database)) as connection:
        row = connection.execute(
            "SELECT (SELECT count(*) FROM offer_sets), (SELECT count(*) FROM offers)"
        ).fetchone()
        return row[0], row[1]


def _size(data: Path) -> int:
    with closing(sqlite3.connect(data / "yoked.db")) as connection:
        pages, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "page_size")
        )
        return int(pages * size)


def _peak_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024
