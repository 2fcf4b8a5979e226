"""What each fault of a run does."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import trio

from yoked_actor.domain.time import MICROSECONDS, Instant
from yoked_actor.simulation.faults.drawing import Appointment
from yoked_actor.simulation.history import History
from yoked_actor.simulation.judges.heard.accounts import Ledger
from yoked_actor.simulation.judges.stored.calendar import CalendarOracle
from yoked_actor.simulation.judges.verdict import Weather
from yoked_actor.simulation.stage import Stage
from yoked_actor.simulation.tally import Fault, Tally

_GRACE_S = 65.0


class Faults:
    """Lets the faults of a plan happen."""

    def __init__(
        self,
        stage: Stage,
        weather: Weather,
        history: History,
        tally: Tally,
        ledger: Ledger,
        calendar: CalendarOracle,
    ) -> None:
        self._stage = stage
        self._weather = weather
        self._history = history
        self._tally = tally
        self._ledger = ledger
        self._calendar = calendar
        self._nursery: trio.Nursery | None = None
        stage.was_refused = lambda: weather.disturb(60.0)
        stage.was_dropped = self._was_dropped
        stage.worker.was_stalled = self._was_stalled

    async def run(self, faults: list[Appointment], start_at: Instant) -> None:
        """Let them happen, each at its time."""
        happen: dict[str, Callable[[Random], None]] = {
            "crash": self._crash,
            "power": self._power,
            "socket": self._socket,
            "disk": self._disk,
            "statement": self._statement,
            "clock": self._clock,
            "suspend": self._suspend,
            "side_task": self._side_task,
            "reload": self._reload,
            "drain": self._drain,
            "worker": self._worker,
        }
        async with trio.open_nursery() as self._nursery:
            self._nursery.start_soon(self._watch_server)
            for fault in faults:
                await self._stage.wall.sleep_until(fault.at)
                if fault.at > start_at:
                    happen[fault.kind](Random(f"fault {fault.seed}"))

    def _note(self, kind: str, text: str) -> None:
        self._history.add("stage", f"{kind}: {text}")
        self._tally.faults.append(Fault(self._stage.wall.true(), kind, text))

    def _was_dropped(self, text: str) -> None:
        self._weather.disturb(_GRACE_S)
        self._note("drop", f"the process is dropped {text}")

    def _was_stalled(self, seconds: float) -> None:
        self._weather.disturb(seconds + 120.0)
        self._note("worker", f"the worker stands still for {seconds:g} s, with a job")

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        async def act() -> None:
            await trio.sleep(seconds)
            action()

        assert self._nursery is not None
        self._nursery.start_soon(act)

    async def _watch_server(self) -> None:
        """Note when the server goes and comes: it excuses delays, and matters for places."""
        while True:
            await self._stage.wait_up()
            self._weather.up_at = trio.current_time()
            self._weather.disturb(_GRACE_S)
            if self._stage.starts > 1:
                self._note("start", f"the server is up again, start {self._stage.starts}")
            await self._stage.wait_down()
            self._weather.down_at = trio.current_time()
            self._weather.begin("down")
            await self._stage.wait_up()
            self._weather.end("down", _GRACE_S)

    # The process

    def _crash(self, random: Random) -> None:
        away_s = random.choice((0.5, 2.0, 8.0, 30.0))
        self._weather.disturb(120.0)
        if random.random() < 0.3:
            self._stage.drop_next_start(random.randrange(1, 60))
            self._note("crash", "the next process will be dropped while it recovers")
        kind = random.random()
        if kind < 0.4:
            self._stage.drop_at_statement(random.randrange(40), away_s=away_s)
            self._note("crash", "the process will be dropped between two statements")
        elif kind < 0.6:
            self._stage.drop_after_claim(2 + random.randrange(8), away_s=away_s)
            self._note("crash", "the process will be dropped after it has claimed a job")
        else:
            self._stage.drop_at_step(random.randrange(300), away_s=away_s)
            self._note("crash", "the process will be dropped at an await")

    def _power(self, random: Random) -> None:
        self._weather.disturb(120.0)
        torn = random.random() < 0.7
        self._stage.drop_at_statement(random.randrange(30), torn=torn, away_s=5.0)
        self._note("power", "the power will fail in the middle of a write")

    def _drain(self, random: Random) -> None:
        self._weather.disturb(60.0)
        self._stage.stop(away_s=random.choice((0.5, 2.0, 10.0)))
        self._note("drain", "the server is asked to stop, and is started again")

    def _side_task(self, random: Random) -> None:
        names = self._stage.side_tasks.names
        if names:
            name = random.choice(names)
            self._weather.disturb(10.0)
            self._stage.side_tasks.fail(name)
            self._note("side_task", f"an error is raised inside {name}")

    def _worker(self, random: Random) -> None:
        if self._stage.worker.is_running:
            dropped = random.random() < 0.5
            self._stage.worker.stop(dropped=dropped)
            self._note("worker", f"the worker is {'killed' if dropped else 'stopped'}")
            self._weather.disturb(120.0)
        else:
            stall = (random.randrange(5), random.choice((70.0, 80.0)))
            self._stage.start_worker(stall if random.random() < 0.7 else None)
            self._note("worker", "a worker is started beside the server")
            self._later(random.uniform(3600, 86_400), self._end_worker)

    def _end_worker(self) -> None:
        if self._stage.worker.is_running:
            self._stage.worker.stop(dropped=True)
            self._note("worker", "the worker is killed")
            self._weather.disturb(120.0)

    def _reload(self, random: Random) -> None:
        values: dict[str, dict[str, object]] = {
            "jobs": {"alert_depth": random.choice((500, 1000, 2000))},
            "session": {"kept_events": random.choice((64, 128))},
            "matching": {"nudge_every_s": random.choice((300.0, 600.0))},
        }
        self._stage.reload(values)
        self._note("reload", "settings are reloaded")

    # The disk

    def _disk(self, random: Random) -> None:
        seconds = random.choice((3.0, 20.0, 90.0))
        self._weather.errors += 1
        if random.random() < 0.5:
            self._stage.disk.is_full = self._stage.worker.disk.is_full = True
            self._weather.begin("full disk")
            self._note("disk", f"the disk is full for {seconds:g} s")
            self._later(seconds, self._make_room)
            return
        slow_s = random.choice((0.02, 0.2, 1.5))
        self._stage.disk.slow_s = slow_s
        self._weather.begin("slow disk")
        self._note("disk", f"the disk takes {slow_s:g} s longer, for {seconds:g} s")
        self._later(seconds, self._speed_up)

    def _make_room(self) -> None:
        self._stage.disk.is_full = self._stage.worker.disk.is_full = False
        self._weather.end("full disk", 60.0)
        self._note("disk", "the disk has room again")

    def _speed_up(self) -> None:
        self._stage.disk.slow_s = 0.0
        self._weather.end("slow disk", 60.0)
        self._note("disk", "the disk is fast again")

    def _statement(self, random: Random) -> None:
        code = random.choice(("SQLITE_IOERR", "SQLITE_BUSY", "SQLITE_FULL", "SQLITE_INTERRUPT"))
        self._weather.errors += 1
        self._weather.disturb(30.0)
        self._stage.disk.fail_statement(random.randrange(60), code)
        self._note("statement", f"a statement will fail with {code}")

    # The network

    def _socket(self, random: Random) -> None:
        lines = self._stage.lines
        chosen = [line for line in lines if random.random() < random.choice((0.3, 1.0))]
        kind = random.choice(("cut", "stall", "delay"))
        self._note("socket", f"{kind} {len(chosen)} of {len(lines)} lines")
        self._weather.disturb(30.0)
        if kind == "cut":
            for line in chosen:
                line.cut(keep=random.random() < 0.5)
        elif kind == "stall":
            for line in chosen:
                line.stall(True)

            def resume() -> None:
                for line in chosen:
                    line.stall(False)

            self._later(random.uniform(1, 25), resume)
        else:
            for line in chosen:
                line.delay(random.uniform(0.05, 2.0))

            def hurry() -> None:
                for line in chosen:
                    line.delay(0.0)

            self._later(20.0, hurry)

    # Time

    def _clock(self, random: Random) -> None:
        error_s = random.choice((-1800.0, -300.0, -5.0, 5.0, 300.0, 1800.0))
        start = self._stage.wall.true()
        self._set_clock(error_s)
        self._note("clock", f"the machine's clock is set {error_s:+g} s")

        def correct() -> None:
            self._set_clock(0.0)
            self._calendar.stepped.append((start, self._stage.wall.true()))
            self._note("clock", "the machine's clock is corrected")

        self._calendar.stepped.append((start, start + 86_400 * MICROSECONDS))
        self._later(random.choice((20.0, 600.0, 7200.0)), correct)

    def _set_clock(self, error_s: float) -> None:
        self._weather.stepped()
        self._doubt_ends()
        self._stage.set_clock(error_s)

    def _doubt_ends(self) -> None:
        """Suspensions of people with an end may end at another time than the judges expect."""
        for account in self._ledger.accounts.values():
            if account.suspended_until is not None and account.suspended_s is not None:
                account.suspension_unsure = True

    def _suspend(self, random: Random) -> None:
        self._weather.stepped()
        self._doubt_ends()
        self._weather.disturb(120.0)
        self._stage.suspend(3600.0)
        self._note("suspend", "the machine was suspended for an hour")
