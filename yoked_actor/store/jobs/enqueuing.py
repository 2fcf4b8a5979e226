"""Adding jobs, inside a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from yoked_actor.domain.jobs import NewJob, payload_digest
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, insert_rows, inserted_id, statement
from yoked_actor.store.jobs.rows import json_text
from yoked_actor.store.jobs.values import Enqueued, KeyConflict

_NEXT_IDS = statement("jobs/next_ids")
_ENQUEUE = statement("jobs/enqueue")
_ENQUEUE_ONE = statement("jobs/enqueue_one")
_KEYS = statement("jobs/keys")
_ADD_KEYS = statement("jobs/add_keys")

_decode_ids = msgspec.json.Decoder(list[int]).decode


def enqueue_one_in(tx: Tx, job: NewJob, now: Instant) -> list[Enqueued]:
    """Add a job without a key: one statement, which needs no transaction around it."""
    payload = msgspec.json.encode(job.payload).decode()
    row = (job.type, payload, job.payload_version, job.scheduled_for)
    added = tx.execute(_ENQUEUE_ONE, (*row, job.priority, job.max_attempts, now))
    return [Enqueued(inserted_id(added), True)]


class PreparedJobs:
    """Jobs to add, encoded before the transaction: other processes wait for a transaction."""

    def __init__(self, jobs: Sequence[NewJob]) -> None:
        self.jobs = jobs
        self.payloads = [msgspec.json.encode(job.payload).decode() for job in jobs]
        self.digests = ["" if job.key is None else payload_digest(job.payload) for job in jobs]
        self.keys = json_text([(job.type, job.key) for job in jobs if job.key is not None])
        """Their types and keys, as a JSON array."""


def enqueue_in(tx: Tx, jobs: Sequence[NewJob], now: Instant) -> list[Enqueued]:
    """Add all jobs or none.

    On `KeyConflict` this call has written nothing; the caller keeps the other writes of the
    transaction or rolls them back.
    """
    return enqueue_prepared_in(tx, PreparedJobs(jobs), now)


def enqueue_prepared_in(tx: Tx, prepared: PreparedJobs, now: Instant) -> list[Enqueued]:
    """`enqueue_in`, of jobs that were prepared."""
    jobs = prepared.jobs
    if not jobs:
        return []
    used: dict[tuple[str, str], tuple[int, str, bool]] = {}
    if any(job.key is not None for job in jobs):
        for job_type, key, job_id, digest in tx.execute(_KEYS, (prepared.keys,)).fetchall():
            used[job_type, key] = (job_id, digest, True)
    (ids,) = tx.execute(_NEXT_IDS, (len(jobs),)).fetchone()
    unused = iter(_decode_ids(ids))
    rows: list[tuple[Any, ...]] = []
    keys: list[tuple[Any, ...]] = []
    enqueued: list[Enqueued] = []
    for job, payload, digest in zip(jobs, prepared.payloads, prepared.digests, strict=True):
        if job.key is not None:
            before = used.get((job.type, job.key))
            if before is not None:
                if before[1] != digest:
                    raise KeyConflict(job.type, job.key, before[0] if before[2] else None)
                enqueued.append(Enqueued(before[0], False))
                continue
        job_id = next(unused)
        if job.key is not None:
            used[job.type, job.key] = (job_id, digest, False)
            keys.append((job.type, job.key, job_id, digest))
        row = (job_id, job.type, payload, job.payload_version, job.scheduled_for, job.key)
        rows.append((*row, job.priority, job.max_attempts, now))
        enqueued.append(Enqueued(job_id, True))
    insert_rows(tx, _ENQUEUE, rows)
    if keys:
        insert_rows(tx, _ADD_KEYS, keys)
    return enqueued
