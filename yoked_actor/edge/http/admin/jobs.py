"""The job queue and the alerts, for operators."""

from __future__ import annotations

from typing import Any

from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.actors.jobs import Dispatcher
from yoked_actor.actors.ops import Alarm, alert_entries
from yoked_actor.domain.jobs import (
    BulkAction,
    ImpossibleJobMove,
    Job,
    JobFilter,
    JobStatus,
    Pause,
    readable_payload,
)
from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Role
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.http.parameters import (
    number_of,
    read_limit,
    read_number,
    read_text,
    read_truth,
)
from yoked_actor.store import NoSuchJob
from yoked_actor.wire.common import Changed
from yoked_actor.wire.ops import http

MOST_REQUEUED = 10_000
_MOST_REPEATED = 40


def add_admin_job_calls(app: QuartTrio, api: Api, dispatcher: Dispatcher, alarm: Alarm) -> None:
    """`/api/admin/jobs` and `/api/admin/alerts`."""

    @app.get("/api/admin/jobs")
    async def jobs() -> Response:
        await api.operator(Role.VIEWER)
        status = request.args.get("status")
        if status is not None and status not in set(JobStatus):
            raise Refused(Code.BAD_REQUEST, f"status is one of {', '.join(JobStatus)}")
        found = await api.store.jobs.list(
            status=None if status is None else JobStatus(status),
            job_type=request.args.get("type"),
            limit=read_limit(),
            before=read_number("before"),
            dismissed=read_truth("dismissed"),
            text=read_text("text", 200) or None,
        )
        return answer(http.JobsAnswer([http.JobEntry(**_facts(job, brief=True)) for job in found]))

    @app.get("/api/admin/jobs/<job_id>")
    async def job(job_id: str) -> Response:
        await api.operator(Role.VIEWER)
        number = _job_id(job_id)
        found = await api.store.jobs.get(number)
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
            for one in await api.store.jobs.attempts(number)
        ]
        answers = [
            http.AnswerEntry(one.fence, to_datetime(one.at), one.status, one.receiver_id, one.body)
            for one in await api.store.jobs.answers(number)
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
        session = await api.operator(Role.ADMIN)
        try:
            # Through the dispatcher, which also stops a run in this process.
            found = await dispatcher.cancel(_job_id(job_id))
        except NoSuchJob as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        except ImpossibleJobMove as error:
            raise Refused(Code.WRONG_STATE, str(error)) from None
        await api.record(session, "cancel_job", job_id, found.type)
        return answer(http.JobEntry(**_facts(found, brief=True)))

    @app.post("/api/admin/jobs/<job_id>/requeue")
    async def requeue(job_id: str) -> Response:
        session = await api.operator(Role.ADMIN)
        try:
            found = await api.store.jobs.requeue(_job_id(job_id), api.clock.now())
        except NoSuchJob as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        except ImpossibleJobMove as error:
            raise Refused(Code.WRONG_STATE, str(error)) from None
        dispatcher.wake()
        await api.record(session, "requeue_job", job_id, found.type)
        return answer(http.JobEntry(**_facts(found, brief=True)))

    @app.post("/api/admin/jobs/<job_id>/dismiss")
    async def dismiss(job_id: str) -> Response:
        session = await api.operator(Role.ADMIN)
        reason = (await read_body(http.DismissBody)).reason
        try:
            found = await api.store.jobs.dismiss(
                _job_id(job_id), session.user_id, reason, api.clock.now()
            )
        except NoSuchJob as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        except ImpossibleJobMove as error:
            raise Refused(Code.WRONG_STATE, str(error)) from None
        except ValueError as error:
            raise Refused(Code.BAD_REQUEST, str(error)) from None
        dispatcher.watch.wake()
        return answer(http.JobEntry(**_facts(found, brief=True)))

    @app.post("/api/admin/jobs/requeue")
    async def requeue_dead() -> Response:
        session = await api.operator(Role.ADMIN)
        body = await read_body(http.RequeueBody)
        ids = await api.store.jobs.requeue_dead(body.type, api.clock.now(), MOST_REQUEUED)
        dispatcher.wake()
        if ids:
            await api.record(session, "requeue_jobs", body.type, f"{len(ids)} dead letters")
        return answer(http.RequeueAnswer(ids))

    @app.post("/api/admin/jobs/bulk")
    async def bulk() -> Response:
        session = await api.operator(Role.ADMIN)
        body = await read_body(http.BulkBody)
        if body.action is BulkAction.DISMISS and body.reason is None:
            raise Refused(Code.BAD_REQUEST, "dismiss needs a reason")
        wanted = JobFilter(body.status, body.type, body.text)
        try:
            ids, more = await api.store.jobs.change(
                body.action,
                wanted,
                session.user_id,
                body.reason or "",
                api.clock.now(),
                api.settings.jobs.max_bulk,
            )
        except ValueError as error:
            raise Refused(Code.BAD_REQUEST, str(error)) from None
        dispatcher.wake()
        dispatcher.watch.wake()
        return answer(http.BulkAnswer(len(ids), more))

    @app.get("/api/admin/jobs/pauses")
    async def pauses() -> Response:
        await api.operator(Role.VIEWER)
        found = await api.store.jobs.pauses()
        entries = [
            http.PauseEntry(one.job_type, to_datetime(one.at), one.by, one.reason) for one in found
        ]
        return answer(http.PausesAnswer(entries))

    @app.post("/api/admin/jobs/pause")
    async def pause() -> Response:
        session = await api.operator(Role.ADMIN)
        body = await read_body(http.PauseBody)
        if body.type not in dispatcher.types:
            raise Refused(Code.NOT_FOUND, f"there is no type of jobs {body.type[:_MOST_REPEATED]}")
        asked = Pause(body.type, api.clock.now(), session.user_id, body.reason)
        return answer(Changed(await api.store.jobs.pause(asked)))

    @app.post("/api/admin/jobs/resume")
    async def resume() -> Response:
        session = await api.operator(Role.ADMIN)
        body = await read_body(http.ResumeBody)
        changed = await api.store.jobs.resume(body.type, session.user_id, api.clock.now())
        dispatcher.wake()
        return answer(Changed(changed))

    @app.get("/api/admin/alerts")
    async def alerts() -> Response:
        await api.operator(Role.VIEWER)
        return answer(http.AlertsAnswer(alert_entries(alarm)))


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
