"""A server or a worker, as the command line starts them, with a job type for tests.

Run as a program: `python -m tests.process.job_handlers serve|worker DIRECTORY`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import trio
from pydantic import BaseModel

from yoked_actor.actors.jobs import Dispatcher, JobRun
from yoked_actor.app.server import open_server
from yoked_actor.app.worker import open_worker
from yoked_actor.domain.jobs import RetryPolicy
from yoked_actor.edge.auth import Tokens
from yoked_actor.settings import load_settings
from yoked_actor.store import Tx
from yoked_actor.telemetry import configure_logging

# A claimed job that was not started loses an attempt when the process is killed.
MANY_RUNS = RetryPolicy(base_s=0.2, cap_s=0.2, runs=1000)


class Tick(BaseModel):
    """The payload of a tick."""

    n: int
    pause_s: float = 0.0


def register(dispatcher: Dispatcher) -> None:
    """Register the handler of ticks, which stores the PID of the process that ran it."""

    async def tick(run: JobRun[Tick]) -> None:
        await trio.sleep(run.payload.pause_s)

        def effect(tx: Tx) -> None:
            tx.execute(
                "INSERT INTO ticks (n, job_id, pid) VALUES (?, ?, ?)",
                (run.payload.n, run.job.id, os.getpid()),
            )

        run.effect = effect

    dispatcher.register("test.tick", Tick, tick, MANY_RUNS, quiet=True)


async def main(kind: str, directory: Path) -> None:
    settings = load_settings(None, os.environ, {})
    configure_logging("warning", "json")
    database = directory / "yoked.db"
    if kind == "serve":
        tokens = Tokens("HS256", "a secret that everybody in these tests knows")
        async with open_server(settings, tokens, database=database) as server:
            register(server.base.dispatcher)
            print("ready", flush=True)  # noqa: T201
            await trio.sleep_forever()
    async with open_worker(settings, database) as dispatcher:
        register(dispatcher)
        print("ready", flush=True)  # noqa: T201
        await trio.sleep_forever()


if __name__ == "__main__":
    trio.run(main, sys.argv[1], Path(sys.argv[2]))
