"""A run: weeks of the whole server, with people, faults and judges, on a mock clock."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import msgspec
import trio

from yoked_actor.domain.time import to_datetime
from yoked_actor.simulation.faults.drawing import Appointment, draw_faults
from yoked_actor.simulation.faults.faults import Faults
from yoked_actor.simulation.history import History
from yoked_actor.simulation.judges.heard.accounts import Ledger
from yoked_actor.simulation.judges.heard.calls import CallWitness
from yoked_actor.simulation.judges.heard.contacts import ContactWitness
from yoked_actor.simulation.judges.heard.guarantee import Guarantee
from yoked_actor.simulation.judges.heard.replies import Replies
from yoked_actor.simulation.judges.heard.rings import RingWitness
from yoked_actor.simulation.judges.heard.rooms import RoomJudge
from yoked_actor.simulation.judges.heard.witness import Witness
from yoked_actor.simulation.judges.process.loop import LoopJudge
from yoked_actor.simulation.judges.process.memory import MemoryJudge
from yoked_actor.simulation.judges.stored.appeals import AppealJudge
from yoked_actor.simulation.judges.stored.books import Books
from yoked_actor.simulation.judges.stored.calendar import CalendarOracle
from yoked_actor.simulation.judges.stored.erasures import Erasures
from yoked_actor.simulation.judges.stored.work import WorkJudge
from yoked_actor.simulation.judges.verdict import Bench, Violation, Weather
from yoked_actor.simulation.people.api import Api
from yoked_actor.simulation.people.company import Company
from yoked_actor.simulation.people.operator import Operator
from yoked_actor.simulation.people.person import Person
from yoked_actor.simulation.plan import Plan, Wish, make_plan
from yoked_actor.simulation.rooms import posters
from yoked_actor.simulation.stage import Stage
from yoked_actor.simulation.tally import Tally
from yoked_actor.testing.determinism import run as run_by_seed
from yoked_actor.testing.determinism import secrets_by_seed

_DAY_S = 86_400.0
_LOOK_EVERY_S = 2 * 3600.0
_STOP_AFTER_S = 1.0


class Result(msgspec.Struct, kw_only=True):
    """How a run went."""

    wish: Wish
    digest: str
    lines: int
    violations: list[Violation]
    checks: dict[str, int]
    tally: Tally
    simulated_s: float
    took_s: float
    used_s: float
    """Processor time."""
    start: str
    policy: str

    @property
    def times_real(self) -> float:
        """How much faster than real time it was."""
        return self.simulated_s / max(self.took_s, 1e-9)

    @property
    def times_used(self) -> float:
        """The same by processor time: what a machine without other work does."""
        return self.simulated_s / max(self.used_s, 1e-9)


def simulate(
    wish: Wish,
    *,
    history: TextIO | None = None,
    on_progress: Callable[[float], None] | None = None,
    keep_going: bool = False,
) -> Result:
    """Play a run; it stops soon after the first violation unless it is to keep going."""
    plan = make_plan(wish)
    began, used = time.perf_counter(), time.process_time()
    with _directory() as directory, secrets_by_seed(wish.seed):

        async def main() -> Result:
            return await _Run(plan, directory, history, on_progress, keep_going).play()

        result = run_by_seed(main, seed=wish.seed)
    result.took_s, result.used_s = time.perf_counter() - began, time.process_time() - used
    return result


class _Run:
    def __init__(
        self,
        plan: Plan,
        directory: Path,
        file: TextIO | None,
        on_progress: Callable[[float], None] | None,
        keep_going: bool,
    ) -> None:
        self._plan = plan
        self._on_progress = on_progress
        self._keep_going = keep_going
        self._length_s = plan.wish.days * _DAY_S
        self._posters = posters(plan.zones)
        values: dict[str, dict[str, object]] = {
            "matching": {"policy": plan.policy},
            "matchmaker": {"audit": "log"},
            "rooms": {room: poster.settings() for room, poster in self._posters.items()},
        }
        self.stage = stage = Stage(directory, values, plan.start_at, plan.wish.seed)
        self.history = History(stage.wall.true, file)
        self.weather = Weather(stage.wall.machine)
        self.bench = Bench(self.history, stage.wall.true)
        self.tally = Tally()
        self.ledger = Ledger()
        self.books = Books(stage.database, self.ledger, self.bench)
        self.erasures = Erasures(stage, self.bench, self.weather)
        self.memory = MemoryJudge(stage, self.bench, self.tally, plan.wish.people)
        machine = stage.wall.machine
        self.rooms = RoomJudge(self.ledger, self.bench, self.weather, machine, self._posters)
        self.contacts = ContactWitness(self.ledger, self.bench)
        self.appeals = AppealJudge(self.ledger, self.bench, self.weather)
        self.calendar = CalendarOracle(
            stage, self.ledger, self.books, self.bench, self.weather, self.tally
        )
        self.faults = Faults(
            stage, self.weather, self.history, self.tally, self.ledger, self.calendar
        )
        stage.ended_by_itself = self._ended_by_itself

    def _appointments(self) -> list[Appointment]:
        plan, wish = self._plan, self._plan.wish
        drawn = draw_faults(wish.seed, wish.faults, plan.start_at, wish.days, plan.zones)
        if wish.only_faults is None:
            return drawn
        return [fault for fault in drawn if fault.number in wish.only_faults]

    async def play(self) -> Result:
        start_s = trio.current_time()
        trio.lowlevel.add_instrument(LoopJudge(self.stage, self.bench, self.tally))
        async with self.stage.run(), trio.open_nursery() as nursery:
            company = self._company(nursery)
            work = WorkJudge(
                self.stage,
                self.books,
                self.bench,
                self.weather,
                self.tally,
                Api(company, "inspector", admin=True),
            )
            for cast in self._plan.cast:
                nursery.start_soon(Person(company, cast).live)
            nursery.start_soon(Operator(company, self._plan.wish.seed).work)
            nursery.start_soon(self.faults.run, self._appointments(), self._plan.start_at)
            with trio.move_on_after(self._length_s):
                await self._watch(work)
            if self._keep_going or not self.bench.violations:
                await self._look(work)
            nursery.cancel_scope.cancel()
        return Result(
            wish=self._plan.wish,
            digest=self.history.digest,
            lines=self.history.lines,
            violations=self.bench.violations,
            checks=dict(sorted(self.bench.checks.items())),
            tally=self.tally,
            simulated_s=trio.current_time() - start_s,
            took_s=0.0,
            used_s=0.0,
            start=to_datetime(self._plan.start_at).isoformat(),
            policy=self._plan.policy,
        )

    def _company(self, nursery: trio.Nursery) -> Company:
        ledger, bench, weather = self.ledger, self.bench, self.weather
        rooms, contacts, rings = self.rooms, self.contacts, RingWitness(bench, weather)
        return Company(
            stage=self.stage,
            history=self.history,
            ledger=ledger,
            bench=bench,
            weather=weather,
            witness=Witness(ledger, bench, weather, rooms, contacts, rings),
            replies=Replies(ledger, bench, weather, rooms, contacts, rings),
            calls=CallWitness(ledger, bench, contacts, self.appeals),
            rooms=rooms,
            appeals=self.appeals,
            guarantee=Guarantee(ledger, bench, weather, rooms),
            erasures=self.erasures,
            tally=self.tally,
            nursery=nursery,
        )

    async def _watch(self, work: WorkJudge) -> None:
        """Look every few hours, until the end or until something is found."""
        start_s = trio.current_time()
        while True:
            with trio.move_on_after(_LOOK_EVERY_S):
                if not self._keep_going:
                    await self.bench.found.wait()
                    await trio.sleep(_STOP_AFTER_S)
                    return
                await trio.sleep_forever()
            await self._look(work)
            if self._on_progress is not None:
                self._on_progress((trio.current_time() - start_s) / self._length_s)

    async def _look(self, work: WorkJudge) -> None:
        if not self.stage.is_up:
            return
        self.books.check()
        self.rooms.check_books(self.books)
        self.contacts.check_books(self.books)
        self.appeals.check_books(self.books)
        work.check_jobs()
        self.memory.check()
        judged = len(self.tally.mornings)
        self.calendar.check()
        self.erasures.check_all()
        await work.check_health()
        for morning in self.tally.mornings[judged:]:
            await work.verify(morning.zone, morning.day)

    def _ended_by_itself(self, text: str) -> None:
        self.bench.report("server_ended", text)


@contextmanager
def _directory() -> Iterator[Path]:
    """A directory for the files; in memory if the system has one, because a sync is slow."""
    memory = Path("/dev/shm")
    path = Path(
        tempfile.mkdtemp(prefix="yoked-simulation-", dir=memory if memory.is_dir() else None)
    )
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
