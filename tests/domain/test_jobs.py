"""The transitions of jobs, what a failure leads to, and the diagram."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.diagrams import jobs_mermaid
from yoked_actor.domain.jobs import (
    DEFAULT_POLICY,
    JOB_TRANSITIONS,
    ErrorKind,
    ImpossibleJobMove,
    Job,
    JobCause,
    JobStatus,
    NewJob,
    Retry,
    RetryPolicy,
    after_failure,
    idempotency_key,
    next_status,
    payload_digest,
)
from yoked_actor.domain.jobs.retries import DeadLetter
from yoked_actor.domain.jobs.states import ENDED, LIVE

DOCUMENT = Path(__file__).parents[2] / "docs" / "jobs.md"
NOW = 1_767_254_400_000_000
OFFERS = RetryPolicy(delays_s=(30.0, 120.0, 300.0))


def running(attempts: int, job_id: int = 1) -> Job:
    return Job(
        job_id, "t", "{}", 1, NOW, JobStatus.IN_PROGRESS, attempts, attempts, "w", NOW + 1,
        None, None, 0, False, NOW, NOW, None,
    )  # fmt: skip


def test_what_is_not_in_the_table_is_refused() -> None:
    for status in JobStatus:
        for cause in JobCause:
            if (status, cause) in JOB_TRANSITIONS:
                assert next_status(1, status, cause) is JOB_TRANSITIONS[status, cause]
            else:
                with pytest.raises(ImpossibleJobMove, match=f"job 1 is {status}"):
                    next_status(1, status, cause)


def test_a_completed_job_goes_nowhere_and_every_live_one_can_end() -> None:
    assert not [cause for status, cause in JOB_TRANSITIONS if status is JobStatus.COMPLETED]
    for status in LIVE:
        assert JOB_TRANSITIONS[status, JobCause.CANCELLED] in ENDED


def test_every_cause_and_every_status_has_a_use() -> None:
    assert {cause for _, cause in JOB_TRANSITIONS} == set(JobCause)
    assert set(JOB_TRANSITIONS.values()) == set(JobStatus)


def test_the_document_shows_the_table_as_it_is() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    [drawn] = re.findall(r"<!-- drawn: jobs -->\n(.*?)\n<!-- end -->", text, re.DOTALL)
    assert drawn == f"```mermaid\n{jobs_mermaid()}\n```"
    arrows = re.findall(r"^    (\w+) --> (\w+): (.+)$", drawn, re.MULTILINE)
    assert {
        (JobStatus(status), JobCause(cause)): JobStatus(following)
        for status, following, causes in arrows
        for cause in causes.split(", ")
    } == JOB_TRANSITIONS
    for status in JobStatus:
        assert f"- **{status}**:" in text
    for cause in JobCause:
        assert f"`{cause}`" in text


def test_offers_are_tried_four_times_with_the_pauses_that_are_listed() -> None:
    pauses = [after_failure(OFFERS, running(n), ErrorKind.TRANSIENT, NOW) for n in range(1, 5)]
    assert pauses[:3] == [Retry(NOW + s * 1_000_000) for s in (30, 120, 300)]
    assert pauses[3] == DeadLetter("all 4 runs are used up")


def test_pauses_double_up_to_a_cap() -> None:
    policy = RetryPolicy(runs=2000)
    assert [policy.delay_s(1, n) for n in (1, 2, 3, 6, 7, 1999)] == [60, 120, 240, 1920, 3600, 3600]
    assert RetryPolicy().max_runs == 5


@given(job_id=st.integers(1, 2**60), attempt=st.integers(1, 10_000))
def test_jitter_lengthens_a_pause_a_little_and_always_alike(job_id: int, attempt: int) -> None:
    plain = RetryPolicy().delay_s(job_id, attempt)
    pause = DEFAULT_POLICY.delay_s(job_id, attempt)
    assert plain <= pause < 1.1 * plain
    assert pause == DEFAULT_POLICY.delay_s(job_id, attempt)


def test_jitter_spreads_jobs() -> None:
    assert len({DEFAULT_POLICY.delay_s(job_id, 1) for job_id in range(1000)}) > 990


def test_a_mistake_in_the_logic_is_never_retried_and_a_lost_lease_is() -> None:
    assert isinstance(after_failure(OFFERS, running(1), ErrorKind.LOGIC, NOW), DeadLetter)
    assert isinstance(after_failure(OFFERS, running(1), ErrorKind.LOST_LEASE, NOW), Retry)


def test_a_jobs_effect_has_one_name_and_no_other_job_has_it() -> None:
    assert idempotency_key(running(1)) == idempotency_key(running(4))
    assert idempotency_key(running(1)) != idempotency_key(running(1, job_id=2))


def test_a_digest_does_not_mind_the_order_of_keys() -> None:
    assert payload_digest({"a": 1, "b": 2}) == payload_digest({"b": 2, "a": 1})
    assert payload_digest({"a": 1}) != payload_digest({"a": 2})


@pytest.mark.parametrize(
    "wrong",
    [{"type": ""}, {"type": "x" * 201}, {"key": ""}, {"key": "a\x00b"}, {"priority": 101}],
)
def test_a_job_that_could_not_be_kept_is_refused(wrong) -> None:
    given = {"type": "t", "payload": {}, "scheduled_for": 0} | wrong
    with pytest.raises(ValueError, match="a job's"):
        NewJob(**given)
