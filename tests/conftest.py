"""Hypothesis: the same examples on every run; with HYPOTHESIS_PROFILE=thorough, many more."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Neither depends on how busy the machine is: no deadline, no complaint about slow generation.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("default", UNTIMED, derandomize=True)
settings.register_profile("thorough", UNTIMED, max_examples=2000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
