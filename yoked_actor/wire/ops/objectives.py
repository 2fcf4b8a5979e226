"""Answers and calls about objectives."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Objective, Role
from yoked_actor.wire.call import Call


class WindowEntry(msgspec.Struct, frozen=True):
    """How an objective was kept in the last `window_s`, as far as this process has run.

    `burn` is how many times as fast as allowed the budget of bad events is used up.
    """

    window_s: float
    good: int
    bad: int
    ratio: float | None
    burn: float


class ObjectiveEntry(msgspec.Struct, frozen=True):
    """An objective: which share of events has to be good, and within which time an event is."""

    objective: Objective
    target: float
    limit_s: float
    windows: list[WindowEntry]


class ObjectivesAnswer(msgspec.Struct, frozen=True):
    """Every objective."""

    objectives: list[ObjectiveEntry]


OBJECTIVE_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/objectives",
        "Operation",
        "What the service promises, and how it keeps that.",
        ObjectivesAnswer(
            [
                ObjectiveEntry(
                    Objective.VOTES, 0.99, 0.1, [WindowEntry(3600.0, 1990, 10, 0.995, 0.5)]
                )
            ]
        ),
        refusals=(Code.FORBIDDEN,),
        needs=Role.VIEWER,
    ),
)
"""The calls about objectives."""
