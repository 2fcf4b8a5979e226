"""The HTTP calls for the operator, as rows of the table of calls."""

from __future__ import annotations

from datetime import date

from msgspec.structs import asdict, replace

from yoked_actor.domain.jobs import BulkAction, JobCause, JobStatus
from yoked_actor.domain.lobby import Code, MatchStatus
from yoked_actor.domain.matching import GroupQuality, Percentiles, Tier
from yoked_actor.domain.offers import Finding
from yoked_actor.domain.ops import Alert, Role
from yoked_actor.wire.call import NUMBER, PAGE, Call, Query
from yoked_actor.wire.common import Changed
from yoked_actor.wire.examples import MATCH, moment
from yoked_actor.wire.ops import http

_JOB = http.JobEntry(
    id=12,
    type="offers.zone_run",
    status=JobStatus.DEAD_LETTER,
    attempts=4,
    fence=4,
    priority=-10,
    key="Europe/Berlin:2026-01-01",
    scheduled_for=moment(0),
    created_at=moment(0),
    started_at=moment(1),
    completed_at=moment(2),
    owner=None,
    lease_until=None,
    cancel_asked=False,
    last_error="ValueError: no such zone",
)
_ATTEMPT = http.AttemptEntry(
    4, 4, JobCause.DEAD_LETTERED, "process 7", moment(1), moment(2), "Traceback...\nValueError: ..."
)
_LIMIT = Query(
    "limit",
    {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50},
    "The most to show.",
)
_ZONE = Query("zone", {"type": "string", "minLength": 1}, "The zone.", required=True)
_DATE = Query("date", {"type": "string", "format": "date"}, "The date.", required=True)
_NO_JOB = (Code.FORBIDDEN, Code.NOT_FOUND)
_NO_MOVE = (*_NO_JOB, Code.WRONG_STATE)
_BAD_QUERY = (Code.FORBIDDEN, Code.BAD_REQUEST)

_AUDIT = http.AuditAnswer(
    [http.AuditRow(12, moment(50), "root", "suspend", "mallory", "rude to three people")]
)


ADMIN_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/jobs",
        "Operation",
        "Jobs, the newest first.",
        http.JobsAnswer([_JOB]),
        refusals=_BAD_QUERY,
        query=(
            Query("status", {"enum": [one.value for one in JobStatus]}, "Only in this state."),
            Query("type", {"type": "string"}, "Only of this type."),
            Query(
                "text",
                {"type": "string", "maxLength": 200},
                "Only those whose payload or key contains this text.",
            ),
            Query(
                "dismissed",
                {"type": "boolean", "default": False},
                "Only dead letters that were dismissed, which are left out otherwise.",
            ),
            _LIMIT,
            Query("before", NUMBER, "Only with a lower id, to read on."),
        ),
        needs=Role.VIEWER,
    ),
    Call(
        "GET",
        "/api/admin/jobs/{job_id}",
        "Operation",
        "One job, with its payload and what went wrong.",
        http.JobAnswer(
            **asdict(_JOB),
            payload={"zone": "Europe/Berlin", "date": "2026-01-01"},
            payload_version=1,
            history=[_ATTEMPT],
            answers=[http.AnswerEntry(4, moment(2), 202, "req-7", "taken")],
        ),
        refusals=_NO_JOB,
        needs=Role.VIEWER,
    ),
    Call(
        "POST",
        "/api/admin/jobs/{job_id}/cancel",
        "Operation",
        "Cancel a job that waits or runs.",
        _JOB,
        refusals=_NO_MOVE,
        needs=Role.ADMIN,
    ),
    Call(
        "POST",
        "/api/admin/jobs/{job_id}/requeue",
        "Operation",
        "Let a dead or cancelled job run from the start.",
        _JOB,
        refusals=_NO_MOVE,
        needs=Role.ADMIN,
    ),
    Call(
        "POST",
        "/api/admin/jobs/{job_id}/dismiss",
        "Operation",
        "Leave a dead letter out of lists and alerts; a requeue undoes it.",
        replace(_JOB, dismissal=http.DismissalEntry(moment(3), "root", "the zone is gone")),
        http.DismissBody("the zone is gone"),
        refusals=(*_NO_MOVE, Code.BAD_REQUEST),
        needs=Role.ADMIN,
    ),
    Call(
        "POST",
        "/api/admin/jobs/requeue",
        "Operation",
        "Let all dead letters of a type run from the start.",
        http.RequeueAnswer([12, 13]),
        http.RequeueBody("offers.zone_run"),
        refusals=(Code.FORBIDDEN,),
        needs=Role.ADMIN,
    ),
    Call(
        "POST",
        "/api/admin/jobs/bulk",
        "Operation",
        "Requeue, cancel or dismiss all jobs of a filter, up to `jobs.max_bulk` at once.",
        http.BulkAnswer(12, False),
        http.BulkBody(BulkAction.DISMISS, type="offers.zone_run", reason="the zone is gone"),
        needs=Role.ADMIN,
    ),
    Call(
        "GET",
        "/api/admin/jobs/pauses",
        "Operation",
        "The types of jobs that are paused.",
        http.PausesAnswer(
            [http.PauseEntry("alerts.webhook", moment(0), "root", "the receiver is moved")]
        ),
        needs=Role.VIEWER,
    ),
    Call(
        "POST",
        "/api/admin/jobs/pause",
        "Operation",
        "Let no process claim jobs of a type, until it is resumed. Running jobs go on.",
        Changed(True),
        http.PauseBody("alerts.webhook", "the receiver is moved"),
        refusals=(Code.NOT_FOUND,),
        needs=Role.ADMIN,
    ),
    Call(
        "POST",
        "/api/admin/jobs/resume",
        "Operation",
        "Let jobs of a paused type be claimed again.",
        Changed(True),
        http.ResumeBody("alerts.webhook"),
        needs=Role.ADMIN,
    ),
    Call(
        "GET",
        "/api/admin/alerts",
        "Operation",
        "The alerts that stand now.",
        http.AlertsAnswer([http.AlertEntry(Alert.DEPTH, 1200, 1000, moment(0))]),
        refusals=(Code.FORBIDDEN,),
        needs=Role.VIEWER,
    ),
    Call(
        "POST",
        "/api/admin/drain",
        "Operation",
        "Let the server drain and stop, as SIGTERM does.",
        http.DrainAnswer("draining", 12.0, 2.0),
        status=202,
        refusals=(Code.FORBIDDEN,),
        needs=Role.ADMIN,
    ),
    Call(
        "GET",
        "/api/admin/queue",
        "Operation",
        "How many wait, and who has waited longest.",
        http.QueueAnswer(120, [http.WaitingEntry("ana", 41.5, Tier.FORCED)]),
        refusals=_BAD_QUERY,
        query=(_LIMIT,),
        needs=Role.VIEWER,
    ),
    Call(
        "GET",
        "/api/admin/matches",
        "Operation",
        "Open matches, the newest first.",
        http.MatchesAnswer(
            1,
            [http.MatchEntry(MATCH, ["ana", "ben"], MatchStatus.VOTING, moment(2), moment(13.5))],
        ),
        refusals=_BAD_QUERY,
        query=(_LIMIT,),
        needs=Role.VIEWER,
    ),
    Call(
        "POST",
        "/api/admin/offers/run",
        "Operation",
        "Start a zone's run of a date that was missed; else nothing is done.",
        http.OfferRunAnswer("Europe/Berlin", date(2026, 1, 1), moment(0), "started", True),
        http.OfferRunBody("Europe/Berlin", date(2026, 1, 1)),
        refusals=(*_NO_JOB, Code.WRONG_STATE),
        needs=Role.ADMIN,
    ),
    Call(
        "POST",
        "/api/admin/offers/refreeze",
        "Operation",
        "Freeze a zone's run of a date again; users without a set get one.",
        http.OfferRefreezeAnswer("Europe/Berlin", date(2026, 1, 1), 1400, 1),
        http.OfferRunBody("Europe/Berlin", date(2026, 1, 1)),
        refusals=_NO_JOB,
        needs=Role.ADMIN,
    ),
    Call(
        "GET",
        "/api/admin/offers/verify",
        "Operation",
        "Make a zone's run of a date again, and compare.",
        http.OfferVerifyAnswer(
            "Europe/Berlin",
            date(2026, 1, 1),
            1400,
            True,
            1,
            [Finding("ana", "the run makes another set for this user")],
        ),
        refusals=(*_NO_JOB, Code.BAD_REQUEST),
        query=(_ZONE, _DATE),
        needs=Role.VIEWER,
    ),
)
"""Jobs, offers, users, alerts and drain."""

QUALITY_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/quality",
        "Operation",
        "How long people waited, how wide their limits had to be.",
        http.QualityAnswer(
            moment(0),
            moment(50),
            140,
            True,
            [
                GroupQuality(
                    "woman seeking man",
                    140,
                    Percentiles(0.0, 2.0, 10.0),
                    {Tier.EXACT: 120, Tier.WIDER: 14, Tier.WIDEST: 4, Tier.FORCED: 2},
                    0.25,
                )
            ],
        ),
        refusals=(Code.FORBIDDEN, Code.BAD_REQUEST),
        query=(
            Query(
                "hours",
                {"type": "number", "exclusiveMinimum": 0, "maximum": 744, "default": 24},
                "How far to look back from now.",
            ),
            Query(
                "since",
                {"type": "string", "format": "date-time"},
                "From when on to look instead; 744 hours back at most.",
            ),
        ),
        needs=Role.VIEWER,
    ),
)
"""The quality of matches."""

AUDIT_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/audit",
        "Operation",
        "What operators did, the newest first.",
        _AUDIT,
        refusals=(Code.BAD_REQUEST,),
        query=PAGE,
        needs=Role.VIEWER,
    ),
)
"""The audit log."""

HEALTH_CALLS: tuple[Call, ...] = (
    Call("GET", "/healthz", "Operation", "Is it alive?", http.Health("ok"), token=False),
    Call(
        "GET",
        "/readyz",
        "Operation",
        "Does it take clients? 503 while it drains or cannot store.",
        http.Health("ok"),
        token=False,
    ),
    Call(
        "GET",
        "/metrics",
        "Operation",
        "Prometheus metrics.",
        None,
        media="text/plain",
        token=False,
    ),
)
"""For monitoring."""
