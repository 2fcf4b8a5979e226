"""Metrics of the lobby: spins, matches, outcomes, rounds of the matchmaker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram

from yoked_actor.domain.lobby import CallEnd, CancelReason, Changes, MatchStatus, Outcome, Quality
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.ops import Objective, RecentMinutes
from yoked_actor.domain.time import Instant
from yoked_actor.telemetry.metrics.common import SIZES
from yoked_actor.telemetry.metrics.objectives import Objectives

SPIN_RESULTS = ("waiting", "matched", "refused")
_WAITS_S = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0, 1800.0)
_MOST_GROUPS = 64
_OTHER_GROUPS = "other"


class LobbyMetrics:
    """Counts what the matchmaker decides."""

    def __init__(self, registry: CollectorRegistry, objectives: Objectives) -> None:
        r = registry
        self._objectives = objectives
        spins = Counter("yoked_spins", "Spins, by what they led to", ["result"], registry=r)
        self._spins = {result: spins.labels(result) for result in SPIN_RESULTS}
        self._pairings = Counter(
            "yoked_pairings",
            "Matches made, by policy and by the wider tier of the two; 99 is a forced one",
            ["policy", "tier"],
            registry=r,
        )
        self._room_matches = Counter(
            "yoked_room_matches", "Matches made, by room", ["room"], registry=r
        )
        self._matches_of: dict[str, Counter] = {}
        self._waits = Histogram(
            "yoked_wait_seconds",
            "How long each side of a match had waited, by whom they seek and by their tier",
            ["group", "tier"],
            buckets=_WAITS_S,
            registry=r,
        )
        self._groups: set[str] = set()
        self._wait_of_group: dict[tuple[str, Tier], Histogram] = {}
        outcomes = Counter("yoked_outcomes", "Ballots decided", ["outcome"], registry=r)
        self._outcomes = {outcome: outcomes.labels(outcome.value) for outcome in Outcome}
        cancelled = Counter("yoked_cancellations", "Matches cancelled", ["reason"], registry=r)
        self._cancelled = {reason: cancelled.labels(reason.value) for reason in CancelReason}
        calls = Counter("yoked_calls", "Calls that ended, by reason", ["reason"], registry=r)
        self._calls = {reason: calls.labels(reason.value) for reason in CallEnd}
        self.liveness_losses = Counter(
            "yoked_liveness_losses", "Users lost because they were silent", registry=r
        )
        self.messages = Counter("yoked_messages", "Messages to the matchmaker", registry=r)
        self.rounds = Counter("yoked_rounds", "Rounds of the matchmaker", registry=r)
        self.round_size = Histogram(
            "yoked_round_messages", "Messages decided in one round", buckets=SIZES, registry=r
        )
        self.audit_violations = Counter(
            "yoked_audit_violations", "Impossible states found by the auditor", registry=r
        )
        self.recent = RecentMinutes()
        """The last hour by the minute, for the operator's console."""

    def expect(self, policy: str) -> None:
        """Create the counters of a policy, at zero."""
        for tier in Tier:
            self._pairings.labels(policy, tier.value)

    def count_round(
        self, messages: int, changes: Changes, waiting: int, now: Instant, now_s: float = 0.0
    ) -> None:
        """Count the results of a round of the matchmaker, and how many wait after it."""
        self.rounds.inc()
        self.recent.count(changes, waiting, now)
        if messages:
            self.messages.inc(messages)
            self.round_size.observe(messages)
        if changes.quality:
            self._count_matches(changes.quality)
            found = self._matches_of.get(changes.room)
            if found is None:
                found = self._matches_of[changes.room] = self._room_matches.labels(changes.room)
            found.inc(len(changes.quality))
            # The two could be paired from the moment when the later one came.
            waits = [min(one.a_wait_s, one.b_wait_s) for one in changes.quality]
            self._objectives.judge(Objective.MATCHES, [*waits, *waits], now_s)
        outcomes: dict[Outcome, int] = {}
        for match in changes.matches:
            if match.status is MatchStatus.COMPLETED and match.outcome is not None:
                outcomes[match.outcome] = outcomes.get(match.outcome, 0) + 1
            elif match.cancelled_for is not None:
                self._cancelled[match.cancelled_for].inc()
        for outcome, count in outcomes.items():
            self._outcomes[outcome].inc(count)

    def count_calls(self, ended: Sequence[CallEnd]) -> None:
        """Count the calls that ended in a round."""
        for reason in ended:
            self._calls[reason].inc()

    def count_spins(self, results: Mapping[str, int]) -> None:
        """Count spins by result, one of `SPIN_RESULTS`."""
        for result, count in results.items():
            self._spins[result].inc(count)

    def _count_matches(self, made: Sequence[Quality]) -> None:
        pairings: dict[tuple[str, Tier], int] = {}
        for one in made:
            key = one.policy, max(one.a_tier, one.b_tier)
            pairings[key] = pairings.get(key, 0) + 1
            self._wait_of(one.a_group, one.a_tier).observe(one.a_wait_s)
            self._wait_of(one.b_group, one.b_tier).observe(one.b_wait_s)
        for (policy, tier), count in pairings.items():
            self._pairings.labels(policy, tier.value).inc(count)

    def _wait_of(self, group: str, tier: Tier) -> Histogram:
        """The waits of a group in a tier. Looking up labels takes longer than to observe."""
        found = self._wait_of_group.get((group, tier))
        if found is None:
            label = self._group_label(group)
            found = self._waits.labels(label, tier.value)
            if label == group:
                self._wait_of_group[group, tier] = found
        return found

    def _group_label(self, group: str) -> str:
        """The group, or one label for all groups beyond the limit."""
        if group not in self._groups:
            if len(self._groups) >= _MOST_GROUPS:
                return _OTHER_GROUPS
            self._groups.add(group)
        return group
