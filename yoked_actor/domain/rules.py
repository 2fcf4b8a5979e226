"""The limits and durations by which the lobby decides, as one frozen value.

The defaults are declared here, once. The settings of `[matching]` have the same names, take their
defaults from here and build the value.
"""

from __future__ import annotations

from typing import Literal

import msgspec

PolicyName = Literal["fair_queue", "weighted"]


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Every limit and duration by which the lobby decides."""

    policy: PolicyName = "fair_queue"
    starvation_after_s: float = 60.0
    tier2_after_s: float = 2.0
    tier2_years: int = 2
    tier2_distance: float = 1.2
    tier3_after_s: float = 10.0
    tier3_years: int = 5
    tier3_distance: float = 1.5
    forced_after_s: float = 10.0
    nudge_every_s: float = 600.0
    nudge_good_for_s: float = 60.0
    liveness_s: float = 10.0
    acknowledge_window_s: float = 5.0
    vote_window_s: float = 10.0
    date_length_s: float = 300.0
    ring_s: float = 15.0
    calls_per_pair: int = 5
    calls_within_s: float = 600.0
    touch_after_s: float = 10.0
    touch_for_s: float = 86_400.0
    resume_grace_s: float = 60.0
    bar_s: float = 60.0
    rematch_after_days: float | None = None
    credit_step: int = 10
    credit_cap: int = 50
    max_blocks: int = 5_000
    max_kept_signals: int = 32
