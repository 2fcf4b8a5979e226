"""Configures logging: one stream and one format, for our modules and for libraries.

Our modules log with `structlog.get_logger()`: the name of an event, and its facts as keywords.
Libraries use the standard `logging`; their warnings and errors pass through the same processors.
Tracebacks show no local variables, because these contain tokens and positions of users.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple, TextIO

import msgspec
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

Level = Literal["debug", "info", "warning", "error"]
Form = Literal["auto", "pretty", "json"]

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def configure_logging(
    level: Level = "info",
    form: Form = "auto",
    stream: TextIO | None = None,
    *,
    report: Processor | None = None,
) -> None:
    """Write entries of `level` and above to `stream` (standard error), as JSON lines or readable.

    `report` gets every entry, too: see `error_reports`.
    """
    target = sys.stderr if stream is None else stream
    pretty = target.isatty() if form == "auto" else form == "pretty"
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]
    reading: list[Processor] = [] if report is None else [report]
    last = _pretty(target) if pretty else _json()
    sink = _Sink(target)
    factory = structlog.WriteLoggerFactory(sink)  # type: ignore[arg-type]
    structlog.configure(
        processors=[*shared, *reading, *last],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=factory,
        # A cached logger would keep the configuration of its first use.
        cache_logger_on_first_use=False,
    )
    global _bulk
    # Reports are made of errors and of failed jobs only, so `report` needs no `info` line.
    is_bulk = not pretty and LEVELS[level] <= logging.INFO
    _bulk = _Bulk(sink, factory) if is_bulk else None
    _route_standard_logging(level, [*shared, _add_library, *reading], last, sink)


def _pretty(target: TextIO) -> list[Processor]:
    return [
        structlog.dev.ConsoleRenderer(
            colors=target.isatty() and "NO_COLOR" not in os.environ,
            timestamp_key="at",
            exception_formatter=structlog.dev.plain_traceback,
        )
    ]


def _json() -> list[Processor]:
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]


def _route_standard_logging(
    level: Level, shared: list[Processor], last: list[Processor], sink: _Sink
) -> None:
    handler = logging.StreamHandler(sink)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    # Libraries log too much below warnings: at debug, a line per frame.
    root.setLevel(max(LEVELS[level], logging.WARNING))


def _add_library(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """Add the name of the library's logger."""
    event["library"] = event["_record"].name
    return event


class InfoLine(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="event"):
    """An entry of level `info` whose facts are fields: a struct for each event (`tag` names it).

    Many of them are rendered at once, in a fraction of the time that single entries take.
    """

    at: datetime
    level: str = "info"


def write_lines(lines: Sequence[InfoLine]) -> bool:
    """Write entries together; False if the configuration needs them one by one: do that then."""
    if _bulk is None or structlog.get_config()["logger_factory"] is not _bulk.factory:
        return False
    _bulk.sink.write(_encode_lines(lines).decode())
    _bulk.sink.flush()
    return True


class _Bulk(NamedTuple):
    """Where JSON lines go, and the configuration for which that is true."""

    sink: _Sink
    factory: object


_bulk: _Bulk | None = None
_encode_lines = msgspec.json.Encoder().encode_lines


class _Sink:
    """A stream whose reader may disappear: entries are then lost, without an error."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except (OSError, ValueError):  # a broken pipe, a full disk; a closed file
            return 0

    def flush(self) -> None:
        try:
            self._stream.flush()
        except (OSError, ValueError):
            pass
