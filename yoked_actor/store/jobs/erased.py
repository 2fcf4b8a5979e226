"""What an erasure does to jobs: which are about the user, what they store, and their keys.

A job is about a user when its payload names the user under one of `PAYLOAD_KEYS`, or when its key
does, between angle brackets (`user_part`). User ids and zone names contain no angle brackets, so
no key is taken for the key of another user.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from yoked_actor.domain.jobs import user_part
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, statement

_NAMING = statement("jobs/naming")
_KEYS_NAMING = statement("jobs/keys_naming")
_ERRORS_NAMING = statement("jobs/errors_naming")

PAYLOAD_KEYS = frozenset(
    {
        *("user_id", "user", "users", "user_ids", "partner", "candidate", "candidates", "who"),
        *("a", "b", "reporter", "reported", "blocker", "blocked", "subject"),
    }
)
"""The names under which a payload may name users."""

DISMISSED = "dismiss_job"
"""The audit's action for the dismissal of a dead letter; its detail is the reason, free text."""

ERASE_JOB = "users.erase"
"""The type of the job that erases. The erasure does not cancel this job itself."""


def jobs_naming(tx: Tx, user: str, after: int, since: Instant) -> list[int]:
    """Jobs about a user with an id greater than `after`, or since an instant."""
    mark = user_part(user)
    found = tx.execute(_NAMING, {"user": user, "mark": mark, "after": after, "since": since})
    return [
        job_id
        for job_id, payload, key in found
        if (key is not None and mark in key) or _payload_names(payload, user)
    ]


def _payload_names(payload: str, user: str) -> bool:
    """Whether a payload with a user's id in it names the user; an unreadable payload may."""
    try:
        return _names(msgspec.json.decode(payload), user)
    except msgspec.MsgspecError:
        return True


def keys_naming(tx: Tx, user: str, after: int | None, since: Instant) -> list[tuple[str, str]]:
    """Keys that name a user; with `after`, only those of jobs with a greater id or since then."""
    mark = user_part(user)
    if after is None:
        ledger = "SELECT type, key FROM job_ledger WHERE instr(key, ?) > 0"
        return tx.execute(ledger, (mark,)).fetchall()
    asked = {"mark": mark, "after": after, "since": since}
    return tx.execute(_KEYS_NAMING, asked).fetchall()


def errors_naming(tx: Tx, user: str, after: int, since: Instant) -> list[int]:
    """Jobs whose errors name a user, with an id greater than `after`, or new since an instant."""
    found = tx.execute(_ERRORS_NAMING, {"user": user, "after": after, "since": since})
    return [job_id for (job_id,) in found]


def erase_from_jobs(
    tx: Tx,
    user: str,
    tombstone: str,
    now: Instant,
    jobs: tuple[int, ...],
    keys: tuple[tuple[str, str], ...],
    errors: tuple[int, ...],
) -> None:
    """Cancel the jobs about a user, and remove the user from keys and errors."""
    # A running job may still fail with an error that names the user.
    tx.execute("UPDATE jobs SET overtaken = 1 WHERE status = 'in_progress'")
    for job_id in dict.fromkeys(jobs):
        tx.execute(
            "UPDATE jobs SET payload = '{}', last_error = NULL, progress_note = NULL,"
            " dismissed_reason = CASE WHEN dismissed_at IS NOT NULL THEN '' END,"
            " completed_at = CASE WHEN status IN ('pending', 'failed') THEN ?2"
            " ELSE completed_at END,"
            " cancel_asked = CASE WHEN status = 'in_progress' AND type <> ?3 THEN 1"
            " ELSE cancel_asked END,"
            " status = CASE WHEN status IN ('pending', 'failed') THEN 'cancelled' ELSE status END"
            " WHERE id = ?1",
            (job_id, now, ERASE_JOB),
        )
        tx.execute("UPDATE job_attempts SET error = '' WHERE job_id = ?", (job_id,))
        tx.execute("DELETE FROM job_answers WHERE job_id = ?", (job_id,))
        tx.execute(
            "UPDATE audit SET detail = '' WHERE action = ? AND subject = ?",
            (DISMISSED, str(job_id)),
        )
        # A key may contain the id in another form. It is of no use without its job.
        unmarked = tx.execute(
            "SELECT type, dedup_key FROM jobs"
            " WHERE id = ? AND instr(dedup_key, ?) > 0 AND instr(dedup_key, ?) = 0",
            (job_id, user, user_part(user)),
        ).fetchone()
        if unmarked is not None:
            kind, key = unmarked
            _rename(tx, kind, key, f"{user_part(tombstone)}:{job_id}")
    for kind, key in dict.fromkeys(keys):
        _rename(tx, kind, key, key.replace(user_part(user), user_part(tombstone)))
    _rename_in_texts(tx, user, tombstone, errors)
    tx.execute("UPDATE jobs SET dismissed_by = ?2 WHERE dismissed_by = ?1", (user, tombstone))


def _rename_in_texts(tx: Tx, user: str, tombstone: str, jobs: tuple[int, ...]) -> None:
    """Replace the user's id in errors, notes and reasons, where it is a word of its own."""
    word = re.compile(rf"(?<![\w.@-]){re.escape(user)}(?![\w@-])")

    def renamed(text: str | None) -> str | None:
        return text and word.sub(tombstone, text)

    for job_id in dict.fromkeys(jobs):
        texts = tx.execute(
            "SELECT last_error, progress_note, dismissed_reason FROM jobs WHERE id = ?", (job_id,)
        ).fetchone()
        if texts is not None:
            tx.execute(
                "UPDATE jobs SET last_error = ?, progress_note = ?, dismissed_reason = ?"
                " WHERE id = ?",
                (*map(renamed, texts), job_id),
            )
        attempts = tx.execute(
            "SELECT error, job_id, fence FROM job_attempts WHERE job_id = ?", (job_id,)
        ).fetchall()
        tx.executemany(
            "UPDATE job_attempts SET error = ? WHERE job_id = ? AND fence = ?",
            [(renamed(error), *key) for error, *key in attempts],
        )
    details = tx.execute(
        "SELECT detail, number FROM audit WHERE action = ? AND instr(detail, ?) > 0",
        (DISMISSED, user),
    ).fetchall()
    tx.executemany(
        "UPDATE audit SET detail = ? WHERE number = ?",
        [(renamed(detail), number) for detail, number in details],
    )


def _rename(tx: Tx, kind: str, key: str, new: str) -> None:
    tx.execute("UPDATE job_ledger SET key = ? WHERE type = ? AND key = ?", (new, kind, key))
    # Through the ledger, because jobs have no index on their key.
    tx.execute(
        "UPDATE jobs SET dedup_key = ?1 WHERE dedup_key = ?3"
        " AND id = (SELECT job_id FROM job_ledger WHERE type = ?2 AND key = ?1)",
        (new, kind, key),
    )


def _names(value: Any, user: str, *, by_key: bool = False) -> bool:
    """Whether a payload names a user under one of `PAYLOAD_KEYS`."""
    if isinstance(value, dict):
        return any(_names(part, user, by_key=key in PAYLOAD_KEYS) for key, part in value.items())
    if isinstance(value, list):
        return any(_names(part, user, by_key=by_key) for part in value)
    return by_key and value == user
