"""Sends errors to Sentry, if a DSN is set: a processor of the log (R38).

Every error in the log, and every failed run of a job, becomes a report with the facts of its log
entry: for a job its id, type, payload, attempt and traceback. User ids and addresses are left out,
and so are local variables, because these contain tokens and positions of users. The SDK's
integrations are off: it collects nothing by itself.

The package is optional (`pip install 'yoked-actor[sentry]'`); the one-file binary contains it.
"""

from __future__ import annotations

import atexit
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from structlog.typing import EventDict, Processor, WrappedLogger

from yoked_actor import __version__
from yoked_actor.domain.time import TokenBucket

if TYPE_CHECKING:
    from sentry_sdk import Client

_LEVELS = {"error": "error", "critical": "fatal"}
_ALSO = {"job_failed": "warning"}
_PERSONAL = {"user_id", "peer"}
_NOT_FACTS = {"event", "level", "at", "exc_info", "_record", "_from_structlog"}
_PER_MINUTE = 10
_MOST_NAMES = 100
_LAST_REPORTS_S = 2.0

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


class CannotReport(Exception):
    """A DSN is set, but reports cannot be sent to it."""


def report_errors(dsn: str, **options: Any) -> Processor:
    """A processor of the log that sends errors to `dsn`; `options` go to the SDK."""
    try:
        import sentry_sdk
        from sentry_sdk.utils import BadDsn
    except ImportError:
        raise CannotReport(
            "log.sentry_dsn is set, but the package sentry-sdk is not installed:"
            " pip install 'yoked-actor[sentry]', or leave the DSN empty"
        ) from None
    try:
        # The SDK sends no personal data by default; newer versions warn if that is set explicitly.
        client = sentry_sdk.Client(
            dsn=dsn,
            release=f"yoked-actor@{__version__}",
            include_local_variables=False,
            default_integrations=False,
            auto_enabling_integrations=False,
            **options,
        )
    except BadDsn as error:
        raise CannotReport(f"log.sentry_dsn is not the DSN of a Sentry project: {error}") from None
    atexit.register(client.close, timeout=_LAST_REPORTS_S)
    return _Reporter(client, time.monotonic)


class _Reporter:
    """Reports entries of the log, with a rate limit for each event name."""

    def __init__(self, client: Client, now_s: Callable[[], float]) -> None:
        self._client = client
        self._now_s = now_s
        self._buckets: dict[str, TokenBucket] = {}

    def __call__(self, logger: WrappedLogger, method: str, entry: EventDict) -> EventDict:
        name = str(entry.get("event", ""))
        level = _ALSO.get(name) or _LEVELS.get(entry.get("level", ""))
        if level is not None and self._is_allowed(name):
            self._report(name, level, entry)
        return entry

    def _is_allowed(self, name: str) -> bool:
        now_s = self._now_s()
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= _MOST_NAMES:
                self._buckets.clear()
            bucket = self._buckets[name] = TokenBucket(_PER_MINUTE / 60, _PER_MINUTE, now_s)
        return bucket.take(now_s)

    def _report(self, name: str, level: str, entry: EventDict) -> None:
        from sentry_sdk import Scope
        from sentry_sdk.utils import event_from_exception

        hint: dict[str, Any] = {}
        report: dict[str, Any] = {}
        error = _error_of(entry)
        if error is not None:
            found, hint = event_from_exception(error, client_options=self._client.options)
            report.update(found)
        facts = {k: v for k, v in entry.items() if k not in _NOT_FACTS and k not in _PERSONAL}
        report["level"] = level
        report["logger"] = str(facts.pop("library", "yoked_actor"))
        report["message"] = name
        report["tags"] = {"event": name}
        if "type" in facts:
            report["tags"]["job_type"] = str(facts["type"])
            report["fingerprint"] = [name, str(facts["type"]), _kind_of(facts.get("error"))]
        report["extra"] = facts
        self._client.capture_event(report, hint, Scope())  # type: ignore[arg-type]


def _error_of(entry: EventDict) -> ExcInfo | None:
    given = entry.get("exc_info")
    if given is True:
        given = sys.exc_info()
    if isinstance(given, BaseException):
        return type(given), given, given.__traceback__
    if isinstance(given, tuple) and given[0] is not None:
        return given
    return None


def _kind_of(traceback: object) -> str:
    """The class of an error, from the last line of its traceback, to group reports."""
    lines = str(traceback or "").strip().splitlines()
    return lines[-1].partition(":")[0] if lines else ""
