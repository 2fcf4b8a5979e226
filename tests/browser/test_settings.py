"""Language, units, keyboard, blocked people, own data, erasure, and addresses that do not exist."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.looks import Critic
from tests.browser.pages import PHONE, Caller, Person, meet
from tests.process.server import run_cli


@pytest.fixture
def ana(new_person: Callable[..., Person]) -> Person:
    ana = new_person("ana")
    ana.has_profile()
    ana.sign_in_by_token()
    ana.at_home()
    return ana


def test_the_language_follows_the_browser_and_can_be_switched(
    new_person: Callable[..., Person], axe: Path
) -> None:
    ana = new_person("ana", locale="de-AT", viewport=PHONE)
    ana.has_profile()
    critic = Critic(ana, axe, "german-phone")
    ana.open()
    ana.headed("Triff jetzt jemanden")
    critic.looks("1-sign-in")
    ana.page.get_by_label("Dein Name").fill(ana.user_id)
    ana.press("Anmelden")
    ana.headed(re.compile("^Hallo, "))
    assert ana.page.evaluate("document.documentElement.lang") == "de"
    ana.open("/profile")
    expect(ana.page.get_by_label("Größte Entfernung (km)")).to_be_visible()
    critic.looks("2-profile")
    ana.open("/settings")
    ana.headed("Einstellungen")
    critic.looks("c-settings")
    ana.page.locator("#set-language").select_option("en")
    ana.headed("Settings")
    expect(ana.page.get_by_role("link", name="Recently met")).to_have_text("Recently met")
    ana.reload()
    ana.headed("Settings")
    assert ana.page.evaluate("document.documentElement.lang") == "en"


def test_what_was_typed_stays_when_the_language_changes(ana: Person) -> None:
    ana.open("/profile")
    ana.page.get_by_label("Name").fill("Anastasia")
    ana.page.get_by_label("Language").select_option("de")
    ana.headed("Dein Profil")
    expect(ana.page.get_by_label("Name")).to_have_value("Anastasia")


def test_distances_are_in_the_unit_of_the_region_or_the_chosen_one(
    new_person: Callable[..., Person],
) -> None:
    ana = new_person("ana", locale="en-US")
    ana.has_profile()
    ana.sign_in_by_token()
    ana.at_home()
    ana.open("/profile")
    field = ana.page.get_by_label(re.compile(r"^Maximum distance \(mi\)"))
    expect(field).to_be_visible()
    field.fill("100")
    ana.press("Save profile")
    ana.sees_notice("Profile saved.")
    where = f"user_id = '{ana.user_id}'"
    assert ana.server.read(f"SELECT max_distance_km FROM people WHERE {where}") == [(160.934,)]
    ana.open("/settings")
    ana.page.locator("#set-units").select_option("km")
    ana.open("/profile")
    expect(ana.page.get_by_label("Maximum distance (km)")).to_have_value("161")


def test_keyboard_votes_can_be_switched_off(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    ana.open("/settings")
    ana.page.get_by_label(re.compile("^Vote with single keys")).uncheck()
    ana.open("/spin")
    meet(ana, ben)
    expect(ana.page.locator("kbd")).to_have_count(0)
    for key in ("y", "ArrowRight", "p"):
        ana.page.keyboard.press(key)
    # Ben's keys are on, but not while a dialog has the focus.
    ben.press("Report")
    ben.page.keyboard.type("pyp")
    ben.page.keyboard.press("Escape")
    for person in couple:
        expect(person.page.get_by_role("button", name=re.compile("^Yes"))).to_be_enabled()
    ben.page.keyboard.press("y")
    ben.reads("Your vote is in.")
    ana.vote("pass")
    ana.sees_notice("You passed.")


def test_a_blocked_person_can_be_unblocked(ana: Person) -> None:
    ben = Caller(ana.server, f"ben-of-{ana.user_id}", gender="man", seeking=["woman"])
    Caller(ana.server, ana.user_id).call("POST", "/api/blocks", {"user_id": ben.user_id})
    ana.open("/settings")
    ana.press("Unblock Ben")
    ana.reads("You haven't blocked anyone.")
    assert ana.server.read(f"SELECT * FROM blocks WHERE blocker = '{ana.user_id}'") == []


def test_a_user_downloads_everything_and_is_erased_after_typing_the_name(ana: Person) -> None:
    ana.open("/settings")
    with ana.page.expect_download() as loading:
        ana.press("Download my data")
    data: dict[str, Any] = json.loads(Path(loading.value.path()).read_text())
    assert data["profile"]["display_name"] == "Ana"
    ana.sees_notice("Your data has been downloaded.")
    ana.press("Erase me")
    dialog = ana.page.get_by_role("dialog", name="Erase everything about you?")
    name = dialog.get_by_label("Type your name, Ana, to confirm")
    name.fill("Ben")
    dialog.get_by_role("button", name="Erase me for good").click()
    expect(dialog.get_by_role("alert")).to_have_text("This isn't your name: Ana")
    name.fill("Ana")
    dialog.get_by_role("button", name="Erase me for good").click()
    ana.headed("Meet someone now")
    ana.reads("Your account and everything about you has been erased.")
    assert ana.server.read(f"SELECT * FROM people WHERE user_id = '{ana.user_id}'") == []


def test_a_user_who_is_erased_elsewhere_is_told_in_the_open_page(ana: Person) -> None:
    data = str(ana.server.database.parent)
    assert run_cli("erase", ana.user_id, "--yes", "--data", data).returncode == 0
    ana.headed("Meet someone now")
    ana.reads("Your account and everything about you has been erased.")


@pytest.mark.parametrize("signed_in", [True, False])
def test_an_unknown_address_shows_a_page_with_a_way_back(
    new_person: Callable[..., Person], axe: Path, signed_in: bool
) -> None:
    ana = new_person("ana")
    critic = Critic(ana, axe, "light-laptop")
    if signed_in:
        ana.has_profile()
        ana.sign_in_by_token()
        ana.at_home()
    answer = ana.page.goto(ana.server.url + "/nowhere")
    assert answer is not None
    assert answer.status == 404
    ana.headed("There is no such page")
    critic.looks("d-not-found")
    ana.press("Go to the home page")
    ana.headed(re.compile("^Hello, " if signed_in else "Meet someone now"))
    ana.at("/")


def test_a_suspended_user_can_appeal_once_a_day(
    new_person: Callable[..., Person], axe: Path
) -> None:
    ana = new_person("ana", viewport=PHONE, color_scheme="dark")
    ana.has_profile()
    critic = Critic(ana, axe, "dark-phone")
    ana.arrive()
    data = str(ana.server.database.parent)
    given = ("--reason", "Be kind to people.", "--data", data)
    assert run_cli("users", "suspend", ana.user_id, *given).returncode == 0
    ana.headed("Your account is suspended")
    ana.reads("No end has been set.")
    critic.looks("i-suspended")
    ana.press("Send")
    ana.reads("Please write why you think so.")
    ana.page.get_by_label("Write to the people who decide").fill("It was not me.\nReally.")
    ana.press("Send")
    ana.reads("Thank you. A person will read it.")
    ana.reload()
    ana.page.get_by_label("Write to the people who decide").fill("Hello?")
    ana.press("Send")
    ana.reads("You have written within the last 24 hours.")
