"""Rooms in the pages and in yoked.js: choosing one, meeting in it, and its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.looks import Critic
from tests.browser.pages import Caller, Person
from tests.browser.test_polling import REFUSE_SOCKETS, until
from tests.browser.test_sizes import SIZES, all_visible, nothing_is_clipped
from tests.browser.test_yoked_js import run
from tests.process.server import ServerProcess, running_server

START = "2026-01-02T18:00:00Z"
CLOSES_IN_S = 1800
# Time passes in leaps here: a leap must not look like a lost connection.
CONFIG = """
[matching]
liveness_s = 86400
vote_window_s = 30
acknowledge_window_s = 30

[session]
forget_after_s = 86400

[rooms.friday]
name = "Friday evening"
description = "For people who like jazz."
closes_at = "2026-01-02T18:30:00+00:00"
capacity = 20
entry = "code"
code = "come-in"

[rooms.rock]
name = "Rock"

[rooms.small]
name = "A table for one"
capacity = 1

[rooms.sunday]
name = "Sunday"
opens_at = "2026-01-04T18:00:00+00:00"
closes_at = "2026-01-04T21:00:00+00:00"
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server with rooms, on a mock clock."""
    config = tmp_path / "yoked.toml"
    config.write_text(CONFIG)
    flags = ("--mock-clock", "--mock-clock-start", START, "--config", str(config))
    with running_server(tmp_path / "data", *flags) as server:
        yield server


def card(person: Person, name: str) -> Locator:
    return person.page.get_by_role("article", name=name, exact=True)


def to_rooms(person: Person) -> None:
    name = re.compile("^(Rooms|Räume)$")
    person.page.get_by_role("navigation").get_by_role("link", name=name).click()
    person.headed(name)


def enters_friday(person: Person) -> None:
    to_rooms(person)
    card(person, "Friday evening").get_by_label("Invitation code").fill("come-in")
    person.press("Enter Friday evening")
    person.at("/spin")
    expect(person.page.locator("#live")).to_have_text("Welcome to “Friday evening”.")


def test_two_people_meet_in_a_room_that_needs_a_code_until_it_closes(
    new_person: Callable[..., Person], axe: Path
) -> None:
    zone = {"timezone_id": "Europe/Berlin"}
    ana = new_person("ana", **zone)
    ben = new_person("ben", viewport=SIZES["narrow"], **zone)
    ana.has_profile()
    ben.has_profile(gender="man", seeking=["woman"])
    critics = [Critic(ana, axe, "light-laptop"), Critic(ben, axe, "light-narrow")]
    for person in (ana, ben):
        person.arrive()
        to_rooms(person)
    friday = card(ana, "Friday evening")
    expect(friday).to_contain_text("For people who like jazz.")
    # In the zone of the browser, on the day of the server.
    expect(friday).to_contain_text("Open until")
    expect(friday).to_contain_text("19:30")
    expect(friday).to_contain_text("0 of 20 places taken")
    expect(card(ana, "Main room")).to_contain_text("You're in this room.")
    expect(card(ana, "Sunday")).to_contain_text(re.compile(r"Opens: Sun.* 4 Jan.* 19:00"))
    expect(card(ana, "Sunday").get_by_role("button")).to_have_count(0)
    for critic in critics:
        critic.looks("j-rooms")
    nothing_is_clipped(ben.page)

    ana.press("Enter Friday evening")
    expect(friday.get_by_role("alert")).to_have_text("Type the invitation code.")
    friday.get_by_label("Invitation code").fill("let-me-in")
    ana.press("Enter Friday evening")
    wrong = "This isn't the invitation code of this room."
    expect(friday.get_by_role("alert")).to_have_text(wrong)
    expect(friday.get_by_label("Invitation code")).to_be_focused()
    critics[0].looks("j-rooms-wrong-code")
    for person in (ana, ben):
        enters_friday(person)
        person.reads("You're in “Friday evening”. Open until")
    # The room may have other windows than the line of `main`.
    ana.reads("We'll introduce you to one person in this room.")
    for critic in critics:
        critic.looks("j-spin-in-a-room")

    for person in (ana, ben):
        all_visible(person.page.get_by_role("button", name="Spin", exact=True))
    ana.spin()
    ana.at("/spinning")
    ana.reads("You're in “Friday evening”.")
    critics[0].looks("j-spinning-in-a-room")
    ana.reload()
    ana.reads("You're in “Friday evening”.")
    ben.spin()
    for person in (ana, ben):
        person.can_vote()
        person.vote("pass")
    for person in (ana, ben):
        person.at("/spinning")

    ana.advance(CLOSES_IN_S - 50)
    for person, critic in zip((ana, ben), critics, strict=True):
        person.sees_notice("“Friday evening” closes at 19:30.")
        critic.looks("j-room-closing")
    nothing_is_clipped(ben.page)
    ana.advance(60)
    for person, critic in zip((ana, ben), critics, strict=True):
        person.at("/rooms")
        person.sees_notice("“Friday evening” has closed.")
        expect(card(person, "Friday evening")).to_have_count(0)
        critic.looks("j-room-closed")
    ben.press("Enter Rock")
    ben.reads("You're in “Rock”.")
    ben.spin()
    ben.at("/spinning")


def test_a_date_outlives_its_room_and_after_the_question_its_end_leads_to_the_rooms(
    new_person: Callable[..., Person],
) -> None:
    ana = new_person("ana")
    ana.has_profile()
    ben = Caller(ana.server, "ben", gender="man", seeking=["woman"])
    ben.call("POST", "/api/rooms/friday/enter", {"code": "come-in"})
    ana.arrive()
    enters_friday(ana)
    ana.advance(CLOSES_IN_S - 30)
    ana.sees_notice("“Friday evening” closes at")
    ana.spin()
    ana.at("/spinning")
    match_id = ben.spin()
    ben.acknowledge(match_id)
    ana.vote("yes")
    ben.vote(match_id, "yes")
    ana.at("/video-date")
    ana.advance(40)
    ana.press("End date")
    ana.sees_notice("You ended the date.")
    ana.press("Decide later")
    ana.at("/rooms")
    ana.sees_notice("“Friday evening” has closed.")
    ana.press("Enter Main room")
    ana.at("/spin")
    ana.spin()
    ana.at("/spinning")


def test_a_call_to_a_user_in_another_room_says_that_they_are_there(
    new_person: Callable[..., Person],
) -> None:
    ana = new_person("ana")
    ana.has_profile()
    ben = Caller(ana.server, "ben", gender="man", seeking=["woman"])
    ana.arrive()
    ana.spin()
    ana.at("/spinning")
    match_id = ben.spin()
    ben.acknowledge(match_id)
    ana.vote("yes")
    ben.vote(match_id, "yes")
    ana.at("/video-date")
    ana.advance(40)
    date_id = ben.call("GET", "/api/match/status")["date"]["date_id"]
    ana.press("End date")
    ana.press("Yes, stay in touch")
    ben.call("POST", f"/api/dates/{date_id}/stay_in_touch", {"answer": "yes"})
    ben.call("POST", "/api/rooms/rock/enter", {})
    ana.page.get_by_role("navigation").get_by_role("link", name="Connections").click()
    ana.press("Start a video date with Ben")
    ana.sees_notice("They are in another room. You can call them when you are in the same room.")


def test_a_user_in_line_leaves_it_before_another_room(new_person: Callable[..., Person]) -> None:
    ana = new_person("ana")
    ana.has_profile()
    ana.arrive()
    ana.spin()
    ana.at("/spinning")
    ana.reads("You're in “Main room”.")
    to_rooms(ana)
    expect(ana.page.get_by_role("button", name="Enter Rock")).to_be_disabled()
    ana.press("Leave the line")
    ana.press("Enter Rock")
    ana.reads("You're in “Rock”.")
    assert Caller(ana.server, ana.user_id).call("GET", "/api/match/status")["room"] == "rock"


def test_a_full_room_and_too_many_wrong_codes_say_so(new_person: Callable[..., Person]) -> None:
    ana = new_person("ana")
    ana.has_profile()
    Caller(ana.server, "zoe").call("POST", "/api/rooms/small/enter")
    ana.arrive()
    to_rooms(ana)
    small, friday = card(ana, "A table for one"), card(ana, "Friday evening")
    expect(small).to_contain_text("1 of 1 places taken · full")
    ana.press("Enter A table for one")
    expect(small.get_by_role("alert")).to_have_text("This room is full. Try again later.")
    code = friday.get_by_label("Invitation code")
    for attempt in range(6):
        code.fill(f"guess {attempt}")
        ana.press("Enter Friday evening")
        expect(friday.get_by_role("alert")).not_to_be_empty()
    expect(friday.get_by_role("alert")).to_have_text("Too many wrong codes. Try again in a minute.")
    # What is typed stays while the list is read again.
    code.fill("come")
    with ana.page.expect_response(re.compile("/api/rooms$")):
        pass
    expect(code).to_have_value("come")
    expect(code).to_be_focused()


def test_the_rooms_in_german_fit_a_narrow_window(
    new_person: Callable[..., Person], axe: Path
) -> None:
    ana = new_person("ana", locale="de-DE", viewport=SIZES["narrow"], color_scheme="dark")
    ana.has_profile()
    critic = Critic(ana, axe, "german-dark-narrow")
    ana.sign_in_by_token()
    ana.headed(re.compile("^Hallo, "))
    to_rooms(ana)
    ana.reads("Offen bis")
    expect(card(ana, "Hauptraum")).to_contain_text("Du bist in diesem Raum.")
    nothing_is_clipped(ana.page)
    critic.looks("j-rooms")
    ana.press("Eintreten: Rock")
    ana.reads("Du bist im Raum „Rock“.")
    nothing_is_clipped(ana.page)


def test_with_one_room_the_pages_do_not_mention_rooms(
    contexts: Callable[..., Any], tmp_path: Path
) -> None:
    with running_server(tmp_path / "plain") as server:
        ana = Person(contexts(), server, "ana")
        ana.has_profile()
        ana.arrive()
        with ana.page.expect_response(re.compile("/api/rooms$")):
            ana.open("/rooms")
        ana.at("/")
        ana.at_home()
        for path in ("/", "/spin"):
            ana.open(path)
            ana.page.get_by_role("button", name="Spin").wait_for()
            assert "room" not in ana.page.inner_text("body").lower()
        ana.spin()
        ana.at("/spinning")
        assert "room" not in ana.page.inner_text("body").lower()
        assert ana.problems == []


@pytest.fixture
def cleo(new_person: Callable[..., Person]) -> Person:
    """A person whose page is open, but not signed in."""
    cleo = new_person("cleo")
    cleo.has_profile()
    cleo.open()
    return cleo


def test_yoked_js_enters_a_room_with_hello_or_is_refused(cleo: Person) -> None:
    refused, said, entered, again = run(
        cleo,
        """
        const refused = [];
        for (const options of [{ room: "nowhere" }, { room: "sunday" }, { room: "friday" },
                               { room: "friday", code: "wrong" }]) {
          const client = connect({ token, ...options });
          const first = await code(client.welcomed());
          refused.push([first, client.status, await code(client.spin()), client.refused.code]);
        }
        const client = connect({ token, room: "friday", code: "come-in" });
        const { room } = await client.welcomed();
        const said = [room, client.room];
        const entered = (await client.enterRoom("rock")).room;
        const rooms = await client.rooms();
        said.push(client.room, rooms.find((one) => one.room === "rock").here);
        // A new connection is where the user is: the room of the first hello is not entered again.
        sockets.at(-1).close();
        await next(client, "welcome");
        const again = [client.room, await code(client.enterRoom("small")), client.room];
        client.close();
        return [refused, said, entered, again];
        """,
    )
    codes = ("unknown_room", "room_closed", "wrong_code", "wrong_code")
    assert refused == [[code, "closed", code, code] for code in codes]
    assert said == ["friday", "friday", "rock", 1]
    assert entered == "rock"
    assert again == ["rock", "no refusal", "small"]


def test_yoked_js_without_a_socket_enters_rooms_and_notices_their_end(
    new_person: Callable[..., Person],
) -> None:
    cleo = new_person("cleo")
    cleo.known_problems += ("WebSocket connection to",)
    cleo.has_profile()
    cleo.page.clock.install(time=START)
    cleo.page.add_init_script(REFUSE_SOCKETS)
    cleo.open()
    cleo.page.evaluate(
        """
        async (user_id) => {
          const { Api, connect } = await import("/yoked.js");
          const token = await new Api().devLogin(user_id);
          window.told = [];
          window.refused = connect({ token, room: "friday", code: "wrong" });
          window.client = connect({ token, room: "rock" });
          for (const type of ["idle", "room_closing"]) {
            const tell = ({ detail }) => told.push([type, detail.reason ?? detail.room]);
            client.addEventListener(type, tell);
          }
        }
        """,
        cleo.user_id,
    )
    until(cleo, "refused.status === 'closed' && client.status === 'polling'")
    assert cleo.page.evaluate("[refused.refused.code, client.room]") == ["wrong_code", "rock"]
    entered = cleo.page.evaluate("client.enterRoom('friday', 'come-in')")
    assert entered["room"] == "friday"
    assert cleo.page.evaluate("client.room") == "friday"
    refusal = "client.enterRoom('nowhere').catch((error) => error.code)"
    assert cleo.page.evaluate(refusal) == "unknown_room"
    cleo.page.evaluate("client.spin()")
    cleo.page.clock.run_for(12_000)
    assert cleo.page.evaluate("told") == []
    cleo.advance(CLOSES_IN_S - 50)
    cleo.page.clock.set_system_time("2026-01-02T18:29:10Z")
    until(cleo, "told.length === 1")
    cleo.advance(60)
    cleo.page.clock.set_system_time("2026-01-02T18:30:10Z")
    until(cleo, "told.length === 2")
    assert cleo.page.evaluate("told") == [["room_closing", "friday"], ["idle", "room_closed"]]
    assert cleo.page.evaluate("client.snapshot.state") == "idle"
