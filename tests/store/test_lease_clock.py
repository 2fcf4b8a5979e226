"""Leases are judged by the time of the machine, which all its processes share (ADR 0016)."""

from __future__ import annotations

import sqlite3
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

from yoked_actor.domain.jobs import JobStatus, NewJob
from yoked_actor.domain.time import MICROSECONDS, MachineTime
from yoked_actor.store import InlineRunner, LeaseLost, Store, open_store

NOW = 1_800_000_000 * MICROSECONDS
DAY = 86_400 * MICROSECONDS
LEASE_S = 30.0


class Machine:
    """A machine whose clock can be set, and which can be started anew."""

    def __init__(self) -> None:
        self.boot = "first"
        self.uptime = 5_000 * MICROSECONDS
        self.ahead = NOW - self.uptime

    @property
    def now(self) -> int:
        return self.uptime + self.ahead

    def __call__(self) -> MachineTime:
        return MachineTime(self.boot, self.uptime, self.now)

    def pass_s(self, seconds: float) -> None:
        self.uptime += round(seconds * MICROSECONDS)


class House:
    """A server and a worker on one database of one machine."""

    def __init__(self, path: Path, stack: AsyncExitStack) -> None:
        self.machine = Machine()
        self._path = path
        self._stack = stack

    async def open(self, *, shared: bool) -> Store:
        return await self._stack.enter_async_context(
            open_store(self._path, runner=InlineRunner(), shared=shared, machine=self.machine)
        )

    async def claim(self, store: Store, owner: str) -> tuple[list[int], list[int]]:
        claimed = await store.jobs.claim(owner, self.machine.now, LEASE_S, 10)
        return [job.id for job in claimed.jobs], [job.id for job in claimed.rescued]


@pytest.mark.parametrize("step", [DAY, -DAY])
async def test_a_live_lease_outlives_a_step_of_the_clock(tmp_path: Path, step: int) -> None:
    async with AsyncExitStack() as stack:
        house = House(tmp_path / "yoked.db", stack)
        machine = house.machine
        server, worker = await house.open(shared=False), await house.open(shared=True)
        [job] = await server.jobs.enqueue([NewJob("long", {}, machine.now)], machine.now)
        assert await house.claim(worker, "worker") == ([job.job_id], [])
        for _ in range(4):
            machine.pass_s(10)
            machine.ahead += step
            assert await house.claim(server, "server") == ([], [])
            extended = await worker.jobs.extend([(job.job_id, 1)], machine.now, LEASE_S)
            assert extended.lost == []
        machine.pass_s(29)
        machine.ahead -= step
        await worker.jobs.complete(job.job_id, 1, machine.now)
        found = await server.jobs.get(job.job_id)
        assert found is not None
        assert found.status is JobStatus.COMPLETED
        assert found.completed_at == machine.now


@pytest.mark.parametrize("step", [DAY, -DAY])
async def test_the_lease_of_a_dead_worker_ends_in_time_after_a_step(
    tmp_path: Path, step: int
) -> None:
    async with AsyncExitStack() as stack:
        house = House(tmp_path / "yoked.db", stack)
        machine = house.machine
        server, worker = await house.open(shared=False), await house.open(shared=True)
        [job] = await server.jobs.enqueue([NewJob("long", {}, machine.now - DAY)], machine.now)
        assert await house.claim(worker, "worker") == ([job.job_id], [])
        machine.ahead += step
        machine.pass_s(29)
        claimed = await server.jobs.claim("server", machine.now, LEASE_S, 10)
        # The end of the lease is told as the time of day, for the dispatcher to sleep until then.
        assert claimed.next_due_at == machine.now + MICROSECONDS
        assert await server.jobs.next_due_at() == claimed.next_due_at
        found = await server.jobs.get(job.job_id)
        assert found is not None
        assert found.lease_until == claimed.next_due_at
        machine.pass_s(1)
        assert await house.claim(server, "server") == ([], [job.job_id])
        with pytest.raises(LeaseLost):
            await worker.jobs.complete(job.job_id, 1, machine.now)


async def test_a_process_that_comes_after_a_step_agrees_with_those_before_it(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        house = House(tmp_path / "yoked.db", stack)
        machine = house.machine
        server = await house.open(shared=False)
        [job] = await server.jobs.enqueue([NewJob("long", {}, machine.now)], machine.now)
        assert await house.claim(server, "server") == ([job.job_id], [])
        machine.ahead += DAY
        machine.pass_s(20)
        worker = await house.open(shared=True)
        assert await house.claim(worker, "worker") == ([], [])
        machine.pass_s(10)
        assert await house.claim(worker, "worker") == ([], [job.job_id])


@pytest.mark.parametrize("boots", [("first", "second"), ("", "")])
@pytest.mark.parametrize("step", [0, -DAY])
async def test_leases_of_an_earlier_boot_are_over(
    tmp_path: Path, step: int, boots: tuple[str, str]
) -> None:
    async with AsyncExitStack() as stack:
        house = House(tmp_path / "yoked.db", stack)
        house.machine.boot = boots[0]
        server = await house.open(shared=False)
        now = house.machine.now
        [job] = await server.jobs.enqueue([NewJob("long", {}, now - 2 * DAY)], now)
        assert await house.claim(server, "server") == ([job.job_id], [])
    async with AsyncExitStack() as stack:
        house = House(tmp_path / "yoked.db", stack)
        house.machine.boot, house.machine.uptime = boots[1], 3 * MICROSECONDS
        house.machine.ahead = now + step
        server = await house.open(shared=False)
        assert await house.claim(server, "server") == ([], [job.job_id])


async def test_the_scale_is_written_once_in_a_boot(tmp_path: Path) -> None:
    rows = []
    machine = Machine()
    for boot in ("first", "first", "second"):
        machine.boot = boot
        async with open_store(tmp_path / "yoked.db", runner=InlineRunner(), machine=machine):
            machine.ahead += DAY
        with closing(sqlite3.connect(tmp_path / "yoked.db")) as db:
            rows += db.execute("SELECT boot, ahead FROM lease_clock").fetchall()
    first = NOW - 5_000 * MICROSECONDS
    assert rows == [("first", first), ("first", first), ("second", first + 2 * DAY)]
