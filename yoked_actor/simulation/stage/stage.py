"""The stage: the real server, its file, its clock, and the lines that people reach it by.

The stage is also the service manager: it starts the server, and starts it again when it ends.
A dropped process leaves only what its disk has: its connections refuse every later statement, its
lines are cut, and then its tasks are cancelled, so nothing that they still do is seen by anybody.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from random import Random

import trio
from trio.testing import MockClock

from yoked_actor.actors.clock import Clock
from yoked_actor.app.process.reloading import reload
from yoked_actor.app.server import Server, open_server
from yoked_actor.domain.time import MICROSECONDS, Instant, MachineTime
from yoked_actor.edge.auth import Tokens
from yoked_actor.settings import Settings, load_settings
from yoked_actor.simulation.stage.beside import Stall, WorkerBeside, is_in_worker
from yoked_actor.simulation.stage.clocks import Wall
from yoked_actor.simulation.stage.disk import CLAIM, Disk, Files, Image, installed
from yoked_actor.simulation.stage.errors import describe, leaves
from yoked_actor.simulation.stage.pipes import Line
from yoked_actor.simulation.stage.side_tasks import SideTasks
from yoked_actor.store import StoreUnavailable

SECRET = "a secret that everybody in the simulation knows"
Values = Mapping[str, Mapping[str, object]]
_AGAIN_S = 2.0
_LEEWAY_S = 7200.0


class _MachineClock(Clock):
    """The clock of one process. Its machine time never steps, and starts anew with the machine."""

    boot = "boot 1"

    def machine_time(self) -> MachineTime:
        """The time that all processes of the simulated machine share."""
        return MachineTime(self.boot, round(trio.current_time() * MICROSECONDS), self.now())


class Stage:
    """The server under simulation. Made by `open_stage`."""

    def __init__(self, directory: Path, values: Values, start_at: Instant, seed: int) -> None:
        self.database = directory / "yoked.db"
        self.wall = Wall(start_at)
        self.disk = Disk()
        self.worker = WorkerBeside(self.database)
        self.files = Files(self.database)
        self.side_tasks = SideTasks()
        self.tokens = Tokens("HS256", SECRET, leeway_s=_LEEWAY_S)
        self.values = {section: dict(keys) for section, keys in values.items()}
        self.settings = self._load()
        self.starts = 0
        self.ended_by_itself: Callable[[str], None] = _ignore
        """Is called when the server has ended though nothing was done to it."""
        self.was_dropped: Callable[[str], None] = _ignore
        self.was_refused: Callable[[], None] = lambda: None
        """Is called when the disk has refused a statement."""
        self._random = Random(f"stage {seed}")
        self._server: Server | None = None
        self._clocks: dict[str, Clock] = {}
        self._serving = trio.CancelScope()
        self._lines: dict[Line, None] = {}
        self._started = trio.Event()
        self._gone = trio.Event()
        self._image: Image | None = None
        self._is_dropped = False
        self._is_stopping = False
        self._away_s = 0.0
        self._boots = 1
        self._dialled = 0
        self._nursery: trio.Nursery | None = None
        self._drop_at_start: Callable[[], None] | None = None

    @property
    def server(self) -> Server | None:
        """The server, while it serves."""
        return self._server

    @property
    def is_up(self) -> bool:
        """Whether the server serves."""
        return self._server is not None

    def token(self, user_id: str, *, admin: bool = False) -> str:
        """A token for a day."""
        return self.tokens.sign(user_id, self.wall.true(), 86_400.0, admin=admin)

    # Lines

    async def dial(self) -> Line:
        """A new line to the server, or `ConnectionRefusedError` while it is down."""
        await trio.lowlevel.checkpoint()
        if self._server is None or self._nursery is None or self._is_dropped:
            raise ConnectionRefusedError("the server does not run")
        self._dialled += 1
        line = Line()
        self._lines[line] = None
        peer = ("127.0.0.1", 10_000 + self._dialled % 50_000)
        self._nursery.start_soon(self._serve_line, self._server, line, peer)
        return line

    @property
    def lines(self) -> list[Line]:
        """The lines that are open."""
        return [line for line in self._lines if not line.is_over]

    async def _serve_line(self, server: Server, line: Line, peer: tuple[str, int]) -> None:
        try:
            await server.edge.front_door.serve_stream(line.servers_end, peer)
        except RuntimeError:
            line.cut()  # the front door has just closed
        finally:
            self._lines.pop(line, None)

    # What happens to the process

    def drop(self, *, power: bool = False, away_s: float = 1.0, image: Image | None = None) -> None:
        """Drop the process now; it is started again after `away_s`. May be called anywhere.

        `power`: the machine loses power, so a worker dies too and the boot is another.
        """
        if self._is_dropped or self._is_stopping:
            return
        self._is_dropped = True
        self._away_s = away_s
        if power:
            self._image = self.files.image() if image is None else image
            self._boots += 1
            self.worker.stop(dropped=True)
        self.disk.is_dead = True
        self._go_down()
        for line in list(self._lines):
            line.cut(keep=self._random.random() < 0.5)
        self._serving.cancel()

    def drop_at_statement(self, after: int, *, torn: bool = False, away_s: float = 1.0) -> None:
        """Drop the process between two statements, or in the middle of a write to the log."""

        def drop(sql: str, execute: Callable[[], object] | None) -> None:
            if execute is None:
                self.drop(away_s=away_s)
            else:
                is_synced = self.disk.is_synced and self.worker.disk.is_synced
                image = self.files.torn_image(execute, self._random, is_synced=is_synced)
                self.drop(power=True, away_s=away_s, image=image)
            self.was_dropped(f"at the statement {sql!r}")

        self.disk.drop_at_statement(after, drop, torn=torn)

    def drop_after_claim(self, after: int, *, away_s: float = 1.0) -> None:
        """Drop the process so many statements after it has next claimed a job."""
        self.disk.when_changed(CLAIM, lambda: self.drop_at_statement(after, away_s=away_s))

    def drop_at_step(self, after: int, *, away_s: float = 1.0) -> None:
        """Drop the process between two steps of its tasks, which is at any await."""
        trio.lowlevel.add_instrument(_Countdown(after, self, away_s))

    def drop_next_start(self, after: int) -> None:
        """Drop the next process too, while it recovers, after so many statements."""
        self._drop_at_start = lambda: self.drop_at_statement(after)

    def stop(self, *, away_s: float = 1.0) -> None:
        """Drain and stop, as a signal does; the server is started again after `away_s`."""
        if self._server is not None and not self._is_dropped:
            self._away_s = away_s
            self._server.stop.set()

    def set_clock(self, error_s: float) -> None:
        """Set the machine's clock wrong by so much; 0 corrects it."""
        self.wall.set_error(error_s)
        self._check_clocks()

    def suspend(self, seconds: float) -> None:
        """Suspend the machine: time passes, nothing runs, and every line breaks meanwhile."""
        for line in list(self._lines):
            line.cut()
        self.wall.pass_suspended(seconds)
        self._check_clocks()

    def reload(self, values: Values) -> None:
        """Change settings and reload them, as SIGHUP does."""
        for section, keys in values.items():
            self.values.setdefault(section, {}).update(keys)
        if self._server is not None:
            reload(self._server.base.settings, self._load)
            self._server.settings_changed()

    def start_worker(self, stall: Stall | None = None) -> None:
        """Run a worker beside the server; with `stall` it stands still once, after a claim."""
        if self._nursery is not None and not self.worker.is_running:
            self._nursery.start_soon(self._work, stall)

    async def wait_up(self) -> None:
        """Wait until the server serves."""
        await self._started.wait()

    async def wait_down(self) -> None:
        """Wait until it does not."""
        await self._gone.wait()

    # Running

    def _load(self) -> Settings:
        return load_settings(None, {}, self.values)

    def _clock(self, name: str) -> Clock:
        clock = _MachineClock(self.wall.machine(), wall=self.wall.machine)
        clock.boot = f"boot {self._boots}"
        self._clocks[name] = clock
        return clock

    def _check_clocks(self) -> None:
        for clock in self._clocks.values():
            clock.check()

    async def _keep_serving(self) -> None:
        """The service manager: start the server, and start it again whenever it ends."""
        while True:
            await self._serve_once()
            if self._image is not None:
                await self.worker.wait_gone()
                self.files.close()
                self.files.put_back(self._image)
                self._image = None
            await trio.sleep(self._away_s or _AGAIN_S)

    def _go_down(self) -> None:
        if self._started.is_set():
            self._started = trio.Event()
            self._gone.set()

    async def _serve_once(self) -> None:
        mock = trio.lowlevel.current_clock()
        assert isinstance(mock, MockClock)
        full, slow_s = self.disk.is_full, self.disk.slow_s
        self.disk = Disk()
        self.disk.is_full, self.disk.slow_s = full, slow_s
        self.disk.on_refuse = self.was_refused
        self._is_dropped = self._is_stopping = False
        self._away_s = 0.0
        self.settings = self._load()
        self.starts += 1
        if self._drop_at_start is not None:
            drop, self._drop_at_start = self._drop_at_start, None
            drop()
        error: BaseException | None = None
        with trio.CancelScope() as self._serving:
            try:
                async with open_server(
                    self.settings,
                    self.tokens,
                    database=self.database,
                    clock=self._clock("server"),
                    mock_clock=mock,
                ) as server:
                    self.files.follow()
                    self._server = server
                    self._gone = trio.Event()
                    self._started.set()
                    await server.stop.wait()
                    self._is_stopping = True
                    self._go_down()
            except* Exception as raised:
                error = raised
        self._server = None
        self._go_down()
        self._clocks.pop("server", None)
        for line in list(self._lines):
            line.cut()
        if error is not None and not self._is_dropped and not self._is_excused(error):
            self.ended_by_itself(describe(error))

    def _is_excused(self, error: BaseException) -> bool:
        """Whether the server could not start, or stop well, because of its disk."""
        is_store = all(isinstance(one, StoreUnavailable) for one in leaves(error))
        return is_store and self.disk.refused > 0

    async def _work(self, stall: Stall | None) -> None:
        disk = Disk()
        disk.on_refuse = self.was_refused
        await self.worker.run(
            self._load(), self.wait_up, self._clock, disk, stall, self.ended_by_itself
        )
        self._clocks.pop("worker", None)

    def _find_disk(self) -> Disk:
        return self.worker.disk if is_in_worker() else self.disk

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve until the block is left; then the server drains and stops."""
        with ExitStack() as undo:
            undo.callback(self.files.close)
            undo.enter_context(installed(self._find_disk))
            undo.enter_context(self.side_tasks.installed())
            async with trio.open_nursery() as self._nursery:
                self._nursery.start_soon(self._keep_serving)
                await self.wait_up()
                yield
                self._nursery.cancel_scope.cancel()


class _Countdown(trio.abc.Instrument):
    """Drops the process after so many steps of tasks."""

    def __init__(self, steps: int, stage: Stage, away_s: float) -> None:
        self._steps = steps
        self._stage = stage
        self._away_s = away_s

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self._steps -= 1
        if self._steps < 0:
            trio.lowlevel.remove_instrument(self)
            self._stage.drop(away_s=self._away_s)
            self._stage.was_dropped(f"after a step of {task.name.rpartition('.')[2]}")


def _ignore(_: str) -> None:
    pass
