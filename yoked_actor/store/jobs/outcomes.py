"""How attempts end: fence, effect and status in one transaction (R32).

Most outcomes are completions, so these are first tried together: one statement, then their effects.
If one of them fails the write is rolled back, and each is completed by itself in another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from yoked_actor.domain.jobs import JobCause, JobStatus
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import DatabaseCorrupt, StoreUnavailable, Tx, explain, statement
from yoked_actor.store.jobs.rows import json_text
from yoked_actor.store.jobs.values import (
    CancelAsked,
    Cancelled,
    Completed,
    DeadLettered,
    Effect,
    Failed,
    JointEffect,
    LeaseLost,
    Outcome,
    Snoozed,
)

LONGEST_ERROR = 16_384
"""How many characters of an error are stored: the end, where the error itself is."""

NOT_KEPT = "the message is not kept: a user was erased while this attempt ran"

_COMPLETE = statement("jobs/complete")
_END_ATTEMPT = statement("jobs/end_attempt")
_NOTE_DEAD = statement("ops/dead_letter_note")
_REMEMBER_ATTEMPT = statement("jobs/remember_attempt")


class Reading(NamedTuple):
    """The present instant, as the time of day and on the scale of leases."""

    now: Instant
    lease: Instant


class NotTogether(Exception):
    """Not all completions are possible, or an effect has failed; the write has to be undone."""


def settle_together(tx: Tx, outcomes: Sequence[Outcome], at: Reading) -> list[Exception | None]:
    """Record outcomes inside a transaction, or raise `NotTogether`, and nothing may be kept.

    Returns for each the error that prevented it, which no completion has.
    """
    completed = [outcome for outcome in outcomes if isinstance(outcome, Completed)]
    if _complete(tx, completed, at) < len(completed):
        raise NotTogether
    try:
        _apply(tx, [outcome.effect for outcome in completed if outcome.effect is not None])
    except Exception as error:
        _raise_if_database_failed(error)
        raise NotTogether from error
    if len(completed) == len(outcomes):
        return [None] * len(outcomes)
    return [
        None if isinstance(outcome, Completed) else end_attempt(tx, outcome, at)
        for outcome in outcomes
    ]


def settle_each(tx: Tx, outcomes: Sequence[Outcome], at: Reading) -> list[Exception | None]:
    """Record outcomes inside a transaction, each independent of the others."""
    return [
        _complete_one(tx, outcome, at)
        if isinstance(outcome, Completed)
        else end_attempt(tx, outcome, at)
        for outcome in outcomes
    ]


def end_attempt(
    tx: Tx, outcome: Outcome, at: Reading, *, is_rescue: bool = False
) -> Exception | None:
    """End an attempt that did not succeed; a rescue does so after the end of its lease."""
    due_at: Instant | None = None
    error: str | None = None
    outline = ""
    match outcome:
        case Failed(_, _, due_at, error, outline):
            status, cause = JobStatus.FAILED, JobCause.FAILED
        case DeadLettered(_, _, error, _, outline):
            status, cause = JobStatus.DEAD_LETTER, JobCause.DEAD_LETTERED
        case Cancelled(_, _, error):
            status, cause = JobStatus.CANCELLED, JobCause.CANCELLED
        case Snoozed(_, _, due_at):
            status, cause = JobStatus.PENDING, JobCause.SNOOZED
        case Completed():
            raise AssertionError("a completion is recorded by _complete")
    which = (outcome.job_id, outcome.fence)
    if error is not None:
        if not is_rescue and _is_overtaken(tx, outcome.job_id):
            error = f"{NOT_KEPT}\n{outline}".rstrip()
        error = error[-LONGEST_ERROR:]
        cause = JobCause.LEASE_ENDED if is_rescue else cause
        tx.execute(_REMEMBER_ATTEMPT, (*which, at.now, cause.value, error, is_rescue, at.lease))
    given_back = 1 if cause is JobCause.SNOOZED else 0
    found = tx.execute(
        _END_ATTEMPT,
        (*which, at.now, status.value, due_at, given_back, error, is_rescue, at.lease),
    ).rowcount
    if found and isinstance(outcome, DeadLettered):
        tx.execute(_NOTE_DEAD, (*which, outcome.kind.value))
    return None if found else LeaseLost(*which)


def _is_overtaken(tx: Tx, job_id: int) -> bool:
    """Whether a user was erased while the attempt ran."""
    row = tx.execute("SELECT overtaken FROM jobs WHERE id = ?", (job_id,)).fetchone()
    return row is not None and bool(row[0])


def _apply(tx: Tx, effects: Sequence[Effect]) -> None:
    """Apply effects in their order; adjacent joint effects of one type are applied together."""
    for kind, group in groupby(effects, type):
        if issubclass(kind, JointEffect):
            kind.together(tx, list(group))
        else:
            for effect in group:
                effect(tx)


def _complete_one(tx: Tx, outcome: Completed, at: Reading) -> Exception | None:
    if outcome.effect is None:
        return None if _complete(tx, [outcome], at) else _refusal(tx, outcome, at)
    tx.execute("SAVEPOINT completion")
    found: Exception | None = None
    if not _complete(tx, [outcome], at):
        found = _refusal(tx, outcome, at)
    else:
        try:
            outcome.effect(tx)
        except Exception as error:
            _raise_if_database_failed(error)
            tx.execute("ROLLBACK TO completion")
            found = explain(error)
    tx.execute("RELEASE completion")
    return found


def _complete(tx: Tx, completed: Sequence[Completed], at: Reading) -> int:
    """Complete attempts that hold their lease; returns how many. Most are first attempts."""
    jobs: defaultdict[int, list[int]] = defaultdict(list)
    for outcome in completed:
        jobs[outcome.fence].append(outcome.job_id)
    return sum(
        tx.execute(_COMPLETE, (json_text(ids), fence, at.now, at.lease)).rowcount
        for fence, ids in jobs.items()
    )


def _refusal(tx: Tx, outcome: Completed, at: Reading) -> Exception:
    asked = tx.execute(
        "SELECT 1 FROM jobs WHERE id = ? AND fence = ? AND cancel_asked = 1"
        " AND status = 'in_progress' AND lease_until > ?",
        (outcome.job_id, outcome.fence, at.lease),
    ).fetchone()
    return CancelAsked(outcome.job_id) if asked else LeaseLost(outcome.job_id, outcome.fence)


def _raise_if_database_failed(error: Exception) -> None:
    """Raise an error of the database, such as a full disk: it rolls back the whole transaction."""
    if isinstance(explain(error), StoreUnavailable | DatabaseCorrupt):
        raise error
