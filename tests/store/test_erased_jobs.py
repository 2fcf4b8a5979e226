"""What an erasure does to jobs: those about the user end, and nobody else's are touched."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.store.test_erasure_store import TOMB, erase, raw
from yoked_actor.domain.jobs import JobStatus, NewJob, Progress, user_part
from yoked_actor.store import InlineRunner, open_store
from yoked_actor.store.engine.sqlite.schema import migrations

DAY = "2026-01-01"


def offers_job(user_id: str, zone: str = "UTC") -> NewJob:
    payload = {"zone": zone, "date": DAY, "user_id": user_id}
    return NewJob("offers.user", payload, 5, key=f"{DAY}:{user_part(user_id)}:{zone}")


@pytest.mark.parametrize("looked_up", [True, False])
@pytest.mark.parametrize("erased", ["UTC", DAY, "ana", "x", "zone", "x:ana", "offers.user"])
async def test_jobs_of_others_are_not_touched_whatever_the_id_is(tmp_path, erased, looked_up):
    everybody = [offers_job(user) for user in ("ana", "x:ana", "ana:x", "x", "eva", "UTC", DAY)]
    others = [job for job in everybody if job.payload["user_id"] != erased]
    rest = [
        NewJob("offers.check", {"zone": "UTC", "date": DAY}, 5, key=f"UTC:{DAY}"),
        NewJob("store.prune", {"date": DAY}, 5, key=DAY),
        NewJob("mail", {"user_id": "eva", "text": erased}, 5, key="x:eva"),
    ]
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await store.jobs.enqueue([*everybody, *rest], 0)
        await erase(store, erased, looked_up=looked_up)
        jobs = await store.jobs.list(limit=100)
        mine = [job for job in jobs if job.payload == "{}"]
        assert len(mine) == len(everybody) - len(others)
        assert all(job.status is JobStatus.CANCELLED for job in mine)
        kept = {job.key for job in jobs if job.status is JobStatus.PENDING}
        assert kept == {job.key for job in (*others, *rest)}
        # The ledger still knows every one of them (R35), and the new person is a new one.
        again = await store.jobs.enqueue([*others, *rest], 1)
        assert not any(one.is_new for one in again)
        if len(others) < len(everybody):
            [one] = await store.jobs.enqueue([offers_job(erased)], 1)
            assert one.is_new


async def test_a_key_outlives_its_job_and_the_erasure_of_its_user(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await store.jobs.enqueue([offers_job("ana"), offers_job("x:ana")], 0)
        for job in (await store.jobs.claim("w", 6, 60, 9)).jobs:
            await store.jobs.complete(job.id, job.fence, 7)
        assert await store.jobs.prune(100, 100) == 2
        await erase(store, "ana")
        assert raw(path, "SELECT key FROM job_ledger") == [
            (f"{DAY}:<x:ana>:UTC",),
            (f"{DAY}:<{TOMB}>:UTC",),
        ]
        [again] = await store.jobs.enqueue([offers_job("x:ana")], 8)
        assert not again.is_new


async def test_a_key_that_names_its_user_without_the_mark_goes_with_the_job(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await store.jobs.enqueue([NewJob("mail", {"user_id": "ana"}, 5, key="hello ana")], 0)
        await erase(store, "ana")
        assert raw(path, "SELECT dedup_key FROM jobs") == [(f"<{TOMB}>:1",)]
        assert raw(path, "SELECT key FROM job_ledger") == [(f"<{TOMB}>:1",)]


def old_database(path: Path, version: int, keys: list[tuple[str, str, str]]) -> None:
    """A database as an earlier version left it, with jobs that have these keys."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for step in migrations():
            if step.version <= version:
                db.executescript(step.text)
        db.execute(f"PRAGMA user_version = {version}")
        for number, (kind, key, payload) in enumerate(keys, 1):
            db.execute(
                "INSERT INTO jobs (id, type, payload, payload_version, scheduled_for, status,"
                " dedup_key, priority, created_at) VALUES (?, ?, ?, 1, 5, 'pending', ?, 0, 0)",
                (number, kind, payload, key),
            )
            db.execute(
                "INSERT INTO job_ledger (type, key, job_id, digest) VALUES (?, ?, ?, 'd')",
                (kind, key, number),
            )


async def test_keys_of_an_older_database_are_brought_into_the_new_form(tmp_path):
    path, zone = tmp_path / "yoked.db", "America/Argentina/Buenos_Aires"
    payload = '{"user_id": "x"}'
    old_database(
        path,
        7,
        [
            ("offers.user", f"{DAY}:ana:UTC", payload),
            ("offers.user", f"{DAY}:a:b:c:{zone}", payload),
            ("offers.user", f"{DAY}:~erased-12:UTC", payload),
            ("offers.check", f"UTC:{DAY}", "{}"),
        ],
    )
    async with open_store(path, runner=InlineRunner()):
        pass
    expected = [
        (f"UTC:{DAY}",),
        (f"{DAY}:<a:b:c>:{zone}",),
        (f"{DAY}:<ana>:UTC",),
        (f"{DAY}:<~erased-12>:UTC",),
    ]
    assert sorted(raw(path, "SELECT key FROM job_ledger")) == sorted(expected)
    assert sorted(raw(path, "SELECT dedup_key FROM jobs")) == sorted(expected)


# What went wrong


def words(path: Path) -> str:
    """All that is kept of errors."""
    found = raw(path, "SELECT last_error FROM jobs UNION ALL SELECT error FROM job_attempts")
    return " ".join(str(text) for (text,) in found)


async def test_an_error_from_between_the_search_and_the_erasure_is_erased_too(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await store.jobs.enqueue([NewJob("zone", {"zone": "UTC"}, 5)], 0)
        [job] = (await store.jobs.claim("w", 6, 60, 1)).jobs
        await store.privacy.look_up("ana-17", 7)
        await store.jobs.fail(job.id, job.fence, 8, None, "KeyError: 'ana-17'")
        await erase(store, "ana-17", looked_up=False)
        assert "ana-17" not in words(path)
        assert TOMB in words(path)


@pytest.mark.parametrize("payload", [{"zone": "UTC"}, {"user_id": "ana-17"}])
@pytest.mark.parametrize("dead", [True, False])
async def test_an_attempt_that_an_erasure_overtook_keeps_no_words(
    tmp_path, payload: dict[str, Any], dead
):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await store.jobs.enqueue([NewJob("zone", payload, 5)], 0)
        [job] = (await store.jobs.claim("w", 6, 10**12, 1)).jobs
        await erase(store, "ana-17")
        retry_at = None if dead else 20
        await store.jobs.fail(job.id, job.fence, 9, retry_at, "KeyError: 'ana-17'")
        assert "ana-17" not in words(path)
        assert "erased while this attempt ran" in words(path)
        if not dead and "zone" in payload:
            # The next attempt runs after the erasure, so its error is kept as it is.
            [job] = (await store.jobs.claim("w", 30, 60, 1)).jobs
            await store.jobs.fail(job.id, job.fence, 31, None, "KeyError: 'UTC'")
            assert "KeyError: 'UTC'" in words(path)


async def test_notes_of_progress_do_not_keep_an_erased_user(tmp_path):
    path = tmp_path / "yoked.db"
    async with open_store(path, runner=InlineRunner()) as store:
        await store.jobs.enqueue([NewJob("zone", {"zone": "UTC"}, 5)], 0)
        [job] = (await store.jobs.claim("w", 6, 10**12, 1)).jobs
        await store.privacy.look_up("ana-17", 7)
        note = {job.id: Progress(1, 9, "at ana-17")}
        await store.jobs.extend([(job.id, job.fence)], 8, 60, note)
        await erase(store, "ana-17", looked_up=False)
        assert raw(path, "SELECT progress_note FROM jobs") == [(f"at {TOMB}",)]
        await store.jobs.extend([(job.id, job.fence)], 9, 60, note)
        assert raw(path, "SELECT progress_done, progress_note FROM jobs") == [(1, None)]
