"""The worker process of a server: started while daily offers are due, and supervised (ADR 0023).

It is `yoked-actor worker --supervised` on the same data directory. Its standard input is a pipe
that the server holds open: the end of the pipe is the end of the server, however the server ended,
and the worker stops. Its standard output brings reports (`worker_report`), and its log goes where
the server's log goes. A worker that had no job for a while ends by itself, and its memory with it.

While there is a worker process the server leaves these jobs to it. If it cannot be started or ends
with an error several times in a row, the server runs the jobs itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence

import msgspec
import structlog
import trio

from yoked_actor.actors.offers import MORNING_JOBS, OfferJobs
from yoked_actor.actors.wakeup import Wakeup
from yoked_actor.app.base import Base
from yoked_actor.app.worker_report import WorkerReport, decode_report
from yoked_actor.settings import JobSettings

_log = structlog.get_logger()

_MOST_FAILURES = 3
"""After so many in a row the server runs the jobs itself."""
_CHECK_EVERY_S = 0.25
_LONGEST_LINE = 1 << 20


class WorkerFailed(Exception):
    """The worker process has ended with an error."""


def wants_worker(settings: JobSettings) -> bool:
    """Whether daily offers are made in a process of their own."""
    if settings.worker_process == "auto":
        return _usable_cores() > 1
    return settings.worker_process == "on"


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WorkerProcess:
    """Starts the worker process when it is needed, and passes on what it reports."""

    def __init__(
        self, command: Sequence[str], base: Base, offer_jobs: OfferJobs, stop: trio.Event
    ) -> None:
        """`command` starts the worker. After `stop` none is started."""
        self._command = list(command)
        self._jobs = base.store.jobs
        self._clock = base.clock
        self._settings = base.settings.jobs
        self._dispatcher = base.dispatcher
        self._running = base.metrics.jobs.worker_running
        self._offer_jobs = offer_jobs
        self._stop = stop
        self._failures = 0
        self._owner = ""
        self._process: trio.Process | None = None
        self._wakeup = Wakeup()
        self._dispatcher.on_wake(self._wakeup.wake)

    @property
    def pid(self) -> int | None:
        """The process id, while it runs."""
        return None if self._process is None else self._process.pid

    def reload(self) -> None:
        """Let a running worker read its settings again."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGHUP)

    async def run(self) -> None:
        """Start workers until cancelled; `WorkerFailed` when one has failed.

        The supervisor calls it again after a pause.
        """
        is_trusted = self._failures < _MOST_FAILURES
        self._dispatcher.leave(MORNING_JOBS if is_trusted else frozenset())
        while True:
            await self._until_due()
            await self._work()

    async def _until_due(self) -> None:
        """Wait until a job is due, or the lease of one has ended."""
        while True:
            due_at = await self._jobs.next_due_at(MORNING_JOBS)
            if not self._stop.is_set() and due_at is not None and due_at <= self._clock.now():
                return
            with self._clock.until(due_at if not self._stop.is_set() else None):
                await self._wakeup.wait()
            await trio.sleep(_CHECK_EVERY_S)

    async def _work(self) -> None:
        """Run one worker until it ends. If cancelled, stop it first."""
        self._owner = ""
        try:
            process = await trio.lowlevel.open_process(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # Ctrl-C in a terminal is for the server, which then stops the worker.
                start_new_session=True,
            )
        except OSError as error:
            self._failures += 1
            raise WorkerFailed(f"it cannot be started: {error}") from error
        _log.info("worker_started", pid=process.pid)
        self._process = process
        self._running.set(1)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._terminate_at_stop, process)
                await self._hear(process)
                await process.wait()
                nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await self._end(process)
        self._failures = 0 if process.returncode == 0 else self._failures + 1
        if process.returncode:
            raise WorkerFailed(f"it has ended with {_named(process.returncode)}")

    async def _terminate_at_stop(self, process: trio.Process) -> None:
        """Let the worker drain while the server does."""
        await self._stop.wait()
        process.terminate()

    async def _hear(self, process: trio.Process) -> None:
        """Take reports until the worker closes its end."""
        async for line in _lines(process):
            try:
                self._take(decode_report(line))
            except msgspec.MsgspecError as error:
                _log.warning("worker_report_unreadable", error=str(error))
            # One read may bring several reports, and users wait meanwhile.
            await trio.lowlevel.checkpoint()

    def _take(self, report: WorkerReport) -> None:
        if report.owner:
            self._owner = report.owner
        if report.runs:
            self._dispatcher.count(report.runs)
        if report.sets:
            self._offer_jobs.count(report.sets)

    async def _end(self, process: trio.Process) -> None:
        """Stop the process if it runs, and let others have its jobs at once."""
        assert process.stdin is not None
        assert process.stdout is not None
        if process.returncode is None:
            process.terminate()
            with trio.move_on_after(2 * self._settings.drain_s + 5.0):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self._hear, process)
                    await process.wait()
        if process.returncode is None:
            _log.warning("worker_killed", pid=process.pid)
            process.kill()
            await process.wait()
        await process.stdin.aclose()
        await process.stdout.aclose()
        self._process = None
        self._running.set(0)
        released = 0
        if process.returncode and self._owner:
            released = await self._jobs.end_leases(self._owner, self._clock.now())
        _log.info("worker_ended", pid=process.pid, code=process.returncode, released=released)


async def _lines(process: trio.Process) -> AsyncIterator[bytes]:
    assert process.stdout is not None
    rest = b""
    while data := await process.stdout.receive_some():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line
        if len(rest) > _LONGEST_LINE:
            rest = b""


def _named(code: int) -> str:
    """An exit code or a signal, as a text."""
    return f"code {code}" if code >= 0 else signal.Signals(-code).name
