"""What every job store answers when it is asked: jobs, attempts, answers, counts, what is due."""

from __future__ import annotations

import pytest

from tests.store.conftest import Opener
from yoked_actor.domain.jobs import (
    BulkAction,
    ImpossibleJobMove,
    Job,
    JobCause,
    JobFilter,
    JobStatus,
    NewJob,
    Pause,
    ReceiverAnswer,
)
from yoked_actor.domain.time import after
from yoked_actor.store import DeadLettered, LeaseLost, Snoozed, Store

NOW = 1_767_254_400_000_000
LEASE_S = 60.0


async def add(store: Store, job_type: str, count: int = 1, at: int = NOW, **payload: str) -> None:
    await store.jobs.enqueue([NewJob(job_type, payload, at) for _ in range(count)], NOW)


async def claim(store: Store, limit: int = 1) -> list[Job]:
    return (await store.jobs.claim("ana", NOW, LEASE_S, limit)).jobs


async def test_a_job_is_found_by_id_and_listed_newest_first(open_again: Opener) -> None:
    async with open_again() as store:
        await add(store, "mail", 2)
        await add(store, "call")
        assert await store.jobs.get(9) is None
        second = await store.jobs.get(2)
        assert second is not None
        assert (second.type, second.status, second.created_at) == ("mail", JobStatus.PENDING, NOW)
        assert [job.id for job in await store.jobs.list()] == [3, 2, 1]
        assert [job.id for job in await store.jobs.list(job_type="mail", before=2)] == [1]
        assert [job.id for job in await store.jobs.list(limit=1)] == [3]
        await claim(store)
        assert [job.id for job in await store.jobs.list(status=JobStatus.IN_PROGRESS)] == [1]


async def test_attempts_that_did_not_succeed_are_remembered(open_again: Opener) -> None:
    async with open_again() as store:
        await add(store, "mail")
        [job] = await claim(store)
        await store.jobs.fail(job.id, job.fence, NOW + 5, NOW, "busy")
        [job] = (await store.jobs.claim("bob", NOW + 6, LEASE_S, 1)).jobs
        await store.jobs.snooze(job.id, job.fence, NOW + 7)
        [attempt] = await store.jobs.attempts(job.id)
        assert (attempt.attempt, attempt.owner, attempt.ended_at) == (1, "ana", NOW + 5)
        assert (attempt.cause, attempt.error) == (JobCause.FAILED, "busy")


async def test_an_answer_belongs_to_the_run_that_holds_the_job(open_again: Opener) -> None:
    answer = ReceiverAnswer(202, "r1", "thanks")
    async with open_again() as store:
        await add(store, "mail")
        [job] = await claim(store)
        await store.jobs.keep_answer(job.id, job.fence, answer, NOW + 1)
        with pytest.raises(LeaseLost):
            await store.jobs.keep_answer(job.id, job.fence - 1, answer, NOW + 1)
        [kept] = await store.jobs.answers(job.id)
        assert (kept.status, kept.receiver_id, kept.body) == (202, "r1", "thanks")
        assert (kept.fence, kept.at) == (job.fence, NOW + 1)


async def test_jobs_are_counted_by_type_and_status(open_again: Opener) -> None:
    async with open_again() as store:
        await add(store, "mail", 3)
        await add(store, "call")
        [first, second] = await claim(store, 2)
        await store.jobs.complete(first.id, first.fence, NOW)
        await store.jobs.settle([DeadLettered(second.id, second.fence, "broken")], NOW)
        live = {
            ("mail", JobStatus.PENDING): 1,
            ("call", JobStatus.PENDING): 1,
            ("mail", JobStatus.DEAD_LETTER): 1,
        }
        assert await store.jobs.open_counts() == live
        assert await store.jobs.counts() == live | {("mail", JobStatus.COMPLETED): 1}
        await store.jobs.dismiss(second.id, "olga", "known", NOW)
        del live["mail", JobStatus.DEAD_LETTER]
        assert await store.jobs.open_counts() == live


async def test_the_queue_knows_what_is_due_and_what_is_overdue(open_again: Opener) -> None:
    async with open_again() as store:
        assert await store.jobs.next_due_at() is None
        await add(store, "mail")
        await add(store, "mail", at=after(NOW, 100))
        assert await store.jobs.depth(NOW) == 1
        assert await store.jobs.depth(after(NOW, 100)) == 2
        assert await store.jobs.overdue(NOW - 1) == 0
        assert await store.jobs.overdue(NOW) == 1
        assert await store.jobs.next_due_at() == NOW
        await claim(store)
        assert await store.jobs.next_due_at() == after(NOW, LEASE_S), "a lease ends first"
        assert await store.jobs.depth(NOW) == 0


async def test_jobs_that_went_wrong_are_run_again_by_what_they_are_about(
    open_again: Opener,
) -> None:
    async with open_again() as store:
        await add(store, "mail", 2, user="ana")
        await add(store, "mail", user="ben")
        [dead, failed, other] = await claim(store, 3)
        for job in (dead, other):
            await store.jobs.fail(job.id, job.fence, NOW, None, "broken")
        await store.jobs.fail(failed.id, failed.fence, NOW, after(NOW, 999), "busy")
        again = await store.jobs.rerun("mail", {"user": "ana"}, NOW + 1, 9)
        assert again == [dead.id, failed.id]
        assert await store.jobs.rerun("mail", {"user": "ana"}, NOW + 1, 9, after=failed.id) == []
        assert [job.id for job in await store.jobs.list(status=JobStatus.DEAD_LETTER)] == [other.id]
        assert await store.jobs.requeue_dead("mail", NOW + 1, 9) == [other.id]
        assert await store.jobs.depth(NOW + 1) == 3


async def test_operators_may_retry_cancel_and_requeue_a_job(open_again: Opener) -> None:
    async with open_again() as store:
        await add(store, "mail")
        with pytest.raises(ImpossibleJobMove):
            await store.jobs.retry(1, NOW)
        [job] = await claim(store)
        await store.jobs.fail(job.id, job.fence, NOW, after(NOW, 999), "busy")
        assert (await store.jobs.retry(1, NOW + 1)).scheduled_for == NOW + 1
        assert (await store.jobs.cancel(1, NOW)).status is JobStatus.CANCELLED
        assert (await store.jobs.requeue(1, NOW + 2)).status is JobStatus.PENDING


async def test_a_key_outlives_its_job_and_is_forgotten_later(open_again: Opener) -> None:
    new = NewJob("mail", {}, NOW, key="k")
    async with open_again() as store:
        await store.jobs.enqueue([new], NOW)
        [job] = await claim(store)
        await store.jobs.complete(job.id, job.fence, NOW + 1)
        assert await store.jobs.prune(NOW + 2, 9) == 1
        assert await store.jobs.get(job.id) is None
        [again] = await store.jobs.enqueue([new], NOW + 3)
        assert (again.job_id, again.is_new) == (job.id, False)
        assert await store.jobs.prune_keys(NOW + 1, 9) == 0
        assert await store.jobs.prune_keys(NOW + 2, 9) == 1
        [fresh] = await store.jobs.enqueue([new], NOW + 4)
        assert fresh.is_new


async def test_a_lease_is_extended_and_a_snoozed_attempt_is_not_counted(
    open_again: Opener,
) -> None:
    async with open_again() as store:
        await add(store, "mail")
        [job] = await claim(store)
        extended = await store.jobs.extend([(job.id, job.fence), (99, 1)], NOW + 1, LEASE_S)
        assert (extended.lost, extended.cancel_asked) == ([99], [])
        held = await store.jobs.get(job.id)
        assert held is not None
        assert held.lease_until == after(NOW + 1, LEASE_S)
        assert await store.jobs.settle([Snoozed(job.id, job.fence, NOW + 9)], NOW + 2) == [None]
        back = await store.jobs.get(job.id)
        assert back is not None
        assert (back.attempts, back.scheduled_for, back.lease_until) == (0, NOW + 9, None)


async def test_the_leases_of_a_process_that_is_gone_are_ended(open_again: Opener) -> None:
    async with open_again() as store:
        await add(store, "mail", 2)
        [gone] = await claim(store)
        [other] = (await store.jobs.claim("bob", NOW, LEASE_S, 1)).jobs
        assert await store.jobs.end_leases("ana", NOW + 1) == 1
        assert await store.jobs.end_leases("nobody", NOW + 1) == 0
        claimed = await store.jobs.claim("carl", NOW + 2, LEASE_S, 5)
        assert [(job.id, job.attempts) for job in claimed.rescued] == [(gone.id, 1)]
        with pytest.raises(LeaseLost):
            await store.jobs.complete(gone.id, gone.fence, NOW + 3)
        await store.jobs.complete(other.id, other.fence, NOW + 3)


async def test_the_next_due_job_is_that_of_some_types(open_again: Opener) -> None:
    async with open_again() as store:
        await add(store, "mail", at=NOW + 5)
        await add(store, "call", at=NOW + 9)
        assert await store.jobs.next_due_at() == NOW + 5
        assert await store.jobs.next_due_at({"call"}) == NOW + 9
        assert await store.jobs.next_due_at({"fax"}) is None
        await store.jobs.pause(Pause("mail", NOW, "root", "a move"))
        assert await store.jobs.next_due_at({"call", "mail"}) == NOW + 9


async def test_a_paused_type_is_not_claimed_and_is_not_due(open_again: Opener) -> None:
    async with open_again() as store:
        await store.jobs.enqueue([NewJob("a", {}, NOW), NewJob("b", {"town": "Rome"}, NOW)], NOW)
        pause = Pause("a", NOW, "root", "a move")
        assert await store.jobs.pause(pause)
        assert not await store.jobs.pause(pause)
        assert await store.jobs.pauses() == [pause]
        claimed = await store.jobs.claim("one", NOW, 60.0, 9)
        assert ([job.type for job in claimed.jobs], claimed.next_due_at != NOW) == (["b"], True)
        assert await store.jobs.resume("a", "root", NOW)
        assert not await store.jobs.resume("a", "root", NOW)
        claimed = await store.jobs.claim("one", NOW, 60.0, 9)
        assert [job.type for job in claimed.jobs] == ["a"]


async def test_jobs_of_a_filter_are_changed_together(open_again: Opener) -> None:
    async with open_again() as store:
        jobs = [NewJob("a", {"town": town}, NOW) for town in ("Rome", "Oslo", "Rome")]
        await store.jobs.enqueue(jobs, NOW)
        assert [job.id for job in await store.jobs.list(text="Rome")] == [3, 1]
        wanted = JobFilter(text="Rome")
        cancel, requeue = BulkAction.CANCEL, BulkAction.REQUEUE
        assert await store.jobs.change(cancel, wanted, "root", "", NOW, 1) == ([1], True)
        assert await store.jobs.change(cancel, wanted, "root", "", NOW, 9) == ([3], False)
        assert await store.jobs.change(requeue, JobFilter(), "root", "", NOW, 9) == ([1, 3], False)
        with pytest.raises(ValueError, match="a reason"):
            await store.jobs.change(BulkAction.DISMISS, wanted, "root", "", NOW, 9)


async def test_a_nul_in_a_payload_or_an_error_is_no_reason_to_fail(open_again: Opener) -> None:
    async with open_again() as store:
        await store.jobs.enqueue([NewJob("mail", {"text": "a\0b"}, 0)], 0)
        [job] = (await store.jobs.claim("w", 1, 60.0, 9)).jobs
        assert "a\\u0000b" in job.payload
        await store.jobs.fail(job.id, job.fence, 3, None, "no\0mail")
        found = await store.jobs.get(job.id)
        assert found is not None
        assert found.last_error in ("no\0mail", "no\u2400mail")


async def test_jobs_of_several_types_are_claimed_in_one_order(open_again: Opener) -> None:
    types, instants = ("mail", "call", "mail", "bulk", "call"), (3, 1, 2, 4, 0)
    async with open_again() as store:
        for job_type, at in zip(types, instants, strict=True):
            await add(store, job_type, at=NOW - 10 + at)
        await store.jobs.enqueue([NewJob("last", {}, NOW - 20, priority=1)], NOW)
        await store.jobs.enqueue([NewJob("first", {}, NOW, priority=-1)], NOW)
        await add(store, "bulk", at=NOW + 1)
        order = [job.id for _ in range(4) for job in await claim(store, 2)]
        assert order == [7, 5, 2, 3, 1, 4, 6]
        assert await store.jobs.next_due_at(["bulk"]) == NOW + 1
        assert await store.jobs.next_due_at(["call", "none"]) == after(NOW, LEASE_S)
