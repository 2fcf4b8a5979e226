from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import structlog

from yoked_actor.telemetry import InfoLine, configure_logging, write_lines
from yoked_actor.telemetry.log import Form, Level


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class BrokenPipe(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def entries(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_entry_is_one_json_object_with_fields_level_and_utc_time() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    structlog.get_logger().info("paired", match_id="m1", km=3)
    [entry] = entries(stream)
    at = datetime.fromisoformat(entry.pop("at"))
    assert entry == {"event": "paired", "match_id": "m1", "km": 3, "level": "info"}
    assert at.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)


def test_entries_below_the_level_are_not_written() -> None:
    stream = io.StringIO()
    configure_logging("warning", "json", stream)
    log = structlog.get_logger()
    log.info("quiet")
    log.warning("loud")
    assert [entry["event"] for entry in entries(stream)] == ["loud"]


def test_auto_is_pretty_on_a_terminal_and_json_elsewhere() -> None:
    file, terminal = io.StringIO(), Terminal()
    configure_logging("info", "auto", file)
    structlog.get_logger().info("started", port=1)
    configure_logging("info", "auto", terminal)
    structlog.get_logger().info("started", port=1)
    assert entries(file)[0]["port"] == 1
    assert "started" in terminal.getvalue()
    assert not terminal.getvalue().startswith("{")


@pytest.mark.parametrize("name", ["hypercorn.error", "websockets.server", "quart.app"])
def test_warnings_of_libraries_have_the_same_format(name: str) -> None:
    stream = io.StringIO()
    configure_logging("debug", "json", stream)
    logging.getLogger(name).info("not this")
    logging.getLogger(name).warning("connection %s failed", 7)
    [entry] = entries(stream)
    assert entry["event"] == "connection 7 failed"
    assert entry["library"] == name
    assert entry["level"] == "warning"
    assert "at" in entry


@pytest.mark.parametrize("form", ["json", "pretty"])
@pytest.mark.parametrize("logger", [structlog.get_logger(), logging.getLogger("quart.app")])
def test_a_traceback_names_the_error_but_shows_no_local_variables(form: Any, logger: Any) -> None:
    stream = io.StringIO()
    configure_logging("info", form, stream)
    token = "very-" + "secret"
    try:
        raise LookupError(len(token))
    except LookupError:
        logger.exception("failed")
    assert "LookupError: 11" in stream.getvalue()
    assert token not in stream.getvalue()


def test_a_closed_pipe_does_not_stop_the_program() -> None:
    configure_logging("info", "json", BrokenPipe())
    structlog.get_logger().error("nobody hears this")
    logging.getLogger("quart.app").error("nor this")


def test_configuring_twice_does_not_write_twice() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    configure_logging("info", "json", stream)
    logging.getLogger("quart.app").warning("once")
    assert len(entries(stream)) == 1


class Noted(InfoLine, frozen=True, kw_only=True, tag="noted"):
    who: str
    how_often: float | None = None


def test_lines_that_are_written_together_are_entries_like_others() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    at = datetime(2026, 1, 1, 8, tzinfo=UTC)
    assert write_lines([Noted(at=at, who="ana"), Noted(at=at, who="ben", how_often=2.5)])
    structlog.get_logger().info("noted", who="ana", how_often=None)
    first, second, single = entries(stream)
    assert first == single | {"at": "2026-01-01T08:00:00Z"}
    assert second["how_often"] == 2.5


@pytest.mark.parametrize(("level", "form"), [("info", "pretty"), ("warning", "json")])
def test_lines_are_left_to_the_logger_where_they_are_readable_or_filtered(
    level: Level, form: Form
) -> None:
    stream = io.StringIO()
    configure_logging(level, form, stream)
    assert not write_lines([Noted(at=datetime.now(UTC), who="ana")])
    assert stream.getvalue() == ""


def test_lines_are_left_to_the_logger_when_another_configuration_is_in_use() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    structlog.reset_defaults()
    assert not write_lines([Noted(at=datetime.now(UTC), who="ana")])
    assert stream.getvalue() == ""
