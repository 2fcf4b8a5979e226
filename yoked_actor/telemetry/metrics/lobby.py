"""Metrics of the lobbies: spins, matches, outcomes, rounds of the matchmakers. All have a `room`.

A room has children of its own (`LobbyCounts`), which are looked up once. They are removed with the
room, so there are never more than those of 1,000 rooms.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from yoked_actor.domain.lobby import (
    CallEnd,
    CancelReason,
    Changes,
    DateEnd,
    MatchStatus,
    Outcome,
    Quality,
)
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.ops import Objective, RecentMinutes
from yoked_actor.domain.time import Instant
from yoked_actor.telemetry.metrics.common import SIZES
from yoked_actor.telemetry.metrics.objectives import Objectives

SPIN_RESULTS: Final = ("waiting", "matched", "refused")
_DATE_ENDS: Final = (DateEnd.ENDED, DateEnd.PARTNER_LOST, DateEnd.TIME_UP)
_WAITS_S: Final = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0, 1800.0)
_MOST_GROUPS: Final = 64
"""How many groups of a room have waits of their own."""
_MOST_GROUPS_OF_ALL: Final = 1024
"""How many groups of all rooms together have them."""
_OTHER_GROUPS: Final = "other"


# A constant is read faster than a member of an enumeration.
_COMPLETED: Final = MatchStatus.COMPLETED


class LobbyMetrics:
    """Counts what the matchmakers decide."""

    def __init__(self, registry: CollectorRegistry, objectives: Objectives) -> None:
        r = registry
        self.objectives = objectives
        self.spins = Counter("yoked_spins", "Spins, by result", ["room", "result"], registry=r)
        self.pairings = Counter(
            "yoked_pairings",
            "Matches made, by policy and by the wider tier of the two; 99 is a forced one",
            ["room", "policy", "tier"],
            registry=r,
        )
        self.waits = Histogram(
            "yoked_wait_seconds",
            "How long each side of a match had waited, by whom they seek and by their tier",
            ["room", "group", "tier"],
            buckets=_WAITS_S,
            registry=r,
        )
        self.outcomes = Counter(
            "yoked_outcomes", "Ballots decided", ["room", "outcome"], registry=r
        )
        self.cancelled = Counter(
            "yoked_cancellations", "Matches cancelled", ["room", "reason"], registry=r
        )
        self.dates = Counter(
            "yoked_dates", "Video dates that ended, by reason", ["room", "reason"], registry=r
        )
        self.calls = Counter(
            "yoked_calls", "Calls that ended, by reason", ["room", "reason"], registry=r
        )
        self.liveness_losses = Counter(
            "yoked_liveness_losses", "Users lost because they were silent", ["room"], registry=r
        )
        self.messages = Counter(
            "yoked_messages", "Messages to the matchmaker", ["room"], registry=r
        )
        self.rounds = Counter("yoked_rounds", "Rounds of the matchmaker", ["room"], registry=r)
        self.round_size = Histogram(
            "yoked_round_messages",
            "Messages decided in one round",
            ["room"],
            buckets=SIZES,
            registry=r,
        )
        self.commit_failures = Counter(
            "yoked_commit_failures", "Rounds whose commit failed", ["room"], registry=r
        )
        self.audit_violations = Counter(
            "yoked_audit_violations", "Impossible states found by the auditor", ["room"], registry=r
        )
        self.recent = RecentMinutes()
        """The last hour by the minute in all rooms, for the operator's console."""
        self.failed_commits = 0
        """The failed commits of all rooms, for alerts."""
        self.violations = 0
        """The violations in all rooms, for alerts."""
        self.groups = 0
        """How many groups of all rooms have waits of their own."""
        self._rooms: dict[str, LobbyCounts] = {}

    def of_room(self, room: str) -> LobbyCounts:
        """The counts of a room; they begin at zero when the room is new."""
        found = self._rooms.get(room)
        if found is None:
            found = self._rooms[room] = LobbyCounts(self, room)
        return found

    def keep_only(self, rooms: Collection[str]) -> None:
        """Remove the counts of all other rooms."""
        for room in [one for one in self._rooms if one not in rooms]:
            self._rooms.pop(room).remove()


class LobbyCounts:
    """Counts what the matchmaker of one room decides."""

    def __init__(self, metrics: LobbyMetrics, room: str) -> None:
        m = metrics
        self._metrics = m
        self._room = room
        self._children: list[tuple[Counter | Histogram, tuple[str, ...]]] = []
        child = self._counter
        self._spins = {result: child(m.spins, result) for result in SPIN_RESULTS}
        self._pairings: dict[tuple[str, Tier], Counter] = {}
        self._groups: set[str] = set()
        self._waits: dict[tuple[str, Tier], Histogram] = {}
        self._outcomes = {outcome: child(m.outcomes, outcome.value) for outcome in Outcome}
        self._cancelled = {reason: child(m.cancelled, reason.value) for reason in CancelReason}
        self._dates = {reason.value: child(m.dates, reason.value) for reason in _DATE_ENDS}
        self._calls = {reason: child(m.calls, reason.value) for reason in CallEnd}
        self._losses = child(m.liveness_losses)
        self._messages = child(m.messages)
        self._rounds = child(m.rounds)
        self._round_size = self._histogram(m.round_size)
        self._failures = child(m.commit_failures)
        self._violations = child(m.audit_violations)

    def remove(self) -> None:
        """Remove them from the metrics. What is counted after that is not shown."""
        for family, labels in self._children:
            family.remove(*labels)
        self._children.clear()
        self._metrics.groups -= len(self._groups)
        self._groups.clear()

    def expect(self, policy: str) -> None:
        """Create the counters of a policy, at zero."""
        for tier in Tier:
            self._pairing_of(policy, tier)

    def count_round(
        self, messages: int, changes: Changes, waiting: int, now: Instant, now_s: float = 0.0
    ) -> None:
        """Count the results of a round, and how many users wait in all rooms after it."""
        self._rounds.inc()
        self._metrics.recent.count(changes, waiting, now)
        if messages:
            self._messages.inc(messages)
            self._round_size.observe(messages)
        if changes.quality:
            self._count_matches(changes.quality)
            # The two could be paired from the moment when the later one came.
            waits = [min(one.a_wait_s, one.b_wait_s) for one in changes.quality]
            self._metrics.objectives.judge(Objective.MATCHES, [*waits, *waits], now_s)
        outcomes: dict[Outcome, int] = {}
        for match in changes.matches:
            if match.status is _COMPLETED and match.outcome is not None:
                outcomes[match.outcome] = outcomes.get(match.outcome, 0) + 1
            elif match.cancelled_for is not None:
                self._cancelled[match.cancelled_for].inc()
        for outcome, count in outcomes.items():
            self._outcomes[outcome].inc(count)
        for date in changes.dates:
            if date.ended_for is not None:
                self._date_of(date.ended_for).inc()

    def count_calls(self, ended: Sequence[CallEnd]) -> None:
        """Count the calls that ended in a round."""
        for reason in ended:
            self._calls[reason].inc()

    def count_spins(self, results: Mapping[str, int]) -> None:
        """Count spins by result, one of `SPIN_RESULTS`."""
        for result, count in results.items():
            self._spins[result].inc(count)

    def count_losses(self, lost: int) -> None:
        """Count users who were silent for too long."""
        self._losses.inc(lost)

    def count_commit_failure(self) -> None:
        """Count a round whose commit failed; it is tried again."""
        self._failures.inc()
        self._metrics.failed_commits += 1

    def count_violations(self, found: int) -> None:
        """Count impossible states that the auditor found."""
        self._violations.inc(found)
        self._metrics.violations += found

    def _counter(self, family: Counter, *values: str) -> Counter:
        self._children.append((family, (self._room, *values)))
        return family.labels(self._room, *values)

    def _histogram(self, family: Histogram, *values: str) -> Histogram:
        self._children.append((family, (self._room, *values)))
        return family.labels(self._room, *values)

    def _date_of(self, reason: str) -> Counter:
        found = self._dates.get(reason)
        if found is None:
            found = self._dates[reason] = self._counter(self._metrics.dates, reason)
        return found

    def _count_matches(self, made: Sequence[Quality]) -> None:
        pairings: dict[tuple[str, Tier], int] = {}
        for one in made:
            key = one.policy, max(one.a_tier, one.b_tier)
            pairings[key] = pairings.get(key, 0) + 1
            self._wait_of(one.a_group, one.a_tier).observe(one.a_wait_s)
            self._wait_of(one.b_group, one.b_tier).observe(one.b_wait_s)
        for (policy, tier), count in pairings.items():
            self._pairing_of(policy, tier).inc(count)

    def _pairing_of(self, policy: str, tier: Tier) -> Counter:
        found = self._pairings.get((policy, tier))
        if found is None:
            found = self._counter(self._metrics.pairings, policy, str(tier.value))
            self._pairings[policy, tier] = found
        return found

    def _wait_of(self, group: str, tier: Tier) -> Histogram:
        """The waits of a group in a tier. Looking up labels takes longer than to observe."""
        found = self._waits.get((group, tier))
        if found is None:
            label = self._group_label(group)
            found = self._waits.get((label, tier))
            if found is None:
                found = self._histogram(self._metrics.waits, label, str(tier.value))
                self._waits[label, tier] = found
        return found

    def _group_label(self, group: str) -> str:
        """The group, or one label for all groups beyond the limits."""
        if group not in self._groups:
            if len(self._groups) >= _MOST_GROUPS or self._metrics.groups >= _MOST_GROUPS_OF_ALL:
                return _OTHER_GROUPS
            self._groups.add(group)
            self._metrics.groups += 1
        return group
