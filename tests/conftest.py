"""Settings for all tests.

Files that take minutes come first: a run in several processes ends when the last file does.

Hypothesis takes the same examples on every run; with HYPOTHESIS_PROFILE=thorough, many more.
Logging is after each test what it was before, because some commands configure it. Tracebacks in
the log are plain, as in a server: to format one as structlog does by default takes a second.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.postgres"]

# No deadline and no check for slow generation: both depend on how busy the machine is.
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("default", UNTIMED, derandomize=True)
settings.register_profile("thorough", UNTIMED, max_examples=2000, stateful_step_count=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

_plain = structlog.dev.ConsoleRenderer(
    colors=False, exception_formatter=structlog.dev.plain_traceback
)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _plain])

LONG_FILES = (
    "simulation/test_evening.py",
    "simulation/test_weeks.py",
    "simulation/test_year.py",
    "process/test_kill.py",
    # These two need the compiler, which runs beside the tests above.
    "process/test_compiled.py",
    "process/test_binary.py",
    "process/test_jobs_kill.py",
    "process/test_postgres_kill.py",
    "scenarios/test_concurrency.py",
    "actors/test_alarm.py",
    "browser/test_console.py",
    "process/test_nodes.py",
    "process/test_damaged_tables.py",
    "process/test_worker_process.py",
    "edge/test_websocket_conformance.py",
    "store/test_jobs_conformance.py",
    "browser/test_api_reference.py",
    "process/test_demo_command.py",
    "bots/test_crowd.py",
    "scenarios/test_appeals.py",
    "process/test_care.py",
    "process/test_serve.py",
    "scenarios/test_supervision.py",
    "scenarios/test_malformed_rows.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long files first; all else stays in its order."""
    rank = {name: number for number, name in enumerate(LONG_FILES)}

    def position(item: pytest.Item) -> int:
        return rank.get("/".join(item.path.parts[-2:]), len(rank))

    items.sort(key=position)


# Thousands of tests are many objects that stay. There is little garbage while they are collected;
# afterwards they are left out of all garbage collections.
gc.disable()


def pytest_collection_finish() -> None:
    """Collect garbage as a server does (`tune_interpreter`)."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 100, 20)


@pytest.fixture(autouse=True)
def _logging_is_left_as_it_was() -> Iterator[None]:
    before = structlog.get_config()
    yield
    structlog.configure(**before)
