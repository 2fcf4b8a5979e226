"""The alarm on a mock clock: every number driven past its limit and back, and what is reported.

The receiver of the webhook is a small HTTP server on memory streams; the queue, the store and the
jobs are the real ones.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import structlog
import trio
from pydantic import BaseModel
from trio.testing import MockClock

from tests.actors.receiver import SECRET, URL, Receiver
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, JobRun
from yoked_actor.actors.ops import Alarm, free_share_of
from yoked_actor.domain.jobs import JobStatus, NewJob, Transient
from yoked_actor.domain.ops import Alert, AlertChange
from yoked_actor.domain.time import Instant, from_datetime
from yoked_actor.edge.outgoing import Webhook
from yoked_actor.settings import Settings, load_settings
from yoked_actor.store import Alerts, InlineRunner, Store, StoreUnavailable, open_store
from yoked_actor.telemetry import Metrics
from yoked_actor.testing.world import FakeWall

DAY_S = 86_400.0


class Task(BaseModel):
    """How a job of these tests ends, and when."""

    seconds: float = 0.0
    fails: bool = False
    gives_up: bool = False


class House:
    """An alarm with all its sources, which a test can change."""

    def __init__(self, store: Store, clock: Clock, settings: Settings, receiver: Receiver):
        self.store = store
        self.clock = clock
        self.receiver = receiver
        self.metrics = Metrics()
        self.lag_s = 0.0
        self.free_share: float | None = 0.5
        self.lost_files: str | None = None
        self.dispatcher = Dispatcher(store.jobs, clock, settings, self.metrics, threads=False)
        self.dispatcher.register("task", Task, self._run)
        Webhook(settings.alerts, store.jobs, clock, receiver).register(self.dispatcher)
        self.alarm = Alarm(
            self.dispatcher.watch,
            clock,
            settings,
            self.metrics,
            alerts=store.alerts,
            enqueued=self.dispatcher.wake,
            loop_lag_s=lambda: self.lag_s,
            free_share=lambda: self.free_share,
            lost_files=lambda: self.lost_files,
            is_restless=True,
        )

    async def _run(self, run: JobRun[Task]) -> None:
        await trio.sleep(run.payload.seconds)
        if run.payload.fails:
            raise ValueError("a bug")
        if run.payload.gives_up:
            raise Transient("the weather")

    async def add(self, count: int = 1, max_attempts: int | None = None, **payload: Any) -> None:
        now = self.clock.now()
        jobs = [NewJob("task", payload, now, max_attempts=max_attempts) for _ in range(count)]
        await self.dispatcher.enqueue(jobs)

    def told_of_dead_letters(self) -> list[tuple[str, str, int, int]]:
        """State, kind of error, count and first job of what the receiver was told."""
        return [
            (news["state"], news["error_kind"], news["count"], news["job_id"])
            for news in self.receiver.news()
            if news["alert"] == "dead_letter"
        ]

    # What drives each number past its limit, and back

    async def too_many_failures(self) -> None:
        await self.add(fails=True)

    async def too_slow(self) -> None:
        await self.add(seconds=301)

    async def too_deep(self) -> None:
        await self.add(4000, seconds=150)

    async def offered_twice(self) -> None:
        self.metrics.sets.duplicate_offers.inc()

    async def lagging(self) -> None:
        self.lag_s = 0.4

    async def failing_commits(self) -> None:
        for _ in range(6):
            self.metrics.lobby.of_room("main").count_commit_failure()

    async def impossible(self) -> None:
        self.metrics.lobby.of_room("main").count_violations(1)

    async def failing_actors(self) -> None:
        self.metrics.actors.count_restart("calendar")

    async def full(self) -> None:
        self.free_share = 0.01

    async def database_gone(self) -> None:
        self.lost_files = "it was deleted"

    async def back_to_normal(self) -> None:
        self.lag_s, self.free_share, self.lost_files = 0.0, 0.5, None


@asynccontextmanager
async def open_house(
    receiver: Receiver | None = None, path: Path | None = None, **alerts: object
) -> AsyncIterator[House]:
    given = {"webhook_url": URL, "webhook_secret": SECRET, **alerts}
    settings = load_settings(None, {}, {"alerts": given, "jobs": {"concurrency": 500}})
    async with open_store(path, runner=InlineRunner()) as store:
        clock = Clock.starting(datetime(2026, 1, 1, 8, tzinfo=UTC))
        house = House(store, clock, settings, receiver or Receiver())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.dispatcher.run)
            nursery.start_soon(house.alarm.run)
            yield house
            nursery.cancel_scope.cancel()


def gauge(house: House, alert: Alert) -> float | None:
    return house.metrics.registry.get_sample_value("yoked_alert", {"alert": alert.value})


ALL = [
    (Alert.FAILURE_RATE, House.too_many_failures),
    (Alert.DURATION, House.too_slow),
    (Alert.DEPTH, House.too_deep),
    (Alert.DUPLICATES, House.offered_twice),
    (Alert.LOOP_LAG, House.lagging),
    (Alert.COMMIT_FAILURES, House.failing_commits),
    (Alert.AUDIT_VIOLATIONS, House.impossible),
    (Alert.ACTOR_RESTARTS, House.failing_actors),
    (Alert.DATABASE_LOST, House.database_gone),
    (Alert.DISK, House.full),
]


def test_there_is_a_test_for_every_alert() -> None:
    assert [*(alert for alert, _ in ALL), Alert.DEAD_LETTER] == list(Alert)


@pytest.mark.parametrize(("alert", "drive"), ALL)
async def test_an_alert_past_its_limit_and_back_is_raised_once_and_cleared_once(
    autojump_clock: MockClock, alert, drive
) -> None:
    with structlog.testing.capture_logs() as logs:
        async with open_house() as house:
            await trio.sleep(60)
            assert house.alarm.standing == {}
            await drive(house)
            await trio.sleep(330)
            if alert is not Alert.DEPTH:  # That queue has gone by itself.
                assert list(house.alarm.standing) == [alert]
                assert gauge(house, alert) == 1
            await house.back_to_normal()
            await trio.sleep(2 * 3600)
            assert house.alarm.standing == {}
            assert gauge(house, alert) == 0
    said = [
        (line["event"], line["alert"])
        for line in logs
        if line["event"].startswith("alert_") and line["alert"] != "dead_letter"
    ]
    assert said == [("alert_raised", alert.value), ("alert_cleared", alert.value)]
    told = [news for news in house.receiver.news() if news["alert"] != "dead_letter"]
    raised, cleared = told
    assert (raised["alert"], raised["state"]) == (alert.value, "raised")
    assert (cleared["alert"], cleared["state"]) == (alert.value, "cleared")
    assert raised["at"] == raised["raised_at"] == cleared["raised_at"] < cleared["at"]
    assert raised["limit"] == cleared["limit"]
    is_past = raised["value"] < raised["limit"] if alert is Alert.DISK else None
    assert raised["value"] > raised["limit"] if is_past is None else is_past


async def test_the_webhook_request_is_signed_and_has_an_id(autojump_clock: MockClock) -> None:
    async with open_house() as house:
        await trio.sleep(1)
        await house.full()
        await trio.sleep(30)
    [request] = house.receiver.requests
    expected = hmac.new(SECRET.encode(), request.body, hashlib.sha256).hexdigest()
    assert request.headers["x-yoked-signature"] == f"sha256={expected}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["x-yoked-event"] == request.json()["event"]
    assert (request.method, request.target) == ("POST", "/hooks/yoked?to=ops")
    assert request.json() == {
        "event": request.headers["x-yoked-event"],
        "alert": "disk_nearly_full",
        "state": "raised",
        "value": 0.01,
        "limit": 0.05,
        "at": "2026-01-01T08:00:15Z",
        "raised_at": "2026-01-01T08:00:15Z",
    }


@pytest.mark.parametrize("trouble", ["refuses", "is_silent", "fails", "redirects", "babbles"])
async def test_a_receiver_that_is_down_for_a_while_gets_one_raise_and_one_clear(
    autojump_clock: MockClock, trouble: str
) -> None:
    receiver = Receiver(trouble)
    async with open_house(receiver) as house:
        await house.full()
        await trio.sleep(300)
        await house.back_to_normal()
        await trio.sleep(4 * 3600)
        assert receiver.news() == []
        receiver.trouble = None
        await trio.sleep(700)
        assert sorted(news["state"] for news in receiver.news()) == ["cleared", "raised"]
        assert len({news["event"] for news in receiver.news()}) == 2
        # Every attempt at one event had the same name and the same bytes.
        assert len({(r.headers["x-yoked-event"], r.body) for r in receiver.requests}) <= 2
        await trio.sleep(DAY_S)
        assert len(receiver.news()) == 2


async def test_a_receiver_that_never_answers_is_given_up_after_a_day(
    autojump_clock: MockClock,
) -> None:
    async with open_house(Receiver("refuses")) as house:
        await house.full()
        await trio.sleep(DAY_S)
        [job] = await house.store.jobs.list(job_type="alerts.webhook")
        assert job.status in (JobStatus.FAILED, JobStatus.IN_PROGRESS)
        await trio.sleep(DAY_S / 4)
        [job] = await house.store.jobs.list(job_type="alerts.webhook", status=JobStatus.DEAD_LETTER)
        assert "cannot be reached" in (job.last_error or "")


async def test_an_alert_that_stands_across_a_restart_is_not_raised_again(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    receiver, path = Receiver(), tmp_path / "yoked.db"
    async with open_house(receiver, path) as house:
        await house.full()
        await trio.sleep(30)
    for _ in range(2):
        async with open_house(receiver, path) as house:
            await house.full()
            await trio.sleep(100)
            assert list(house.alarm.standing) == [Alert.DISK]
            assert gauge(house, Alert.DISK) == 1
    assert [news["state"] for news in receiver.news()] == ["raised"]
    async with open_house(receiver, path) as house:
        await trio.sleep(100)
        assert house.alarm.standing == {}
    raised, cleared = receiver.news()
    assert cleared["state"] == "cleared"
    assert cleared["raised_at"] == raised["raised_at"]


async def test_a_restart_while_the_receiver_is_down_loses_nothing_and_doubles_nothing(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    receiver, path = Receiver("refuses"), tmp_path / "yoked.db"
    async with open_house(receiver, path) as house:
        await house.full()
        await trio.sleep(100)
        await house.back_to_normal()
        await trio.sleep(100)
        assert house.alarm.standing == {}
        await house.dispatcher.drain()
    receiver.trouble = None
    async with open_house(receiver, path):
        await trio.sleep(3600)
    assert sorted(news["state"] for news in receiver.news()) == ["cleared", "raised"]


class BrokenAlerts(Alerts):
    """A store of alerts that is unavailable for a while."""

    is_away = True

    async def record(
        self, changes: Sequence[AlertChange], jobs: Sequence[NewJob], now: Instant
    ) -> None:
        await trio.lowlevel.checkpoint()
        if self.is_away:
            raise StoreUnavailable("the disk is full")
        await super().record(changes, jobs, now)


async def test_an_alert_that_cannot_be_stored_is_logged_at_once_and_sent_later(
    autojump_clock: MockClock,
) -> None:
    async with open_house() as house:
        house.alarm._alerts = broken = BrokenAlerts(house.store._database)
        await house.failing_commits()
        await trio.sleep(1200)
        assert house.alarm.standing == {}, "it was raised, and is over"
        await house.failing_commits()
        await trio.sleep(30)
        assert gauge(house, Alert.COMMIT_FAILURES) == 1
        assert house.receiver.news() == []
        broken.is_away = False
        await trio.sleep(30)
        states = [news["state"] for news in sorted(house.receiver.news(), key=lambda n: n["at"])]
        assert states == ["raised", "cleared", "raised"]
        assert [one.alert for one in await house.store.alerts.load()] == [Alert.COMMIT_FAILURES]


async def test_without_a_webhook_nothing_is_sent_and_nothing_waits(
    autojump_clock: MockClock,
) -> None:
    async with open_house(webhook_url="", webhook_secret="") as house:
        await house.full()
        await trio.sleep(100)
        assert list(house.alarm.standing) == [Alert.DISK]
        assert await house.store.jobs.list(job_type="alerts.webhook") == []
        assert [one.alert for one in await house.store.alerts.load()] == [Alert.DISK]


async def test_a_disk_that_cannot_be_read_neither_raises_nor_clears_an_alert(
    autojump_clock: MockClock,
) -> None:
    async with open_house() as house:
        house.free_share = None
        await trio.sleep(100)
        assert house.alarm.standing == {}
        await house.full()
        await trio.sleep(100)
        house.free_share = None
        await trio.sleep(1000)
        assert list(house.alarm.standing) == [Alert.DISK]


def test_the_free_share_of_a_disk_is_a_share(tmp_path: Path) -> None:
    share = free_share_of(tmp_path)
    assert share is not None
    assert 0.0 <= share <= 1.0
    assert free_share_of(tmp_path / "not there") is None


@pytest.mark.parametrize("step_s", [-86_400.0, 86_400.0])
async def test_an_alert_is_cleared_after_the_same_time_when_the_clock_is_stepped(
    autojump_clock: MockClock, step_s: float
) -> None:
    wall = FakeWall(from_datetime(datetime(2026, 1, 1, 8, tzinfo=UTC)))
    settings = load_settings(None, {}, {"alerts": {"clear_after_s": 60.0}})
    async with open_store(None, runner=InlineRunner()) as store:
        clock = Clock(wall.read(), wall=wall.read)
        house = House(store, clock, settings, Receiver())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.alarm.run)
            await house.lagging()
            house.alarm.wake()
            await trio.sleep(20)
            assert set(house.alarm.standing) == {Alert.LOOP_LAG}
            await house.back_to_normal()
            await trio.sleep(30)
            wall.step(step_s)
            clock.check()
            await trio.sleep(20)
            assert set(house.alarm.standing) == {Alert.LOOP_LAG}
            await trio.sleep(40)
            assert not house.alarm.standing
            nursery.cancel_scope.cancel()


# Dead letters


async def test_the_first_dead_letter_of_a_type_and_kind_is_sent_at_once_and_the_others_are_counted(
    autojump_clock: MockClock,
) -> None:
    async with open_house() as house:
        await house.add(fails=True)
        await trio.sleep(30)
        assert house.told_of_dead_letters() == [("raised", "logic", 1, 1)]
        assert gauge(house, Alert.DEAD_LETTER) == 1
        await house.add(7, fails=True)
        await house.add(gives_up=True, max_attempts=1)
        await trio.sleep(60)
        dead = await house.store.jobs.list(status=JobStatus.DEAD_LETTER, job_type="task")
        weather = next(job.id for job in dead if "the weather" in (job.last_error or ""))
        assert house.told_of_dead_letters() == [
            ("raised", "logic", 1, 1),
            ("raised", "transient", 1, weather),
        ]
        assert house.alarm.dead is not None
        assert [(one.kind, one.count) for one in house.alarm.dead.standing] == [
            ("logic", 8),
            ("transient", 1),
        ]
        await trio.sleep(700)
        assert house.told_of_dead_letters()[2:] == [
            ("cleared", "logic", 8, 1),
            ("cleared", "transient", 1, weather),
        ]
        assert gauge(house, Alert.DEAD_LETTER) == 0
        await house.add(fails=True)
        await trio.sleep(30)
        assert [state for state, *_ in house.told_of_dead_letters()].count("raised") == 3


async def test_dead_letters_across_a_restart_are_one_alert(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    receiver, path = Receiver(), tmp_path / "yoked.db"
    async with open_house(receiver, path) as house:
        await house.add(fails=True)
        await trio.sleep(30)
    async with open_house(receiver, path) as house:
        await house.add(2, fails=True)
        await trio.sleep(60)
        assert gauge(house, Alert.DEAD_LETTER) == 1
        assert [state for state, *_ in house.told_of_dead_letters()] == ["raised"]
        await trio.sleep(700)
    assert house.told_of_dead_letters()[1:] == [("cleared", "logic", 3, 1)]


async def test_a_dead_letter_of_another_process_is_sent_too(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    path = tmp_path / "yoked.db"
    async with (
        open_house(path=path) as house,
        open_store(path, runner=InlineRunner(), shared=True) as worker,
    ):
        now = house.clock.now()
        await worker.jobs.enqueue([NewJob("elsewhere", {}, now)], now)
        [job] = (await worker.jobs.claim("worker", now, 60.0, 1)).jobs
        await worker.jobs.fail(job.id, job.fence, now, None, "a bug")
        house.dispatcher.wake(from_other_process=True)
        await trio.sleep(30)
        assert house.told_of_dead_letters() == [("raised", "logic", 1, job.id)]


async def test_a_dead_letter_of_the_webhook_job_is_not_sent_to_the_webhook(
    autojump_clock: MockClock,
) -> None:
    async with open_house(Receiver("refuses")) as house:
        await house.full()
        await trio.sleep(1.25 * DAY_S)
        await house.back_to_normal()
        assert house.alarm.dead is not None
        dead = await house.store.jobs.list(status=JobStatus.DEAD_LETTER)
        assert [job.type for job in dead] == ["alerts.webhook"]
        news = await house.store.jobs.list(job_type="alerts.webhook")
        assert not any("dead_letter" in job.payload for job in news)


async def test_an_alert_about_dead_letters_is_cleared_when_the_clock_is_set_back(
    autojump_clock: MockClock,
) -> None:
    wall = FakeWall(from_datetime(datetime(2026, 1, 1, 8, tzinfo=UTC)))
    settings = load_settings(None, {}, {})
    async with open_store(None, runner=InlineRunner()) as store:
        clock = Clock(wall.read(), wall=wall.read)
        house = House(store, clock, settings, Receiver())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(house.dispatcher.run)
            nursery.start_soon(house.alarm.run)
            await house.add(fails=True)
            await trio.sleep(30)
            assert gauge(house, Alert.DEAD_LETTER) == 1
            wall.step(-86_400)
            clock.check()
            await trio.sleep(700)
            assert gauge(house, Alert.DEAD_LETTER) == 0
            nursery.cancel_scope.cancel()


# What the receiver says


@pytest.mark.parametrize(("trouble", "status"), [(None, 204), ("fails", 500), ("redirects", 301)])
async def test_the_answer_of_the_receiver_is_stored_with_the_job(
    autojump_clock: MockClock, trouble, status
) -> None:
    async with open_house(Receiver(trouble)) as house:
        await house.full()
        await trio.sleep(5)
        [job] = await house.store.jobs.list(job_type="alerts.webhook")
        [answer] = await house.store.jobs.answers(job.id)
        assert (answer.status, answer.receiver_id, answer.fence) == (status, "request-1", 1)
        assert answer.body == ("" if status == 204 else "no, \ufffd\n")
        house.receiver.trouble = None
        await trio.sleep(60)
        answers = await house.store.jobs.answers(job.id)
        assert [one.status for one in answers] == ([204] if trouble is None else [status, 204])


# The depth of the queue


async def test_a_morning_of_jobs_that_were_just_enqueued_is_no_alert(
    autojump_clock: MockClock,
) -> None:
    async with open_house() as house:
        # Planned for an hour ago, as after a restart.
        due_at = house.clock.now() - 3600 * 1_000_000
        jobs = [NewJob("task", {"seconds": 40.0}, due_at) for _ in range(3000)]
        await house.dispatcher.enqueue(jobs)
        await trio.sleep(20)
        value = house.metrics.registry.get_sample_value
        assert (value("yoked_jobs_due") or 0) > 1000
        assert value("yoked_jobs_overdue") == 0
        await trio.sleep(400)
        assert house.receiver.news() == []
