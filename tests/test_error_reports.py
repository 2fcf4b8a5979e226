"""Reports to Sentry, with a transport that keeps them in memory."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
import trio
from click.testing import CliRunner
from pydantic import BaseModel
from sentry_sdk.envelope import Envelope
from sentry_sdk.transport import Transport
from trio.testing import wait_all_tasks_blocked

from yoked_actor.actors.jobs import JobRun
from yoked_actor.cli.main import main
from yoked_actor.domain.jobs import NewJob, Transient
from yoked_actor.telemetry import CannotReport, configure_logging, report_errors
from yoked_actor.testing import open_world

DSN = "https://key@sentry.test/1"


class Inbox(Transport):
    """Stores reports instead of sending them."""

    def __init__(self) -> None:
        super().__init__({"dsn": DSN})
        self.reports: list[dict[str, Any]] = []

    def capture_envelope(self, envelope: Envelope) -> None:
        for item in envelope.items:
            # Encoded and decoded, as it would be sent.
            self.reports.append(json.loads(item.payload.get_bytes()))


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    inbox = Inbox()
    configure_logging("info", "json", io.StringIO(), report=report_errors(DSN, transport=inbox))
    yield inbox
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


class Task(BaseModel):
    """Whether the failure is transient."""

    mends: bool


async def _fail(job: JobRun[Task]) -> None:
    secret = "in a local variable"
    if job.payload.mends:
        raise Transient("come back later")
    raise ZeroDivisionError(f"of {len(secret)}")


@pytest.mark.parametrize("mends", [False, True])
async def test_a_failed_job_is_reported_with_its_identity(autojump_clock, inbox, mends):
    async with open_world() as world:
        dispatcher = world.server.base.dispatcher
        dispatcher.register("task", Task, _fail)
        now = world.server.base.clock.now()
        [job] = await dispatcher.enqueue([NewJob("task", {"mends": mends}, now)])
        await wait_all_tasks_blocked()
        await trio.sleep(0.1)
    [report] = [one for one in inbox.reports if one["tags"].get("job_type") == "task"]
    assert report["level"] == ("warning" if mends else "error")
    assert report["message"] == ("job_failed" if mends else "job_dead_letter")
    facts = report["extra"]
    assert (facts["job_id"], facts["type"], facts["attempt"]) == (job.job_id, "task", 1)
    assert json.loads(facts["payload"]) == {"mends": mends}
    assert "Traceback" in facts["error"]
    assert report["fingerprint"][-1].endswith("Transient" if mends else "ZeroDivisionError")
    assert report["release"].startswith("yoked-actor@")
    assert "in a local variable" not in str(report).replace('secret = "in a local variable"', "")


def test_a_crash_is_reported_with_its_traceback_and_no_local_variables(inbox):
    def crash(token: str) -> None:
        raise RuntimeError("it broke")

    try:
        crash("a-signed-" + "token")
    except RuntimeError:
        structlog.get_logger().critical("crashed", exc_info=True)
    [report] = inbox.reports
    assert report["level"] == "fatal"
    [error] = report["exception"]["values"]
    assert (error["type"], error["value"]) == ("RuntimeError", "it broke")
    assert [frame["function"] for frame in error["stacktrace"]["frames"]][-1] == "crash"
    assert all("vars" not in frame for frame in error["stacktrace"]["frames"])
    assert "a-signed-token" not in json.dumps(report)


def test_an_error_that_a_library_logs_is_reported_too(inbox):
    try:
        raise KeyError("gone")
    except KeyError:
        logging.getLogger("quart.app").exception("Exception on request GET /")
    [report] = inbox.reports
    assert report["logger"] == "quart.app"
    assert report["exception"]["values"][0]["type"] == "KeyError"


def test_reports_do_not_contain_personal_data(inbox):
    structlog.get_logger().error("session_failed", user_id="ana@example.org", peer="192.0.2.7")
    [report] = inbox.reports
    assert report["message"] == "session_failed"
    assert "ana@example.org" not in json.dumps(report)
    assert "192.0.2.7" not in json.dumps(report)
    assert "user" not in report
    assert "request" not in report


def test_only_errors_are_reported(inbox):
    log = structlog.get_logger()
    log.info("match_made", match_id="m1")
    log.warning("connection_refused", reason="rate")
    assert inbox.reports == []


def test_many_reports_of_one_error_do_not_suppress_another(inbox):
    for _ in range(1000):
        structlog.get_logger().error("commit_failed", error="disk full")
    structlog.get_logger().error("audit_violation", found=["two matches"])
    assert [one["message"] for one in inbox.reports] == ["commit_failed"] * 10 + ["audit_violation"]


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_a_dsn_without_the_package_is_an_error_at_the_start(monkeypatch, tmp_path, command):
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    told = CliRunner().invoke(
        main, [command, "--data", str(tmp_path)], env={"YOKED_LOG__SENTRY_DSN": DSN}
    )
    assert told.exit_code == 1
    assert "pip install 'yoked-actor[sentry]'" in told.output
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_dsn_is_refused_without_printing_it(tmp_path):
    with pytest.raises(CannotReport, match="is not the DSN of a Sentry project"):
        report_errors("nonsense")
    told = CliRunner().invoke(
        main, ["serve", "--data", str(tmp_path)], env={"YOKED_LOG__SENTRY_DSN": "nonsense-secret"}
    )
    assert told.exit_code == 1
    assert "log.sentry_dsn is not the DSN" in told.output
    assert "nonsense-secret" not in told.output
