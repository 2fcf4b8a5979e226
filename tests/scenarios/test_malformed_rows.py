"""An unreadable row affects nothing else, while users meet, vote and date."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio
from pydantic import BaseModel
from structlog.testing import capture_logs

from tests.actors import morning
from tests.scenarios.meeting import MAN, WOMAN, join_pair
from tests.scenarios.test_mornings import BERLIN, MONDAY, SIX, a_town, offered, sets_of, until
from tests.scenarios.test_supervision import degraded, meet_and_date
from yoked_actor.actors.jobs import JobRun
from yoked_actor.client import Api, CommandRefused
from yoked_actor.domain.jobs import JobStatus, NewJob
from yoked_actor.testing import World, open_world

FAR = 2**62
"""An instant that no calendar has."""


class Task(BaseModel):
    """What a job is given."""

    n: int
    user_id: str = ""


def change(database: Path, sql: str, *parameters: object) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        assert other.execute(sql, parameters).rowcount > 0


def operator(world: World) -> Api:
    return Api("http://world.test", world.token("olga", admin=True), dial=world.dial())


async def enqueue_tasks(world: World, ran: list[int], user_id: str = "", in_s: int = 30) -> int:
    """Enqueue three tasks, due in a while; returns the id of the one in the middle."""

    async def task(run: JobRun[Task]) -> None:
        ran.append(run.payload.n)

    dispatcher = world.server.base.dispatcher
    dispatcher.register("task", Task, task)
    at = world.now() + in_s * 1_000_000
    payloads = [{"n": n, "user_id": user_id} for n in range(3)]
    enqueued = await dispatcher.enqueue([NewJob("task", payload, at) for payload in payloads])
    return enqueued[1].job_id


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ("{", "Invalid JSON"),
        ("", "Invalid JSON"),
        ("[]", "model_type"),
        ("{}", "Field required"),
        ('{"n": "many"}', "valid integer"),
    ],
)
async def test_a_job_with_a_broken_payload_is_a_dead_letter_and_other_jobs_run(
    autojump_clock, tmp_path, payload, says
):
    database, ran = tmp_path / "yoked.db", list[int]()
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        job_id = await enqueue_tasks(world, ran)
        change(database, "UPDATE jobs SET payload = ? WHERE id = ?", payload, job_id)
        await meet_and_date(ana, ben)
        await trio.sleep(60)
        assert sorted(ran) == [0, 2]
        entry = await operator(world).call("GET", f"/api/admin/jobs/{job_id}")
        assert entry["status"] == "dead_letter"
        assert entry["attempts"] == 1
        assert says in entry["last_error"]
        listed = await operator(world).call("GET", "/api/admin/jobs?status=dead_letter")
        assert [one["id"] for one in listed["jobs"]] == [job_id]
        assert await degraded(world) == []


async def test_a_user_whom_a_broken_payload_names_can_be_erased(autojump_clock, tmp_path):
    database, ran = tmp_path / "yoked.db", list[int]()
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        await world.join("zoe")
        job_id = await enqueue_tasks(world, ran, "zoe", in_s=3600)
        broken = '{"n": 1, "user_id": "zoe"'
        change(database, "UPDATE jobs SET payload = ? WHERE id = ?", broken, job_id)
        await world.api("zoe").call("DELETE", "/api/me")
        job = await world.server.base.store.jobs.get(job_id)
        assert job is not None
        assert (job.status, job.payload) == (JobStatus.CANCELLED, "{}")
        await meet_and_date(ana, ben)
        assert await degraded(world) == []


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE offer_sets SET facts = '[' WHERE user_id = 'ana'",
        "UPDATE offer_sets SET facts = '[]' WHERE user_id = 'ana'",
        "UPDATE offer_sets SET candidates = '[' WHERE user_id = 'ana'",
        "UPDATE offer_sets SET candidates = '7' WHERE user_id = 'ana'",
        "UPDATE offer_sets SET day = 'spring' WHERE user_id = 'ana'",
        f"UPDATE offer_sets SET expires_at = {FAR} WHERE user_id = 'ana'",
    ],
)
async def test_a_broken_set_of_offers_keeps_nobody_else_from_theirs(autojump_clock, tmp_path, sql):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, start=morning.START) as world:
        ana, ben = await world.join("ana", **WOMAN), await world.join("ben", **MAN)
        await morning.store_offers(world.server)
        await world.crash()
        change(database, sql)
        with capture_logs() as logs:
            await world.start()
            with trio.fail_after(60):
                made = await ben.wait_for("offers")
            assert [one["candidate"]["display_name"] for one in made.offers] == ["Ana"]
            assert await degraded(world) == []
            await world.api("ana").call("GET", "/api/offers")
            await world.api("ana").call("GET", "/api/me/export")
            await meet_and_date(ana, ben)
    assert "offer_sets" in {one["table"] for one in logs if one["event"] == "row_unreadable"}


async def test_a_run_can_be_followed_and_verified_beside_broken_rows(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, start=SIX) as world:
        await a_town(world)
        await until(world, "2026-03-02T08:00:01Z")
        change(database, "UPDATE jobs SET payload = '{' WHERE payload LIKE '%w0-lin%'")
        change(database, "UPDATE offer_sets SET candidates = '[' WHERE user_id = 'w0-lin'")
        sets = await sets_of(world, BERLIN, MONDAY)
        assert len(sets) == 7
        progress = await world.server.base.store.offers.progress(BERLIN, MONDAY)
        assert progress is not None
        assert (progress.is_done, progress.stored, progress.dead) == (True, 8, 0)


@pytest.mark.parametrize(
    "row",
    [("odd", 1.0, 1.0, 0), ("job_queue_depth", 5.0, 1.0, FAR), ("commit_failures", 5.0, 1.0, -FAR)],
)
async def test_a_broken_alert_keeps_no_other_from_being_raised_and_cleared(
    autojump_clock, tmp_path, row
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        await world.crash()
        change(database, "INSERT INTO alerts VALUES (?, ?, ?, ?)", *row)
        duration = ("job_duration_p95", 5.0, 1.0, world.now())
        change(database, "INSERT INTO alerts VALUES (?, ?, ?, ?)", *duration)
        await world.start()
        await trio.sleep(1)
        standing = await operator(world).call("GET", "/api/admin/alerts")
        assert [one["alert"] for one in standing["alerts"]] == ["job_duration_p95"]
        await meet_and_date(ana, ben)
        await trio.sleep(1000)
        assert not world.server.base.alarm.standing
        assert await degraded(world) == []


@pytest.mark.parametrize("column", ["at", "until"])
async def test_a_broken_suspension_keeps_its_user_out_and_nobody_else(
    autojump_clock, tmp_path, column
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        zoe = await world.join("zoe")
        await zoe.spin()
        await world.sign_up("eve")
        sql = f"INSERT INTO suspended (user_id, at, by, reason, {column}) VALUES (?, ?, ?, ?, ?)"
        if column == "at":
            sql = "INSERT INTO suspended (user_id, by, reason, at) VALUES (?, ?, ?, ?)"
        given = ("zoe", "olga", "rude", FAR) if column == "at" else ("zoe", 0, "olga", "rude", FAR)
        change(database, sql, *given)
        suspend = {"reason": "spam"}
        await operator(world).call("POST", "/api/admin/users/eve/suspend", suspend)
        assert (await zoe.wait_for("suspended")).reason == "rude"
        await meet_and_date(ana, ben)
        await world.crash()
        await world.start()
        assert await degraded(world) == []
        refused = await world.api("zoe").request("GET", "/api/match/status")
        assert (refused.status, refused.json()["code"]) == (403, "suspended")
        users = await operator(world).request("GET", "/api/admin/users/zoe")
        assert users.status == 200
        assert (await ana.heartbeat()).at


@pytest.mark.parametrize(
    "column",
    [
        "interests = '{'",
        "seeking = '7'",
        "strict = '[\"height\"]'",
        "birth_date = 'spring'",
        "lat = 9e999",
        "lon = 4e9",
        "max_distance_km = 9e999",
        "max_distance_km = -1.0",
        "min_age = 9000000000000000000",
        "time_zone = 'Europe/Berlin', lat = -9e999",
    ],
)
async def test_an_unreadable_profile_keeps_nobody_else_from_the_offers_of_the_morning(
    autojump_clock, tmp_path, column
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, start="2026-03-02T07:50:00Z") as world:
        ids = await a_town(world)
        ana, ben = await join_pair(world)
        ids += ["ana", "ben"]
        change(database, f"UPDATE people SET {column} WHERE user_id = 'w0-lin'")
        await until(world, "2026-03-02T08:00:01Z")
        sets = await sets_of(world, BERLIN, MONDAY)
        assert sorted(sets) == sorted(set(ids) - {"w0-lin"})
        assert all("w0-lin" not in offered(one) and offered(one) for one in sets.values())
        assert await degraded(world) == []
        await meet_and_date(ana, ben)
        await world.crash()
        await world.start()
        with pytest.raises(CommandRefused, match="complete your profile"):
            await (await world.connect("w0-lin")).spin()
        assert world.audit() == []
