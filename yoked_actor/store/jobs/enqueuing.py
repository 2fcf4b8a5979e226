"""Adding jobs, inside a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from yoked_actor.domain.jobs import NewJob, payload_digest
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, inserted_id, statement
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


def enqueue_in(tx: Tx, jobs: Sequence[NewJob], now: Instant) -> list[Enqueued]:
    """Add all jobs or none.

    On `KeyConflict` this call has written nothing; the caller keeps the other writes of the
    transaction or rolls them back.
    """
    if not jobs:
        return []
    asked = [(job.type, job.key) for job in jobs if job.key is not None]
    used: dict[tuple[str, str], tuple[int, str, bool]] = {}
    if asked:
        for job_type, key, job_id, digest in tx.execute(_KEYS, (json_text(asked),)).fetchall():
            used[job_type, key] = (job_id, digest, True)
    (ids,) = tx.execute(_NEXT_IDS, (len(jobs),)).fetchone()
    unused = iter(_decode_ids(ids))
    rows: list[tuple[Any, ...]] = []
    keys: list[tuple[Any, ...]] = []
    enqueued: list[Enqueued] = []
    for job in jobs:
        digest = ""
        if job.key is not None:
            digest = payload_digest(job.payload)
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
        payload = msgspec.json.encode(job.payload).decode()
        row = (job_id, job.type, payload, job.payload_version, job.scheduled_for, job.key)
        rows.append((*row, job.priority, job.max_attempts))
        enqueued.append(Enqueued(job_id, True))
    tx.execute(_ENQUEUE, (json_text(rows), now))
    if keys:
        tx.execute(_ADD_KEYS, (json_text(keys),))
    return enqueued
