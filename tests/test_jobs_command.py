"""`yoked-actor jobs`: listing and changing jobs, also while a server is running."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner

from yoked_actor.cli.main import main
from yoked_actor.domain.jobs import NewJob
from yoked_actor.store import InlineRunner, open_store


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory with a dead letter, a failed job and a pending one: 1, 2 and 3."""

    async def fill() -> None:
        async with open_store(tmp_path / "yoked.db", runner=InlineRunner()) as store:
            jobs = [NewJob("mail", {"to": f"user-{n}"}, n, key=f"k{n}") for n in range(2)]
            await store.jobs.enqueue(jobs, 0)
            first, second = (await store.jobs.claim("w", 5, 60, 2)).jobs
            await store.jobs.fail(first.id, first.fence, 6, None, "Traceback\nKeyError: [oh]")
            await store.jobs.fail(second.id, second.fence, 6, 4 * 10**15, "the weather")
            await store.jobs.enqueue([NewJob("call", {}, 4 * 10**15)], 0)

    trio.run(fill)
    return tmp_path


def run(data: Path, *words: str):
    return CliRunner().invoke(main, ["jobs", *words, "--data", str(data)])


def status_of(data: Path, job_id: int) -> str:
    return str(json.loads(run(data, "show", str(job_id), "--json").output)["status"])


def test_jobs_are_listed_as_a_table_and_as_json(data: Path) -> None:
    shown = run(data, "list")
    assert shown.exit_code == 0
    for word in ("mail", "call", "dead_letter", "pending"):
        assert word in shown.output
    listed = json.loads(run(data, "list", "--json").output)
    assert [(job["id"], job["status"]) for job in listed] == [
        (3, "pending"),
        (2, "failed"),
        (1, "dead_letter"),
    ]
    assert listed[1]["payload"] == {"to": "user-1"}
    dead = json.loads(run(data, "list", "--json", "--status", "dead_letter").output)
    assert [job["id"] for job in dead] == [1]
    assert json.loads(run(data, "list", "--json", "--type", "none").output) == []
    assert "No jobs found" in run(data, "list", "--type", "none").output


def test_a_dead_letter_is_shown_with_its_history(data: Path) -> None:
    shown = json.loads(run(data, "show", "1", "--json").output)
    assert (shown["status"], shown["key"], shown["attempts"]) == ("dead_letter", "k0", 1)
    assert [(one["attempt"], one["cause"]) for one in shown["history"]] == [(1, "dead_lettered")]
    table = run(data, "show", "1").output
    assert "KeyError: [oh]" in table
    assert '{"' in table
    assert "{'" not in table
    assert "False" not in table


def test_jobs_can_be_requeued_retried_and_cancelled(data: Path) -> None:
    assert run(data, "requeue", "1").output == "job 1 is queued again\n"
    assert status_of(data, 1) == "pending"
    assert run(data, "retry", "2").exit_code == 0
    shown = json.loads(run(data, "show", "2", "--json").output)
    assert shown["scheduled_for"] < "2090"
    assert run(data, "cancel", "3").output == "job 3 is cancelled\n"
    assert status_of(data, 3) == "cancelled"


def test_all_dead_letters_of_a_type_can_be_requeued(data: Path) -> None:
    assert json.loads(run(data, "requeue", "--type", "mail", "--json").output) == {"requeued": [1]}
    assert run(data, "requeue", "--type", "mail").output == "0 dead letters are queued again\n"


def test_a_dead_letter_can_be_dismissed_and_is_hidden_then(data: Path) -> None:
    assert run(data, "dismiss", "1", "--reason", " [known] ").output == "job 1 is dismissed\n"
    listed = json.loads(run(data, "list", "--json").output)
    assert [job["id"] for job in listed] == [3, 2]
    [gone] = json.loads(run(data, "list", "--json", "--dismissed").output)
    assert (gone["id"], gone["status"]) == (1, "dead_letter")
    assert gone["dismissal"]["reason"] == "[known]"
    assert "[known]" in run(data, "show", "1").output
    again = run(data, "dismiss", "1", "--reason", "once more")
    assert (again.exit_code, "job 1 is dismissed already" in again.output) == (1, True)
    assert run(data, "requeue", "--type", "mail").output == "0 dead letters are queued again\n"
    assert run(data, "requeue", "1").exit_code == 0
    shown = json.loads(run(data, "show", "1", "--json").output)
    assert (shown["status"], shown["dismissal"]) == ("pending", None)


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["show", "99"], 1, "there is no job 99"),
        (["cancel", "1"], 1, "job 1 is dead_letter and cannot be cancelled"),
        (["requeue", "3"], 1, "job 3 is pending and cannot be requeued"),
        (["retry", "3"], 1, "job 3 is pending and cannot be retried"),
        (["requeue"], 2, "give either a job ID or --type"),
        (["requeue", "1", "--type", "mail"], 2, "give either a job ID or --type"),
        (["list", "--status", "odd"], 2, "odd"),
        (["dismiss", "1"], 2, "--reason"),
        (["dismiss", "1", "--reason", "  "], 2, "a reason is 1-500 printable characters"),
        (["dismiss", "1", "--reason", "x" * 501], 2, "a reason is 1-500 printable characters"),
        (["dismiss", "3", "--reason", "x"], 1, "job 3 is pending and cannot be dismissed"),
        (["dismiss", "99", "--reason", "x"], 1, "there is no job 99"),
    ],
)
def test_errors_have_a_message_and_an_exit_code(data: Path, words, code, complaint) -> None:
    answer = run(data, *words)
    assert answer.exit_code == code
    assert complaint in answer.output


def test_a_missing_database_is_not_created(tmp_path: Path) -> None:
    answer = run(tmp_path, "list")
    assert answer.exit_code == 1
    assert "there is no database" in answer.output
    assert list(tmp_path.iterdir()) == []


def test_jobs_can_be_changed_while_a_server_is_running(data: Path) -> None:
    async def serve() -> None:
        async with open_store(data / "yoked.db", runner=InlineRunner()) as store:
            assert run_in_thread.exit_code is None
            await trio.to_thread.run_sync(run_in_thread)
            job = await store.jobs.get(1)
            assert job is not None
            assert job.status == "pending"

    class _Requeue:
        exit_code: int | None = None

        def __call__(self) -> None:
            self.exit_code = run(data, "requeue", "1").exit_code

    run_in_thread = _Requeue()
    trio.run(serve)
    assert run_in_thread.exit_code == 0


def test_a_table_of_jobs_fits_80_columns_with_whole_times(data: Path) -> None:
    source = ["--data", str(data)]
    payload = '{"text": "' + "x" * 200 + '"}'
    add = ["jobs", "enqueue", "a.type.with.a.long.name", payload, "--key", "k" * 60, *source]
    assert CliRunner().invoke(main, add).exit_code == 0
    assert "known already" in CliRunner().invoke(main, add).output
    lines = CliRunner().invoke(main, ["jobs", "list", *source]).output.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line) for line in lines)
