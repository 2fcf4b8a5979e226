"""The HTTP calls for the operator, as rows of the table of calls."""

from __future__ import annotations

from datetime import date

from msgspec.structs import asdict, replace

from yoked_actor.domain.jobs import JobCause, JobStatus
from yoked_actor.domain.lobby import Code, MatchStatus, State
from yoked_actor.domain.matching import GroupQuality, Percentiles, Tier
from yoked_actor.domain.offers import Finding
from yoked_actor.domain.ops import Alert
from yoked_actor.wire.call import NUMBER, PAGE, Call, Query
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
        "For the operator: jobs, the newest first.",
        http.JobsAnswer([_JOB]),
        refusals=_BAD_QUERY,
        query=(
            Query("status", {"enum": [one.value for one in JobStatus]}, "Only in this state."),
            Query("type", {"type": "string"}, "Only of this type."),
            Query(
                "dismissed",
                {"type": "boolean", "default": False},
                "Only dead letters that were dismissed, which are left out otherwise.",
            ),
            _LIMIT,
            Query("before", NUMBER, "Only with a lower id, to read on."),
        ),
    ),
    Call(
        "GET",
        "/api/admin/jobs/{job_id}",
        "Operation",
        "For the operator: one job, with its payload and what went wrong.",
        http.JobAnswer(
            **asdict(_JOB),
            payload={"zone": "Europe/Berlin", "date": "2026-01-01"},
            payload_version=1,
            history=[_ATTEMPT],
            answers=[http.AnswerEntry(4, moment(2), 202, "req-7", "taken")],
        ),
        refusals=_NO_JOB,
    ),
    Call(
        "POST",
        "/api/admin/jobs/{job_id}/cancel",
        "Operation",
        "For the operator: cancel a job that waits or runs.",
        _JOB,
        refusals=_NO_MOVE,
    ),
    Call(
        "POST",
        "/api/admin/jobs/{job_id}/requeue",
        "Operation",
        "For the operator: let a dead or cancelled job run from the start.",
        _JOB,
        refusals=_NO_MOVE,
    ),
    Call(
        "POST",
        "/api/admin/jobs/{job_id}/dismiss",
        "Operation",
        "For the operator: leave a dead letter out of lists and alerts; a requeue undoes it.",
        replace(_JOB, dismissal=http.DismissalEntry(moment(3), "root", "the zone is gone")),
        http.DismissBody("the zone is gone"),
        refusals=(*_NO_MOVE, Code.BAD_REQUEST),
    ),
    Call(
        "POST",
        "/api/admin/jobs/requeue",
        "Operation",
        "For the operator: let all dead letters of a type run from the start.",
        http.RequeueAnswer([12, 13]),
        http.RequeueBody("offers.zone_run"),
        refusals=(Code.FORBIDDEN,),
    ),
    Call(
        "GET",
        "/api/admin/alerts",
        "Operation",
        "For the operator: the alerts that stand now.",
        http.AlertsAnswer([http.AlertEntry(Alert.DEPTH, 1200, 1000, moment(0))]),
        refusals=(Code.FORBIDDEN,),
    ),
    Call(
        "POST",
        "/api/admin/drain",
        "Operation",
        "For the operator: let the server drain and stop, as SIGTERM does.",
        http.DrainAnswer("draining", 12.0, 2.0),
        status=202,
        refusals=(Code.FORBIDDEN,),
    ),
    Call(
        "GET",
        "/api/admin/queue",
        "Operation",
        "For the operator: how many wait, and who has waited longest.",
        http.QueueAnswer(120, [http.WaitingEntry("ana", 41.5, Tier.FORCED)]),
        refusals=_BAD_QUERY,
        query=(_LIMIT,),
    ),
    Call(
        "GET",
        "/api/admin/users/{user_id}",
        "Operation",
        "For the operator: where a user stands.",
        http.UserAnswer(
            user_id="ana",
            in_memory=True,
            connected=True,
            online=True,
            display_name="Ana",
            age=27,
            gender="woman",
            time_zone="Europe/Berlin",
            state=State.WAITING,
            credit=10,
            waiting_since=moment(0),
            match_id=None,
            date_id=None,
            last_match_id=MATCH,
            blocks=0,
        ),
        refusals=_NO_JOB,
    ),
    Call(
        "GET",
        "/api/admin/matches",
        "Operation",
        "For the operator: open matches, the newest first.",
        http.MatchesAnswer(
            1,
            [http.MatchEntry(MATCH, ["ana", "ben"], MatchStatus.VOTING, moment(2), moment(13.5))],
        ),
        refusals=_BAD_QUERY,
        query=(_LIMIT,),
    ),
    Call(
        "POST",
        "/api/admin/offers/run",
        "Operation",
        "For the operator: start a zone's run of a date that was missed; else nothing is done.",
        http.OfferRunAnswer("Europe/Berlin", date(2026, 1, 1), moment(0), "started", True),
        http.OfferRunBody("Europe/Berlin", date(2026, 1, 1)),
        refusals=(*_NO_JOB, Code.WRONG_STATE),
    ),
    Call(
        "POST",
        "/api/admin/offers/refreeze",
        "Operation",
        "For the operator: freeze a zone's run of a date again; users without a set get one.",
        http.OfferRefreezeAnswer("Europe/Berlin", date(2026, 1, 1), 1400, 1),
        http.OfferRunBody("Europe/Berlin", date(2026, 1, 1)),
        refusals=_NO_JOB,
    ),
    Call(
        "GET",
        "/api/admin/offers/verify",
        "Operation",
        "For the operator: make a zone's run of a date again, and compare.",
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
    ),
)
"""Jobs, offers, users, alerts and drain."""

QUALITY_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/quality",
        "Operation",
        "For the operator: how long people waited, how wide their limits had to be.",
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
    ),
)
"""The quality of matches."""

AUDIT_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/audit",
        "Operation",
        "For the operator: what operators did, the newest first.",
        _AUDIT,
        refusals=(Code.BAD_REQUEST,),
        query=PAGE,
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
