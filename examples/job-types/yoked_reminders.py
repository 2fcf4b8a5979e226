"""A job type of one's own: `reminders.write` appends a line to a file."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from yoked_actor.actors.jobs import Dispatcher, JobRun


class Reminder(BaseModel):
    """The payload of a job. A payload that does not fit makes the job a dead letter."""

    file: Path
    text: str


async def write(run: JobRun[Reminder]) -> None:
    """Write the line once: a run that is repeated after a crash finds its key in the file."""
    line = f"{run.idempotency_key} {run.payload.text}\n"
    written = run.payload.file.read_text() if run.payload.file.exists() else ""
    if line not in written:
        with run.payload.file.open("a") as file:
            file.write(line)


def register(dispatcher: Dispatcher) -> None:
    """Called by the server and by each worker when it starts."""
    dispatcher.register("reminders.write", Reminder, write)
