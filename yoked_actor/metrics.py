"""Every metric of the server, in one place. Each server has a registry of its own."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from yoked_actor.domain.ballot import Outcome
from yoked_actor.domain.records import CancelReason, Changes, MatchStatus

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_LATENCIES_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000)


class Metrics:
    """What the server counts and measures."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        r = self.registry
        self.newest_match = 0
        """The number of the newest match that was counted."""
        self.pairings = Counter("yoked_pairings", "Matches made", registry=r)
        outcomes = Counter("yoked_outcomes", "Ballots decided", ["outcome"], registry=r)
        self._outcomes = {outcome: outcomes.labels(outcome.value) for outcome in Outcome}
        cancelled = Counter("yoked_cancellations", "Matches cancelled", ["reason"], registry=r)
        self._cancelled = {reason: cancelled.labels(reason.value) for reason in CancelReason}
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

    def watch(
        self,
        *,
        waiting: Callable[[], float],
        sessions: Callable[[], float],
        mailbox: Callable[[], float],
    ) -> None:
        """Say where to read what is not counted but looked at."""
        for name, text, read in (
            ("yoked_waiting_users", "Users who can be paired now", waiting),
            ("yoked_sessions", "Users in memory", sessions),
            ("yoked_mailbox_messages", "Messages not yet decided", mailbox),
        ):
            Gauge(name, text, registry=self.registry).set_function(read)

    def count_round(self, messages: int, changes: Changes) -> None:
        """Count what a round of the matchmaker has brought about."""
        self.rounds.inc()
        if messages:
            self.messages.inc(messages)
            self.round_size.observe(messages)
        for match in changes.matches:
            # By number, not by time: on a frozen clock many rounds share one instant.
            number = int(match.match_id[1:])
            if number > self.newest_match:
                self.newest_match = number
                self.pairings.inc()
            if match.ended_at is None:
                continue
            if match.status is MatchStatus.COMPLETED and match.outcome is not None:
                self._outcomes[match.outcome].inc()
            elif match.cancelled_for is not None:
                self._cancelled[match.cancelled_for].inc()

    def resumed(self, wanted: bool, done: bool) -> None:
        """Count a hello: one that took up its session, could not, or did not want to."""
        (self._resumed if done else self._too_old if wanted else self._fresh).inc()

    def expose(self) -> bytes:
        """All of it, as Prometheus wants to read it."""
        return generate_latest(self.registry)
