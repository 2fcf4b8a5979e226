"""Answers of receivers to runs of jobs, inside a transaction."""

from __future__ import annotations

from yoked_actor.domain.jobs import KeptAnswer, ReceiverAnswer
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, statement
from yoked_actor.store.jobs.values import LeaseLost

_ADD = statement("jobs/add_answer")


def keep_answer_in(tx: Tx, job_id: int, fence: int, answer: ReceiverAnswer, now: Instant) -> None:
    """Store what was answered to a run; `LeaseLost` when it is not the last run."""
    row = (job_id, fence, now, answer.status, answer.receiver_id, answer.body)
    if not tx.execute(_ADD, row).rowcount:
        raise LeaseLost(job_id, fence)


def answers_in(tx: Tx, job_id: int) -> list[KeptAnswer]:
    """What was answered to the runs of a job, oldest first."""
    rows = tx.execute(
        "SELECT status, receiver_id, body, fence, at FROM job_answers"
        " WHERE job_id = ? ORDER BY fence",
        (job_id,),
    )
    return [KeptAnswer(*row) for row in rows]
