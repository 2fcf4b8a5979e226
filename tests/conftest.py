"""Settings for all tests.

Hypothesis takes the same examples on every run; with HYPOTHESIS_PROFILE=thorough, many more.
Logging is after each test what it was before, because some commands configure it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings

# No deadline and no check for slow generation: both depend on how busy the machine is.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("default", UNTIMED, derandomize=True)
settings.register_profile("thorough", UNTIMED, max_examples=2000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def _logging_is_left_as_it_was() -> Iterator[None]:
    before = structlog.get_config()
    yield
    structlog.configure(**before)
