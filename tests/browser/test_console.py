"""The operator console: dead letters, waiting users, reports, drain, and accessibility."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import Critic
from tests.browser.pages import LAPTOP, PHONE, Caller, Person
from tests.process.server import ServerProcess, run_cli, running_server
from yoked_actor.actors.jobs import wake_other_processes
from yoked_actor.actors.offers.zone_jobs import user_jobs
from yoked_actor.store import enqueue_in

ZONE = "Europe/Berlin"
SIZES = {"laptop": LAPTOP, "phone": PHONE}
SECTIONS = (
    *("now", "line", "matches", "rooms", "users", "reports", "jobs", "offers", "alerts", "quality"),
    *("objectives", "settings", "audit", "drain"),
)


@cache
def _token(data_dir: Path, *flags: str) -> str:
    """A token of the command line, which takes a second: all tests of a server share it."""
    made = run_cli("token", "olga", *flags, "--dev", "--data", str(data_dir))
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


class Operator:
    """An operator with the console open."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.page = person.page
        self.server = person.server

    def token(self, *flags: str) -> str:
        return _token(self.server.data_dir, *flags)

    def sign_in(self, token: str | None = None) -> None:
        self.person.open("/admin")
        self.page.get_by_label("Operator token").fill(token or self.token("--admin"))
        self.person.press("Sign in")

    def come(self) -> None:
        self.sign_in()
        expect(self.page.locator("#connection")).to_have_text("Live")

    def go(self, section: str) -> None:
        self.page.get_by_role("navigation").get_by_role("link", name=section).click()
        self.person.headed(section)

    def row(self, text: str) -> Locator:
        return self.page.get_by_role("row").filter(has_text=text)

    def confirm(self, act: str, words: str | None = None) -> None:
        dialog = self.page.get_by_role("dialog")
        if words is not None:
            dialog.get_by_role("textbox").fill(words)
        dialog.get_by_role("button", name=act, exact=True).click()
        expect(dialog).to_have_count(0)


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """Waiting users send nothing here, and must stay in line for the whole test."""
    return {
        "matching__liveness_s": 600,
        "matching__acknowledge_window_s": 120,
        "session__forget_after_s": 900,
    }


@pytest.fixture
def olga(new_person: Callable[..., Person]) -> Operator:
    return Operator(new_person("olga"))


def enqueue_offers_of(server: ServerProcess, user_id: str, day: str) -> int:
    """Enqueue the job that stores the offers of a user, from another process."""
    at = round(time.time() * 1e6)
    date = datetime.fromisoformat(day).date()
    with closing(sqlite3.connect(server.database, timeout=20)) as connection, connection:
        [job] = enqueue_in(connection, list(user_jobs(ZONE, date, at, [user_id])), at)
    wake_other_processes(server.data_dir)
    return job.job_id


def test_a_dead_letter_is_shown_fixed_and_requeued(olga: Operator, server: ServerProcess) -> None:
    ana = Caller(server, "ana-dead")
    Caller(server, "ben-dead", gender="man", seeking=["woman"])
    day = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    # The job fails, because its run was missed.
    job_id = enqueue_offers_of(server, ana.user_id, day)
    olga.come()
    page = olga.page
    expect(page.locator("#dead-letters")).to_have_text("1")
    olga.go("Jobs")
    row = olga.row(str(job_id))
    expect(row).to_contain_text("was never frozen")
    row.get_by_role("link", name=str(job_id)).click()
    olga.person.headed(f"Job {job_id}")
    expect(page.get_by_label("Payload")).to_contain_text('"user_id": "ana-dead"')
    traceback = page.locator("#traceback")
    expect(traceback).to_contain_text("Traceback (most recent call last)")
    expect(traceback).to_contain_text("offers/runs.py")
    expect(traceback).to_contain_text(f"the pool of the run of {day} in {ZONE} was never frozen")
    olga.person.shoot("console-dead-letter")
    # Start the missed run.
    olga.go("Offers")
    page.get_by_label("Zone").fill(ZONE)
    page.get_by_label("Date").fill(day)
    olga.person.press("Run now")
    olga.confirm("Run")
    olga.person.sees_notice(f"The run of {day} in {ZONE} has started.")
    done = olga.row(day).filter(has_text=ZONE)
    expect(done).to_contain_text("Done")
    olga.go("Jobs")
    page.get_by_role("button", name=f"Requeue job {job_id}").click()
    olga.person.sees_notice(f"Job {job_id} is queued again.")
    page.goto(f"{server.url}/admin#jobs/{job_id}")
    expect(page.locator(".headline")).to_contain_text("Completed")
    olga.go("Jobs")
    olga.person.reads("No dead letters.")
    expect(page.locator("#dead-letters")).to_be_hidden()
    assert ana.call("GET", f"/api/offers?date={day}")["offers"]
    olga.go("Audit")
    expect(olga.row("Requeued job")).to_contain_text("olga")
    expect(olga.row("Ran the offers of")).to_contain_text(ZONE)
    olga.go("Offers")
    page.get_by_role("button", name=f"Verify {ZONE}, {day}").click()
    olga.person.reads("No differences")


def test_a_dead_letter_is_dismissed_with_a_reason(olga: Operator, server: ServerProcess) -> None:
    ana = Caller(server, "ana-dismissed")
    day = (datetime.now(UTC) - timedelta(days=2)).date().isoformat()
    job_id = enqueue_offers_of(server, ana.user_id, day)
    olga.come()
    olga.go("Jobs")
    expect(olga.row(str(job_id))).to_contain_text("was never frozen")
    olga.page.get_by_role("button", name=f"Dismiss job {job_id}").click()
    olga.confirm("Dismiss", "nobody waits for these offers")
    olga.person.sees_notice(f"Job {job_id} is dismissed.")
    olga.person.reads("No dead letters.")
    expect(olga.page.locator("#dead-letters")).to_be_hidden()
    olga.page.get_by_label("State").select_option("Dismissed dead letter")
    olga.row(str(job_id)).get_by_role("link", name=str(job_id)).click()
    olga.person.headed(f"Job {job_id}")
    olga.person.reads("nobody waits for these offers")
    olga.go("Audit")
    expect(olga.row("Dismissed job")).to_contain_text("olga")


def test_the_objectives_are_shown_with_their_goals(olga: Operator) -> None:
    olga.come()
    olga.go("Objectives")
    expect(olga.row("Daily offers are stored on time")).to_contain_text("99.9 %")
    expect(olga.row("Possible matches are made in time")).to_contain_text("90 %")
    expect(olga.row("Votes are answered in time")).to_contain_text("100 ms")


def test_waiting_users_and_the_reasons_are_updated_live(
    olga: Operator, server: ServerProcess
) -> None:
    olga.come()
    olga.go("Line")
    olga.person.reads("No one is waiting.")
    ana = Caller(server, "ana-waits")
    ana.spin()
    olga.person.reads("1 user is waiting.")
    expect(olga.row("ana-waits")).to_contain_text("No one else in line")
    ana.call("POST", "/api/leave")
    olga.person.reads("No one is waiting.")


def test_a_reported_user_is_blocked_suspended_and_unsuspended(
    olga: Operator, server: ServerProcess
) -> None:
    ana, mallory = Caller(server, "ana-reports"), Caller(server, "mallory")
    reason = "<b>rude</b> from the first word"
    ana.call("POST", "/api/reports", {"user_id": "mallory", "reason": reason})
    olga.come()
    olga.go("Reports")
    card = olga.page.get_by_role("article", name="ana-reports about mallory")
    expect(card).to_contain_text(reason)
    expect(card).to_contain_text("Ana")
    expect(card).to_contain_text("Mallory")
    card.get_by_role("button", name="Block this pair").click()
    olga.confirm("Block")
    olga.person.sees_notice("ana-reports and mallory will not be matched again.")
    assert [one["user_id"] for one in ana.call("GET", "/api/blocks")["blocks"]] == ["mallory"]
    card.get_by_role("button", name="Suspend mallory").click()
    olga.page.get_by_role("dialog").get_by_role("button", name="Suspend").click()
    expect(olga.page.get_by_role("dialog")).to_contain_text("Enter a text.")
    olga.page.get_by_label("The suspension ends").select_option("after 7 days")
    olga.confirm("Suspend", "rude to people")
    olga.person.sees_notice("mallory is suspended.")
    [(days,)] = server.read(
        "SELECT round((until - at) / 86400e6, 2) FROM suspended WHERE user_id = 'mallory'"
    )
    assert days == 7.0
    olga.person.reads("No open reports.")
    olga.page.get_by_label("Show").select_option("All")
    expect(card).to_contain_text("suspended: rude to people")
    with pytest.raises(OSError, match="403"):
        mallory.spin()
    card.get_by_role("button", name="Lift the suspension").click()
    olga.confirm("Lift the suspension")
    olga.person.sees_notice("mallory is no longer suspended.")
    mallory.spin()
    mallory.call("POST", "/api/leave")
    olga.go("Audit")
    for what in ("Blocked for", "Lifted the suspension of", "Closed report"):
        expect(olga.row(what)).to_contain_text("olga")
    expect(olga.row("rude to people (until")).to_contain_text("Suspended")


def test_reports_arrive_live_and_are_worked_through_with_keys(
    olga: Operator, server: ServerProcess
) -> None:
    ana, trudy = Caller(server, "ana-keys"), Caller(server, "trudy")
    olga.come()
    olga.go("Reports")
    page = olga.page
    badge = page.locator("#report-count")
    expect(badge).to_be_hidden()
    for reason in ("first", "second", "third"):
        ana.call("POST", "/api/reports", {"user_id": "trudy", "reason": reason})
    expect(badge).to_have_text("3")
    cards = page.get_by_role("article")
    expect(cards).to_have_count(3)
    page.keyboard.press("j")
    expect(cards.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(cards.nth(0)).to_contain_text("third")
    page.keyboard.press("d")
    # A key that is typed into the dialog is text.
    page.get_by_role("dialog").get_by_role("textbox").press_sequentially("words wd")
    expect(page.get_by_role("dialog")).to_have_count(1)
    olga.confirm("Dismiss")
    expect(cards).to_have_count(2)
    page.keyboard.press("j")
    page.keyboard.press("w")
    olga.confirm("Warn", "be kind")
    olga.person.sees_notice("trudy is warned.")
    assert [one["text"] for one in trudy.call("GET", "/api/warnings")["warnings"]] == ["be kind"]
    page.keyboard.press("j")
    # Keys can be switched off.
    page.get_by_role("checkbox", name="Keys").uncheck()
    cards.nth(0).focus()
    page.keyboard.press("s")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("checkbox", name="Keys").check()
    cards.nth(0).focus()
    page.keyboard.press("s")
    olga.confirm("Suspend", "rude again")
    olga.person.reads("No open reports.")
    expect(badge).to_be_hidden()
    trudy.call("POST", "/api/appeal", {"text": "I am sorry"})
    appeal = page.get_by_role("article", name="Appeal of trudy")
    expect(appeal).to_contain_text("I am sorry")
    appeal.get_by_role("button", name="Lift the suspension").click()
    olga.confirm("Lift the suspension")
    appeal.get_by_role("button", name="Dismiss the appeal").click()
    olga.confirm("Dismiss", "granted")
    olga.person.reads("No open reports.")
    # The other tests of this module report to the same server.
    [(number,)] = server.read(
        "SELECT number FROM reports WHERE reported = 'trudy' AND kind = 'appeal'"
    )
    found = server.read("SELECT action, detail FROM audit WHERE subject = 'trudy' ORDER BY number")
    assert found == [
        ("warn", "be kind"),
        ("suspend", "rude again"),
        ("appeal", f"report {number}"),
        ("unsuspend", ""),
    ]


def test_a_person_is_found_and_a_match_is_explained_and_ended(
    olga: Operator, server: ServerProcess
) -> None:
    ana = Caller(server, "ana-found", gender="man", seeking=["man"])
    ben = Caller(server, "ben-found", gender="man", seeking=["man"])
    olga.come()
    olga.go("Users")
    olga.page.get_by_label("Name or ID").fill("FOUND")
    olga.person.press("Search")
    expect(olga.row("ana-found")).to_contain_text("Idle")
    expect(olga.page.get_by_role("row")).to_have_count(3)
    olga.page.get_by_role("link", name="ana-found").click()
    olga.person.headed("ana-found")
    olga.person.reads("Reports about this user")
    ana.spin()
    ben.spin()
    olga.go("Matches")
    row = olga.row("ana-found")
    expect(row).to_contain_text("ben-found")
    row.get_by_role("button", name=re.compile("^Explain")).click()
    expect(olga.page.get_by_role("dialog")).to_contain_text("fair_queue")
    olga.page.get_by_role("dialog").get_by_role("button", name="Close").click()
    row.get_by_role("button", name=re.compile("^End")).click()
    olga.confirm("End match", "a test")
    olga.person.sees_notice(re.compile("is ended"))
    for one in (ana, ben):
        one.call("POST", "/api/leave")


def test_a_room_is_added_changed_closed_and_removed(olga: Operator, server: ServerProcess) -> None:
    ana, page = Caller(server, "ana-room"), olga.page
    olga.come()
    olga.go("Rooms")
    expect(olga.row("main")).to_contain_text("always there")
    expect(olga.row("main").get_by_role("button")).to_have_count(0)
    olga.person.press("Add a room…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Id", exact=True).fill("Jazz")
    dialog.get_by_label("Name", exact=True).fill("Jazz evening")
    dialog.get_by_label("Most users").fill("20")
    dialog.get_by_label("Who may enter").select_option("code")
    dialog.get_by_role("button", name="Add room").click()
    expect(dialog.get_by_role("alert")).to_contain_text("is no id of a room")
    dialog.get_by_label("Id", exact=True).fill("jazz")
    dialog.get_by_role("button", name="Add room").click()
    expect(dialog.get_by_role("alert")).to_contain_text("must be set with entry code")
    dialog.get_by_label("Invitation code").fill("sesame")
    dialog.get_by_text("Rules of matching").click()
    dialog.get_by_label("date_length_s").fill("60")
    olga.person.shoot("console-room-form")
    dialog.get_by_role("button", name="Add room").click()
    olga.person.sees_notice("The room jazz is declared.")
    assert ana.call("POST", "/api/rooms/jazz/enter", {"code": "sesame"}) == {"room": "jazz"}
    expect(olga.row("jazz")).to_contain_text("1 of 20")
    page.get_by_role("button", name="Change jazz").click()
    expect(dialog.get_by_label("Name", exact=True)).to_have_value("Jazz evening")
    expect(dialog.get_by_label("Invitation code")).to_have_value("")
    dialog.get_by_label("Most users").fill("30")
    dialog.get_by_role("button", name="Change room").click()
    olga.person.sees_notice("The room jazz is changed.")
    expect(olga.row("jazz")).to_contain_text("1 of 30")
    olga.person.shoot("console-rooms")
    page.get_by_role("button", name="Close jazz").click()
    olga.confirm("Close room")
    olga.person.sees_notice("The room jazz is closed.")
    expect(olga.row("jazz")).to_contain_text("does not open again")
    page.get_by_role("button", name="Remove jazz").click()
    olga.confirm("Remove room")
    olga.person.sees_notice("The room jazz is removed.")
    expect(olga.row("jazz")).to_have_count(0)
    olga.go("Audit")
    for action in ("Added room", "Removed room"):
        expect(olga.row(action)).to_contain_text("jazz")
    expect(olga.row("Changed room")).to_have_count(2)


def test_a_viewer_reads_and_finds_no_buttons(olga: Operator, server: ServerProcess) -> None:
    Caller(server, "ana-viewed").call(
        "POST", "/api/reports", {"user_id": "victor", "reason": "rude"}
    )
    olga.sign_in(olga.token("--role", "viewer"))
    expect(olga.page.locator("#connection")).to_have_text("Live")
    expect(olga.page.locator("#user-role")).to_have_text("viewer")
    olga.go("Reports")
    card = olga.page.get_by_role("article", name="ana-viewed about victor")
    expect(card).to_contain_text("rude")
    expect(card.get_by_role("button")).to_have_count(0)
    # Only the keys that do something are named.
    expect(olga.page.locator(".keys kbd")).to_have_text(["j", "k", "o"])
    olga.go("Offers")
    expect(olga.page.get_by_role("button", name="Verify", exact=True)).to_be_visible()
    expect(olga.page.get_by_role("button", name="Run now")).to_have_count(0)
    olga.go("Rooms")
    expect(olga.row("main")).to_be_visible()
    expect(olga.page.get_by_role("button", name="Add a room…")).to_have_count(0)
    olga.go("Drain")
    expect(olga.page.get_by_role("button", name="Drain and stop…")).to_be_disabled()
    root = Caller(server, "root-viewed")
    root.token = olga.token("--admin")
    [report] = root.call("GET", "/api/admin/reports?open=1")["reports"]
    path = f"/api/admin/reports/{report['report_id']}/resolve"
    root.call("POST", path, {"resolution": "a test"})


def test_a_token_without_a_role_is_refused(olga: Operator) -> None:
    olga.sign_in(olga.token())
    expect(olga.page.get_by_role("alert")).to_have_text("This is for operators.")
    olga.sign_in("nonsense")
    expect(olga.page.get_by_role("alert")).to_contain_text("This token is invalid")


def test_a_confirmation_can_be_cancelled(olga: Operator) -> None:
    olga.come()
    olga.go("Drain")
    olga.person.press("Drain and stop…")
    olga.confirm("Go back")
    olga.person.reads("The server is not draining.")
    olga.person.press("Drain and stop…")
    olga.page.keyboard.press("Escape")
    expect(olga.page.get_by_role("dialog")).to_have_count(0)
    olga.person.reads("The server is not draining.")


def test_a_server_can_be_drained_from_the_console_and_the_page_says_so(
    new_person: Callable[..., Person], tmp_path: Path
) -> None:
    with running_server(tmp_path / "data") as server:
        person = new_person("olga")
        person.server = server
        olga = Operator(person)
        olga.come()
        olga.go("Drain")
        person.press("Drain and stop…")
        olga.confirm("Drain")
        person.reads("The server is draining.")
        assert server.wait() == 0
        expect(olga.page.locator("#connection")).to_contain_text("Not connected")
        assert server.read("SELECT who, action FROM audit") == [("olga", "drain")]
        person.problems.clear()  # Chromium logs failed attempts.


def test_the_console_reconnects_after_a_restart(
    new_person: Callable[..., Person], tmp_path: Path
) -> None:
    with running_server(tmp_path / "data") as server:
        person = new_person("olga")
        person.server = server
        olga = Operator(person)
        olga.come()
        server.kill()
        expect(olga.page.locator("#connection")).to_contain_text("Not connected")
        server.start()
        expect(olga.page.locator("#connection")).to_have_text("Live")
        person.problems.clear()  # Chromium logs failed attempts.


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_section_is_accessible(
    new_person: Callable[..., Person], axe: Path, server: ServerProcess, scheme: str, size: str
) -> None:
    name = f"{scheme}-{size}"
    ana = Caller(server, f"ana-{name}")
    ana.spin()
    ana.call("POST", "/api/reports", {"user_id": "mallory", "reason": "never looked up"})
    pair = [
        Caller(server, f"{one}-{name}", gender="nonbinary", seeking=["nonbinary"])
        for one in ("kim", "sam")
    ]
    for one in pair:
        one.spin()
    job_id = enqueue_offers_of(server, ana.user_id, "2020-02-20")
    person = new_person("olga", viewport=SIZES[size], color_scheme=scheme, reduced_motion="reduce")
    critic, olga = Critic(person, axe, name), Operator(person)
    person.open("/admin")
    person.headed("Operator console")
    critic.looks("console-0-sign-in")
    olga.come()
    expect(olga.page.locator("#dead-letters")).to_be_visible()
    for number, section in enumerate(SECTIONS, 1):
        olga.page.goto(f"{server.url}/admin#{section}")
        person.headed(section.title())
        expect(olga.page.get_by_text("Loading…")).to_have_count(0)
        critic.looks(f"console-{number}-{section}")
    if size == "laptop":
        for link in olga.page.get_by_role("navigation").get_by_role("link").all():
            expect(link).to_be_in_viewport(ratio=1)
    olga.page.goto(f"{server.url}/admin#jobs/{job_id}")
    expect(olga.page.locator("#traceback")).to_be_visible()
    critic.looks("console-6-job")
    olga.page.goto(f"{server.url}/admin#users/{ana.user_id}")
    person.headed(ana.user_id)
    expect(olga.page.get_by_text("Loading…")).to_have_count(0)
    critic.looks("console-4-user")
    olga.page.goto(f"{server.url}/admin#drain")
    person.press("Drain and stop…")
    critic.looks("console-8-drain-question")
    for one in (ana, *pair):
        one.leave_line()
