"""Bodies and answers of the admin API."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal

import msgspec

from yoked_actor.domain.jobs import BulkAction, JobCause, JobStatus
from yoked_actor.domain.lobby import MatchStatus
from yoked_actor.domain.matching import GroupQuality, Tier
from yoked_actor.domain.offers import Finding, ZoneRunStatus
from yoked_actor.domain.ops import Alert
from yoked_actor.wire.common import Words
from yoked_actor.wire.ops.nodes import NodesPart

JobType = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class ProgressEntry(msgspec.Struct, frozen=True):
    """How far a run has come, as its handler says."""

    done: int
    total: int | None
    note: str


class DismissalEntry(msgspec.Struct, frozen=True):
    """Who has dismissed a dead letter, when, and why."""

    at: datetime
    by: str
    reason: str


class JobEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A job. In a list, `last_error` is the last line of it."""

    id: int
    type: str
    status: JobStatus
    attempts: int
    fence: int
    priority: int
    key: str | None
    scheduled_for: datetime
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    owner: str | None
    lease_until: datetime | None
    cancel_asked: bool
    last_error: str | None
    max_attempts: int | None = None
    """The job's own limit, if it has one; otherwise that of its type applies."""
    progress: ProgressEntry | None = None
    dismissal: DismissalEntry | None = None


class JobsAnswer(msgspec.Struct, frozen=True):
    """Jobs, the newest first."""

    jobs: list[JobEntry]


class AttemptEntry(msgspec.Struct, frozen=True):
    """An attempt that did not end well, with its traceback."""

    attempt: int
    fence: int
    cause: JobCause
    owner: str | None
    started_at: datetime | None
    ended_at: datetime
    error: str


class AnswerEntry(msgspec.Struct, frozen=True):
    """What a receiver has answered to a run: the status, its id, and the beginning of the body."""

    fence: int
    at: datetime
    status: int
    receiver_id: str | None
    body: str


class JobAnswer(JobEntry, frozen=True, kw_only=True):
    """All that is known of a job."""

    payload: Any
    """An object; any other value, or text that is not JSON, when the row is damaged."""
    payload_version: int
    history: list[AttemptEntry]
    answers: list[AnswerEntry]


class DismissBody(msgspec.Struct, frozen=True):
    """Why nobody needs to look at a dead letter any more."""

    reason: Words


class RequeueBody(msgspec.Struct, frozen=True):
    """Of which type all dead letters are to run from the start."""

    type: JobType


class RequeueAnswer(msgspec.Struct, frozen=True):
    """The ids of the jobs that are queued again."""

    requeued: list[int]


class BulkBody(msgspec.Struct, frozen=True):
    """What to do to all jobs of a filter. `dismiss` needs a reason."""

    action: BulkAction
    status: JobStatus | None = None
    type: JobType | None = None
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | None = None
    """A text that the payload or the key contains."""
    reason: Words | None = None


class BulkAnswer(msgspec.Struct, frozen=True):
    """How many jobs were changed, and whether there are more: ask again then."""

    changed: int
    more: bool


class PauseBody(msgspec.Struct, frozen=True):
    """Which type of jobs is paused, and why."""

    type: JobType
    reason: Words


class ResumeBody(msgspec.Struct, frozen=True):
    """Which type of jobs is resumed."""

    type: JobType


class PauseEntry(msgspec.Struct, frozen=True):
    """A type of jobs that no process claims."""

    type: str
    at: datetime
    by: str
    reason: str


class PausesAnswer(msgspec.Struct, frozen=True):
    """The types that are paused."""

    pauses: list[PauseEntry]


class AlertEntry(msgspec.Struct, frozen=True):
    """An alert that stands, with its number as last seen.

    One about dead letters names the type of the jobs, the kind of error, how many there were so
    far, and the first job.
    """

    alert: Alert
    value: float
    limit: float
    raised_at: datetime
    job_type: str | msgspec.UnsetType = msgspec.UNSET
    error_kind: str | msgspec.UnsetType = msgspec.UNSET
    count: int | msgspec.UnsetType = msgspec.UNSET
    job_id: int | msgspec.UnsetType = msgspec.UNSET


class AlertsAnswer(msgspec.Struct, frozen=True):
    """The alerts that stand now."""

    alerts: list[AlertEntry]


class DrainAnswer(msgspec.Struct, frozen=True):
    """The server takes its leave: how long it waits for votes at most, and when to come back."""

    status: Literal["draining"]
    votes_s: float
    reconnect_after_s: float


class WaitingEntry(msgspec.Struct, frozen=True):
    """Somebody who waits."""

    user_id: str
    waited_s: float
    tier: Tier


class QueueAnswer(msgspec.Struct, frozen=True):
    """How many can be paired now, and those of them who have waited longest."""

    waiting: int
    longest: list[WaitingEntry]


class MatchEntry(msgspec.Struct, frozen=True):
    """An open match. Votes are sealed, from the operator too."""

    match_id: str
    users: list[str]
    status: MatchStatus
    paired_at: datetime
    closes_at: datetime | None


class MatchesAnswer(msgspec.Struct, frozen=True):
    """How many matches are open, and the newest of them."""

    open: int
    matches: list[MatchEntry]


class OfferRunBody(msgspec.Struct, frozen=True):
    """Which run to start."""

    zone: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    date: date


class OfferRunAnswer(msgspec.Struct, frozen=True):
    """A run, and whether it was started just now; if not, nothing was done."""

    zone: str
    date: date
    scheduled_at: datetime
    status: ZoneRunStatus
    is_new: bool


class OfferRefreezeAnswer(msgspec.Struct, frozen=True):
    """A run that was frozen again: for how many users who have no set yet, and how often by now."""

    zone: str
    date: date
    users: int
    refrozen: int


class OfferVerifyAnswer(msgspec.Struct, frozen=True):
    """What is not as a run made it: nothing, one hopes.

    Not `complete`: what the run was made from was dropped, so sets were only held against their
    digests. `findings` are the first of `found`. `earlier` sets are from before the run was frozen
    again: they stand, and were held against their digests as well.
    """

    zone: str
    date: date
    sets: int
    complete: bool
    found: int
    findings: list[Finding]
    earlier: int = 0


class QualityAnswer(msgspec.Struct, frozen=True):
    """How good the matches of some time were. Not `complete`: there were more, and older ones."""

    since: datetime
    until: datetime
    matches: int
    complete: bool
    groups: list[GroupQuality]


class Health(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether the server is well."""

    status: Literal["ok", "draining", "store_unavailable", "database_lost"]
    degraded: list[str] = []
    """The names of side actors that have failed and are being restarted."""
    nodes: NodesPart | None = None
    """With several nodes: what this one knows of them."""


class AuditRow(msgspec.Struct, frozen=True):
    """Something that an operator did."""

    number: int
    at: datetime
    who: str
    action: str
    subject: str
    detail: str


class AuditAnswer(msgspec.Struct, frozen=True):
    """What operators did, the newest first."""

    entries: list[AuditRow]
