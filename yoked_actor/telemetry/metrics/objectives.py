"""Counts the events of service level objectives, as metrics and for the console."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge

from yoked_actor.domain.ops import EventCounts, Goal, Objective, Tally
from yoked_actor.settings import ObjectiveSettings


class Objectives:
    """The events of this process, by objective."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._settings = ObjectiveSettings()
        events = Counter(
            "yoked_objective_events",
            "Events that an objective is about, by whether they were good",
            ["objective", "result"],
            registry=registry,
        )
        self._good = {one: events.labels(one.value, "good") for one in Objective}
        self._bad = {one: events.labels(one.value, "bad") for one in Objective}
        target = Gauge(
            "yoked_objective_target",
            "The share of its events that has to be good",
            ["objective"],
            registry=registry,
        )
        for one in Objective:
            target.labels(one.value).set_function(partial(self._target, one))
        self._tallies = {one: Tally() for one in Objective}

    def use(self, settings: ObjectiveSettings) -> None:
        """Use these settings from now on; a reload of them has an effect."""
        self._settings = settings

    def goal(self, objective: Objective) -> Goal:
        """The goal of an objective."""
        return self._settings.goal(objective)

    def _target(self, objective: Objective) -> float:
        return self.goal(objective).target

    def judge(self, objective: Objective, seconds: Iterable[float], now_s: float) -> None:
        """Count events by their durations: those within the objective's limit are good."""
        limit_s = self.goal(objective).limit_s
        taken = list(seconds)
        good = sum(one <= limit_s for one in taken)
        self.count(objective, good, len(taken) - good, now_s)

    def count(self, objective: Objective, good: int, bad: int, now_s: float) -> None:
        """Count good and bad events."""
        if good:
            self._good[objective].inc(good)
        if bad:
            self._bad[objective].inc(bad)
        if good or bad:
            self._tallies[objective].count(good, bad, now_s)

    def since(self, objective: Objective, window_s: float, now_s: float) -> EventCounts:
        """The events of an objective in a window that ends now."""
        return self._tallies[objective].since(window_s, now_s)
