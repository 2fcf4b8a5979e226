"""For the operator: the queue of jobs, and the alerts."""

from __future__ import annotations

from typing import Any

from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.actors.ops import Alarm
from yoked_actor.domain.jobs import ImpossibleJobMove, Job, JobStatus, readable_payload
from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Alert
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.edge.http.app import Doors, Refused, answer, read_body
from yoked_actor.edge.http.parameters import number_of, read_limit, read_number, read_truth
from yoked_actor.store import NoSuchJob
from yoked_actor.wire.ops import http

MOST_REQUEUED = 10_000
_MOST_REPEATED = 40


def add_admin_job_calls(app: QuartTrio, doors: Doors) -> None:
    """`/api/admin/jobs` and `/api/admin/alerts`."""

    @app.get("/api/admin/jobs")
    async def jobs() -> Response:
        await doors.operator()
        status = request.args.get("status")
        if status is not None and status not in set(JobStatus):
            raise Refused(Code.BAD_REQUEST, f"status is one of {', '.join(JobStatus)}")
        found = await doors.store.jobs.list(
            status=None if status is None else JobStatus(status),
            job_type=request.args.get("type"),
            limit=read_limit(),
            before=read_number("before"),
            dismissed=read_truth("dismissed"),
        )
        return answer(http.JobsAnswer([http.JobEntry(**_facts(job, brief=True)) for job in found]))

    @app.get("/api/admin/jobs/<job_id>")
    async def job(job_id: str) -> Response:
        await doors.operator()
        number = _job_id(job_id)
        found = await doors.store.jobs.get(number)
        if found is None:
            raise Refused(Code.NOT_FOUND, f"there is no job {number}")
        history = [
            http.AttemptEntry(
                one.attempt,
                one.fence,
                one.cause,
                one.owner,
                _moment(one.started_at),
                to_datetime(one.ended_at),
                one.error,
            )
            for one in await doors.store.jobs.attempts(number)
        ]
        answers = [
            http.AnswerEntry(one.fence, to_datetime(one.at), one.status, one.receiver_id, one.body)
            for one in await doors.store.jobs.answers(number)
        ]
        return answer(
            http.JobAnswer(
                **_facts(found),
                payload=readable_payload(found),
                payload_version=found.payload_version,
                history=history,
                answers=answers,
            )
        )

    @app.post("/api/admin/jobs/<job_id>/cancel")
    async def cancel(job_id: str) -> Response:
        session = await doors.operator()
        try:
            # By the dispatcher, which also stops a run that is under way here.
            found = await doors.dispatcher.cancel(_job_id(job_id))
        except NoSuchJob as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        except ImpossibleJobMove as error:
            raise Refused(Code.WRONG_STATE, str(error)) from None
        await doors.record(session, "cancel_job", job_id, found.type)
        return answer(http.JobEntry(**_facts(found, brief=True)))

    @app.post("/api/admin/jobs/<job_id>/requeue")
    async def requeue(job_id: str) -> Response:
        session = await doors.operator()
        try:
            found = await doors.store.jobs.requeue(_job_id(job_id), doors.clock.now())
        except NoSuchJob as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        except ImpossibleJobMove as error:
            raise Refused(Code.WRONG_STATE, str(error)) from None
        doors.dispatcher.wake()
        await doors.record(session, "requeue_job", job_id, found.type)
        return answer(http.JobEntry(**_facts(found, brief=True)))

    @app.post("/api/admin/jobs/<job_id>/dismiss")
    async def dismiss(job_id: str) -> Response:
        session = await doors.operator()
        reason = (await read_body(http.DismissBody)).reason
        try:
            found = await doors.store.jobs.dismiss(
                _job_id(job_id), session.user_id, reason, doors.clock.now()
            )
        except NoSuchJob as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        except ImpossibleJobMove as error:
            raise Refused(Code.WRONG_STATE, str(error)) from None
        except ValueError as error:
            raise Refused(Code.BAD_REQUEST, str(error)) from None
        doors.dispatcher.watch.wake()
        return answer(http.JobEntry(**_facts(found, brief=True)))

    @app.post("/api/admin/jobs/requeue")
    async def requeue_dead() -> Response:
        session = await doors.operator()
        body = await read_body(http.RequeueBody)
        ids = await doors.store.jobs.requeue_dead(body.type, doors.clock.now(), MOST_REQUEUED)
        doors.dispatcher.wake()
        if ids:
            await doors.record(session, "requeue_jobs", body.type, f"{len(ids)} dead letters")
        return answer(http.RequeueAnswer(ids))

    @app.get("/api/admin/alerts")
    async def alerts() -> Response:
        await doors.operator()
        return answer(http.AlertsAnswer(alert_entries(doors.alarm)))


def alert_entries(alarm: Alarm) -> list[http.AlertEntry]:
    """The alerts that stand, those about dead letters last."""
    entries = [
        http.AlertEntry(one.alert, one.value, one.limit, to_datetime(one.raised_at))
        for one in alarm.standing.values()
    ]
    for dead in [] if alarm.dead is None else alarm.dead.standing:
        about = (dead.job_type, dead.kind, dead.count, dead.job_id)
        raised_at = to_datetime(dead.raised_at)
        entries.append(http.AlertEntry(Alert.DEAD_LETTER, dead.count, 0.0, raised_at, *about))
    return entries


def _job_id(text: str) -> int:
    number = number_of(text)
    if number is None:
        raise Refused(Code.NOT_FOUND, f"there is no job {text[:_MOST_REPEATED]}")
    return number


def _facts(job: Job, *, brief: bool = False) -> dict[str, Any]:
    error, said, gone = job.last_error, job.progress, job.dismissal
    if brief and error is not None:
        error = (error.strip().splitlines() or [""])[-1]
    return {
        "id": job.id,
        "type": job.type,
        "status": job.status,
        "attempts": job.attempts,
        "fence": job.fence,
        "priority": job.priority,
        "key": job.key,
        "scheduled_for": to_datetime(job.scheduled_for),
        "created_at": to_datetime(job.created_at),
        "started_at": _moment(job.started_at),
        "completed_at": _moment(job.completed_at),
        "owner": job.owner,
        "lease_until": _moment(job.lease_until),
        "cancel_asked": job.cancel_asked,
        "last_error": error,
        "max_attempts": job.max_attempts,
        "progress": said and http.ProgressEntry(said.done, said.total, said.note),
        "dismissal": gone and http.DismissalEntry(to_datetime(gone.at), gone.by, gone.reason),
    }


def _moment(at: Instant | None) -> Any:
    return None if at is None else to_datetime(at)
