"""Claiming jobs, inside a transaction.

A lane has the waiting jobs of one priority and type, in the order of their instants. A claim reads
the lanes of types that it may claim, and no job of the others: a hundred thousand jobs may wait
there, while their type is paused or left to another process.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import msgspec

from yoked_actor.domain.jobs import (
    DEFAULT_POLICY,
    ErrorKind,
    Job,
    Retry,
    RetryPolicy,
    after_failure,
)
from yoked_actor.domain.time import Instant, after
from yoked_actor.store.engine import Tx, statement
from yoked_actor.store.jobs.outcomes import Reading, end_attempt
from yoked_actor.store.jobs.rows import claimed_jobs, existing_job, job_of, json_text
from yoked_actor.store.jobs.values import Claimed, DeadLettered, Failed, Outcome

_OUTLOOK = statement("jobs/outlook")
_CLAIM = statement("jobs/claim")
_CLAIM_TYPES = statement("jobs/claim_types")
_EXPIRED = statement("jobs/expired")
_NEXT_LEASE_END = statement("jobs/next_lease_end")
_LOST = statement("jobs/lost")
_LOCKED_FOR_S = 0.05
_DUE_AND_ID = itemgetter(4, 0)
_PRIORITY = itemgetter(0)


class _Lane(NamedTuple):
    """The waiting jobs of one priority and type."""

    priority: int
    type: str
    first_at: Instant
    """When the first of them is due."""


class _Outlook(NamedTuple):
    """What a claim has to know first."""

    paused: Collection[str]
    lanes: Sequence[_Lane]
    """In the order of priority."""
    has_expired: bool
    """Whether a lease has ended."""


_decode_types = msgspec.json.Decoder(list[str]).decode
_decode_lanes = msgspec.json.Decoder(list[_Lane]).decode


def claim_in(
    tx: Tx,
    owner: str,
    at: Reading,
    lease_s: float,
    limit: int,
    policies: Mapping[str, RetryPolicy] | None,
    expected: Sequence[int],
) -> Claimed:
    """Rescue the jobs whose lease has ended, then lease those that are due."""
    outlook = _look(tx, at.lease)
    rescued: list[Job] = []
    if outlook.has_expired:
        types = None if policies is None else json_text(list(policies))
        rescued = _rescue(tx, at, limit, types, policies or {})
        outlook = _look(tx, at.lease)
    open_types = _open_types(outlook, policies)
    until = after(at.lease, lease_s)
    due = [lane for lane in outlook.lanes if lane.type in open_types and lane.first_at <= at.now]
    jobs = _lease(tx, owner, at.now, until, limit, due)
    due_at: Instant | None = at.now
    if len(jobs) < limit and len(rescued) < limit:
        is_all = policies is None and not outlook.paused
        due_at = next_due_at(tx, None if is_all else open_types, at.now - at.lease)
        if not jobs and not rescued and due_at is not None and due_at <= at.now:
            # What is due is locked by another process, which is about to claim it.
            due_at = after(at.now, _LOCKED_FOR_S)
    lost: tuple[int, ...] = ()
    if expected:
        rows = tx.execute(_LOST, (json_text(expected), owner)).fetchall()
        lost = tuple(job_id for (job_id,) in rows)
    return Claimed(jobs, rescued, due_at, lost)


def next_due_at(tx: Tx, types: Collection[str] | None, ahead: int) -> Instant | None:
    """When the next job is due or the next lease ends; of some types, or of all.

    `ahead` is the difference from the scale of leases to the time of day.
    """
    lanes = _look(tx, 0).lanes
    instants = [lane.first_at for lane in lanes if types is None or lane.type in types]
    wanted = None if types is None else json_text(sorted(types))
    for (lease_until,) in tx.execute(_NEXT_LEASE_END, (wanted,)).fetchall():
        instants.append(lease_until + ahead)
    return min(instants, default=None)


def _look(tx: Tx, lease_now: Instant) -> _Outlook:
    """What waits; `lease_now` is the present on the scale of leases."""
    paused, lanes, has_expired = tx.execute(_OUTLOOK, (lease_now,)).fetchone()
    return _Outlook(_decode_types(paused), sorted(_decode_lanes(lanes)), bool(has_expired))


def _open_types(outlook: _Outlook, policies: Collection[str] | None) -> set[str]:
    """The types that may be claimed: of `policies`, or of the waiting jobs."""
    types = {lane.type for lane in outlook.lanes} if policies is None else set(policies)
    return types.difference(outlook.paused)


def _rescue(
    tx: Tx,
    at: Reading,
    limit: int,
    types: str | None,
    policies: Mapping[str, RetryPolicy],
) -> list[Job]:
    """End attempts whose lease has ended, as their policies say."""
    rescued = []
    for job in [job_of(row) for row in tx.execute(_EXPIRED, (at.lease, types, limit)).fetchall()]:
        policy = policies.get(job.type, DEFAULT_POLICY)
        decision = after_failure(policy, job, ErrorKind.LOST_LEASE, at.now)
        error = f"the lease of {job.owner} ended before the job did"
        if isinstance(decision, Retry):
            outcome: Outcome = Failed(job.id, job.fence, decision.at, error)
        else:
            reason = f"{error}; {decision.reason}"
            outcome = DeadLettered(job.id, job.fence, reason, ErrorKind.LOST_LEASE)
        end_attempt(tx, outcome, at, is_rescue=True)
        rescued.append(existing_job(tx, job.id))
    return rescued


def _lease(
    tx: Tx, owner: str, now: Instant, until: Instant, limit: int, due: Sequence[_Lane]
) -> list[Job]:
    """Lease due jobs of these lanes, priority by priority."""
    jobs: list[Job] = []
    for priority, lanes in groupby(due, key=_PRIORITY):
        if len(jobs) == limit:
            break
        types = [lane.type for lane in lanes]
        claim, wanted = (_CLAIM, types[0]) if len(types) == 1 else (_CLAIM_TYPES, json_text(types))
        room = limit - len(jobs)
        rows = tx.execute(claim, (owner, now, until, priority, room, wanted)).fetchall()
        # SQLite returns rows in the order in which it changed them, which is undefined.
        rows.sort(key=_DUE_AND_ID)
        jobs += claimed_jobs(rows, owner, now, until, priority)
    return jobs
