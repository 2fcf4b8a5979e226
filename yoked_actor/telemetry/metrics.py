"""Every metric of the server, in one place. Each server has a registry of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from yoked_actor import __version__
from yoked_actor.domain.jobs import JobStatus
from yoked_actor.domain.lobby import CancelReason, Changes, MatchStatus, Outcome, Quality
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.ops import Alert, Objective, RecentMinutes
from yoked_actor.domain.time import Instant
from yoked_actor.telemetry.objectives import Objectives

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LATENCIES_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_WAITS_S = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0, 1800.0)
_RUNS_S = (0.001, 0.005, 0.025, 0.1, 0.5, 2.0, 10.0, 30.0, 60.0, 300.0, 900.0)
_LATE_S = (0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 6 * 3600.0)
_MOST_GROUPS = 64
_OTHER_GROUPS = "other"
JOB_RESULTS = ("completed", "failed", "dead_letter", "cancelled", "given_back")
SPIN_RESULTS = ("waiting", "matched", "refused")
_KEPT_COMMITS = 256
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000)


def count_of(metric: Counter | Gauge) -> int:
    """The present value of a metric without labels, or of one that has been given its labels."""
    [family] = metric.collect()
    return int(family.samples[0].value)


class JobMetrics:
    """What is counted and measured of jobs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        r = registry
        self.ended = Counter(
            "yoked_job_runs",
            "Runs of jobs, by how they ended; failed ones are tried again",
            ["type", "result"],
            registry=r,
        )
        self.seconds = Histogram(
            "yoked_job_seconds", "Time of one run", ["type"], buckets=_RUNS_S, registry=r
        )
        claims = Counter(
            "yoked_job_claims",
            "Claims, by what they found: jobs, none, or a busy store",
            ["result"],
            registry=r,
        )
        self.claims_of_some = claims.labels("some")
        self.claims_of_none = claims.labels("none")
        self.claims_refused = claims.labels("busy")
        self.claimed = Counter("yoked_jobs_claimed", "Jobs claimed", registry=r)
        self.races_lost = Counter(
            "yoked_job_races_lost",
            "Jobs that this process expected and another one claimed first",
            registry=r,
        )
        self.failure_ratio = Gauge(
            "yoked_job_failure_ratio",
            "Of the jobs that ended in jobs.alert_window_s: the share of dead letters",
            registry=r,
        )
        self.retry_ratio = Gauge(
            "yoked_job_retry_ratio",
            "Of the runs that ended in jobs.alert_window_s: the share that is tried again",
            registry=r,
        )
        self.leases_lost = Counter(
            "yoked_job_leases_lost", "Runs whose lease was over before they ended", registry=r
        )
        self.rescued = Counter(
            "yoked_jobs_rescued", "Jobs taken over from a worker that was gone", registry=r
        )
        self.overdue = Gauge(
            "yoked_jobs_overdue",
            "Jobs that have been due for longer than jobs.alert_overdue_s",
            registry=r,
        )
        self.due = Gauge("yoked_jobs_due", "Jobs that are due and not yet claimed", registry=r)
        self.held = Gauge("yoked_jobs_held", "Jobs claimed by this process", registry=r)
        self._kept = Gauge(
            "yoked_jobs",
            "Jobs that have not ended well: waiting, running, or buried",
            ["type", "status"],
            registry=r,
        )
        self._counted: set[tuple[str, JobStatus]] = set()
        self.duplicate_offers = Counter(
            "yoked_duplicate_offers", "Second sets of offers for a user and date", registry=r
        )
        sets = Counter(
            "yoked_offer_sets",
            "Sets of offers: stored, or left out because the user had one already",
            ["result"],
            registry=r,
        )
        self._sets_stored = sets.labels("stored")
        self._sets_left_out = sets.labels("left_out")
        self._offers = Counter("yoked_offers", "Offers in the sets that were stored", registry=r)
        alert = Gauge("yoked_alert", "Whether an alert is raised", ["alert"], registry=r)
        self.alerts = {one: alert.labels(one.value) for one in Alert}

    def expect(self, job_type: str) -> None:
        """Name a type, so that its counters are there from the start: a first failure shows."""
        for result in JOB_RESULTS:
            self.ended.labels(job_type, result)

    def show_kept(self, counts: Mapping[tuple[str, JobStatus], int]) -> None:
        """Show how many jobs there are by type and status; those that were shown go to nought."""
        self._counted.update(counts)
        for job_type, status in self._counted:
            self._kept.labels(job_type, status.value).set(counts.get((job_type, status), 0))

    def count_set(self, offers: int | None) -> None:
        """Count a set that was stored, or with None one that was not."""
        if offers is None:
            self._sets_left_out.inc()
        else:
            self._sets_stored.inc()
            self._offers.inc(offers)


class CalendarMetrics:
    """What is counted of the daily runs of zones."""

    def __init__(self, registry: CollectorRegistry) -> None:
        runs = Counter(
            "yoked_zone_runs",
            "Daily runs of zones, by what became of them: started or missed",
            ["status"],
            registry=registry,
        )
        self.started = runs.labels("started")
        self.missed = runs.labels("missed")
        self.late = Histogram(
            "yoked_zone_run_late_seconds",
            "How long after its time a zone's run was started",
            buckets=_LATE_S,
            registry=registry,
        )


class DeskMetrics:
    """What is counted of daily offers as people get and answer them."""

    def __init__(self, registry: CollectorRegistry) -> None:
        delivered = Counter(
            "yoked_offer_sets_delivered",
            "Sets of daily offers that users got, by how: pushed or fetched",
            ["how"],
            registry=registry,
        )
        self.pushed = delivered.labels("pushed")
        self.fetched = delivered.labels("fetched")
        answers = Counter("yoked_offer_answers", "Offers answered", ["answer"], registry=registry)
        self.answers = {name: answers.labels(name) for name in ("accept", "decline")}
        self.connections = Counter(
            "yoked_mutual_accepts", "Pairs of users who accepted each other", registry=registry
        )


class ClockMetrics:
    """What is counted of the system's clock."""

    def __init__(self, registry: CollectorRegistry) -> None:
        steps = Counter(
            "yoked_clock_steps",
            "Steps of the system's clock, by direction",
            ["direction"],
            registry=registry,
        )
        self._forward, self._back = steps.labels("forward"), steps.labels("back")
        self._last = Gauge(
            "yoked_clock_last_step_seconds",
            "Size of the last step of the system's clock; negative when it was set back",
            registry=registry,
        )

    def count(self, seconds: float) -> None:
        """Count a step."""
        (self._forward if seconds > 0 else self._back).inc()
        self._last.set(seconds)


class Metrics:
    """What the server counts and measures."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        r = self.registry
        ProcessCollector(registry=r)
        build = Gauge("yoked_build_info", "1, labelled by the version", ["version"], registry=r)
        build.labels(__version__).set(1)
        spins = Counter("yoked_spins", "Spins, by what they led to", ["result"], registry=r)
        self._spins = {result: spins.labels(result) for result in SPIN_RESULTS}
        self._pairings = Counter(
            "yoked_pairings",
            "Matches made, by policy and by the wider tier of the two; 99 is a forced one",
            ["policy", "tier"],
            registry=r,
        )
        self._waits = Histogram(
            "yoked_wait_seconds",
            "How long each side of a match had waited, by whom they seek and by their tier",
            ["group", "tier"],
            buckets=_WAITS_S,
            registry=r,
        )
        self._groups: set[str] = set()
        outcomes = Counter("yoked_outcomes", "Ballots decided", ["outcome"], registry=r)
        self._outcomes = {outcome: outcomes.labels(outcome.value) for outcome in Outcome}
        cancelled = Counter("yoked_cancellations", "Matches cancelled", ["reason"], registry=r)
        self._cancelled = {reason: cancelled.labels(reason.value) for reason in CancelReason}
        self.liveness_losses = Counter(
            "yoked_liveness_losses", "Users lost because they were silent", registry=r
        )
        self.messages = Counter("yoked_messages", "Messages to the matchmaker", registry=r)
        self.rounds = Counter("yoked_rounds", "Rounds of the matchmaker", registry=r)
        self.round_size = Histogram(
            "yoked_round_messages", "Messages decided in one round", buckets=_SIZES, registry=r
        )
        self.commits = Histogram(
            "yoked_commit_seconds", "Time of one commit", buckets=_LATENCIES_S, registry=r
        )
        self.commit_size = Histogram(
            "yoked_commit_writes", "Writes that shared one commit", buckets=_SIZES, registry=r
        )
        self.commit_failures = Counter(
            "yoked_commit_failures", "Commits that failed and were tried again", registry=r
        )
        self.audit_violations = Counter(
            "yoked_audit_violations", "Impossible states found by the auditor", registry=r
        )
        self._restarts = Counter(
            "yoked_actor_restarts",
            "Failures of actors beside the live loop; each is started again",
            ["actor"],
            registry=r,
        )
        self.restarts = 0
        """The failures of all actors, for the alarm."""
        self.loop_lag = Histogram(
            "yoked_loop_lag_seconds",
            "How much later than due the event loop came back to a task",
            buckets=_LATENCIES_S,
            registry=r,
        )
        self.connections = Gauge("yoked_connections", "Open connections", ["kind"], registry=r)
        self.refused = Counter(
            "yoked_connections_refused", "Connections turned away", ["reason"], registry=r
        )
        self.slow_readers = Counter(
            "yoked_slow_readers", "Connections closed because they did not read", registry=r
        )
        self.silent_peers = Counter(
            "yoked_silent_peers", "Connections closed because no ping was answered", registry=r
        )
        hellos = Counter("yoked_hellos", "Hellos, by what they led to", ["result"], registry=r)
        self._fresh = hellos.labels("fresh")
        self._resumed = hellos.labels("resumed")
        self._too_old = hellos.labels("not_resumed")
        self.jobs = JobMetrics(r)
        self.calendar = CalendarMetrics(r)
        self.desk = DeskMetrics(r)
        self.objectives = Objectives(r)
        self.clock = ClockMetrics(r)
        self.recent = RecentMinutes()
        """The last hour by the minute, for the operator's console."""
        self.last_commits_s: deque[float] = deque(maxlen=_KEPT_COMMITS)
        """How long the last commits took, for the same."""

    def expect(self, policy: str) -> None:
        """Name the policy, so that its tiers are there from the start, at nought."""
        for tier in Tier:
            self._pairings.labels(policy, tier.value)

    def watch(
        self,
        *,
        waiting: Callable[[], float],
        sessions: Callable[[], float],
        mailbox: Callable[[], float],
        writes: Callable[[], float],
        ready: Callable[[], float],
    ) -> None:
        """Say where to read what is not counted but looked at."""
        for name, text, read in (
            ("yoked_waiting_users", "Users who can be paired now", waiting),
            ("yoked_sessions", "Users in memory", sessions),
            ("yoked_mailbox_messages", "Messages not yet decided", mailbox),
            ("yoked_pending_writes", "Writes that wait for their commit", writes),
            ("yoked_ready", "Whether clients are taken and decisions stored", ready),
        ):
            Gauge(name, text, registry=self.registry).set_function(read)

    def count_commit(self, seconds: float, writes: int) -> None:
        """Count a commit, and how many writes shared it."""
        self.commits.observe(seconds)
        self.commit_size.observe(writes)
        self.last_commits_s.append(seconds)

    def count_sockets(self) -> int:
        """How many WebSockets are open."""
        return count_of(self.connections.labels("websocket"))

    def count_round(
        self, messages: int, changes: Changes, waiting: int, now: Instant, now_s: float = 0.0
    ) -> None:
        """Count what a round of the matchmaker has brought about, and who waits after it."""
        self.rounds.inc()
        self.recent.count(changes, waiting, now)
        if messages:
            self.messages.inc(messages)
            self.round_size.observe(messages)
        for quality in changes.quality:
            self._count_match(quality)
        if changes.quality:
            # Both could meet the other since the one who came later was there.
            waits = [min(one.a_wait_s, one.b_wait_s) for one in changes.quality]
            self.objectives.judge(Objective.MATCHES, [*waits, *waits], now_s)
        for match in changes.matches:
            if match.status is MatchStatus.COMPLETED and match.outcome is not None:
                self._outcomes[match.outcome].inc()
            elif match.cancelled_for is not None:
                self._cancelled[match.cancelled_for].inc()

    def expect_actor(self, actor: str) -> None:
        """Name an actor, so that its counter is there from the start."""
        self._restarts.labels(actor)

    def count_restart(self, actor: str) -> None:
        """Count a failure of an actor, which is started again."""
        self._restarts.labels(actor).inc()
        self.restarts += 1

    def count_spins(self, results: Mapping[str, int]) -> None:
        """Count spins by what they led to: one of `SPIN_RESULTS`."""
        for result, count in results.items():
            self._spins[result].inc(count)

    def _count_match(self, quality: Quality) -> None:
        tier = max(quality.a_tier, quality.b_tier)
        self._pairings.labels(quality.policy, tier.value).inc()
        for group, own_tier, wait_s in (
            (quality.a_group, quality.a_tier, quality.a_wait_s),
            (quality.b_group, quality.b_tier, quality.b_wait_s),
        ):
            self._waits.labels(self._group_label(group), own_tier.value).observe(wait_s)

    def _group_label(self, group: str) -> str:
        """The group, or one name for all that come when there are many already."""
        if group not in self._groups:
            if len(self._groups) >= _MOST_GROUPS:
                return _OTHER_GROUPS
            self._groups.add(group)
        return group

    def resumed(self, wanted: bool, done: bool) -> None:
        """Count a hello: one that took up its session, could not, or did not want to."""
        (self._resumed if done else self._too_old if wanted else self._fresh).inc()

    def expose(self) -> bytes:
        """All of it, as Prometheus wants to read it."""
        return generate_latest(self.registry)
