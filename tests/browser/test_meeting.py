"""Two people in two windows: from the sign-in to every outcome of the vote (R11)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import PATIENT, Person, meet

VOTE_WINDOW_S = 5


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    # Three of the cases wait for the end of the vote window.
    return PATIENT | {"matching__vote_window_s": VOTE_WINDOW_S}


@pytest.fixture(scope="module")
def motion() -> str:
    return "no-preference"


def test_a_new_user_fills_in_a_profile_and_spins(new_person: Callable[..., Person]) -> None:
    ana = new_person("ana", timezone_id="Asia/Kathmandu")
    ana.sign_in()
    ana.at("/profile")
    ana.headed("Tell us about yourself")
    page = ana.page
    expect(page.get_by_label("Name")).to_have_value(ana.user_id.title())
    assert page.get_by_label("Time zone").input_value() in ("Asia/Kathmandu", "Asia/Katmandu")
    page.get_by_label("Name").fill("")
    page.get_by_label("Date of birth").fill("2020-01-01")
    page.get_by_label("City or town").fill("Nowhere at all")
    ana.reads("No place found. Try a larger town nearby.")
    page.get_by_label("Maximum age").fill("17")
    ana.press("Save profile")
    ana.reads("Please correct 5 fields.")
    expect(page.get_by_label("Name")).to_be_focused()
    for name, problem in {
        "Name": "Enter the name others will see.",
        "Date of birth": "You must be 18 or older to use Yoked.",
        "Gender": "Choose one.",
        "City or town": "Choose a place from the list.",
        "Maximum age": "Enter a whole number from 18 to 100.",
    }.items():
        field = page.get_by_label(name)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_accessible_description(re.compile(re.escape(problem)))
    page.get_by_label("Name").fill("A")
    # A problem disappears with the first letter that corrects it.
    expect(page.get_by_label("Name")).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator("#display_name-problem")).to_be_hidden()
    page.get_by_label("Name").fill("Ana")
    page.get_by_label("Date of birth").fill("1998-04-02")
    page.get_by_label("Gender").select_option("woman")
    ana.choose_place("kathman", "Kathmandu, Nepal")
    page.get_by_label("Maximum age").fill("40")
    expect(page.locator("[aria-invalid]")).to_have_count(0)
    expect(page.locator("#form-problem")).to_be_hidden()
    interests = page.get_by_role("textbox", name="Interests")
    interests.fill("jazz")
    interests.press("Enter")
    interests.fill("climbing, Old maps")
    ana.press("Save profile")
    ana.sees_notice("Profile saved.")
    ana.at("/spin")
    ana.open("/profile")
    expect(page.get_by_label("City or town")).to_have_value("Kathmandu, Nepal")
    expect(page.locator(".tags li")).to_have_text(
        [re.compile("^jazz"), re.compile("^climbing"), re.compile("^old maps")]
    )
    ana.press("Save profile")
    ana.sees_notice("Profile saved.")
    ana.at("/profile")
    page.locator("#notice").get_by_role("link", name="Spin").click()
    ana.spin()
    ana.at("/spinning")
    ana.reads("No one else is in line right now.")
    expect(page.locator(".waited")).to_have_text(re.compile(r"^0:0[2-9]$"))
    ana.reads("Looking slightly beyond your age and distance limits")
    ana.press("Leave the line")
    ana.at("/spin")
    ana.sees_notice("You left the line.")


def test_the_location_of_the_browser_can_be_used(new_person: Callable[..., Person]) -> None:
    ana = new_person(
        "ana",
        permissions=["geolocation"],
        geolocation={"latitude": 48.2082, "longitude": 16.3738},
    )
    ana.sign_in()
    ana.press("Use my position")
    place = ana.page.get_by_label("City or town")
    expect(place).to_have_value(re.compile(r"^Your position, near .+, Austria$"))
    expect(ana.page.get_by_label("Time zone")).to_have_value("Europe/Vienna")
    ana.page.get_by_label("Gender").select_option("woman")
    ana.press("Save profile")
    ana.sees_notice("Profile saved.")
    stored = ana.server.read(f"SELECT lat, lon FROM people WHERE user_id = '{ana.user_id}'")
    assert stored == [(48.2082, 16.3738)]


def test_a_browser_that_does_not_share_the_location_shows_a_problem(
    new_person: Callable[..., Person],
) -> None:
    ana = new_person("ana", permissions=[])
    ana.sign_in()
    ana.press("Use my position")
    expect(ana.page.get_by_label("City or town")).to_have_accessible_description(
        re.compile("didn't share your position")
    )


def test_a_spin_without_a_profile_leads_to_the_profile(new_person: Callable[..., Person]) -> None:
    ana = new_person("ana")
    ana.sign_in()
    ana.at("/profile")
    ana.page.get_by_role("link", name="Spin").click()
    ana.at("/spin")
    ana.spin()
    ana.at("/profile")
    ana.sees_notice("Complete your profile first.")


def test_both_see_each_others_card_and_the_time_left(
    couple: tuple[Person, Person],
) -> None:
    for person in couple:
        person.press("Sign out")
        person.arrive()
    meet(*couple)
    for me, other in (couple, couple[::-1]):
        card = me.page.get_by_role("article")
        expect(card.get_by_role("heading")).to_have_text(other.name)
        expect(card).to_contain_text(re.compile(r"\d\d · (man|woman) · within \d+ (km|mi)"))
        expect(card.locator(".shared")).to_have_text([re.compile("^jazz")])
        left = int(me.page.get_by_role("timer").inner_text())
        assert 1 <= left <= VOTE_WINDOW_S
        # It counts down, and the ring empties.
        arc = me.page.locator(".ring-arc")
        before = float(arc.get_attribute("stroke-dashoffset") or 0)
        expect(me.page.get_by_role("timer")).to_have_text(re.compile(f"^[1-{left - 1}]$"))
        assert float(arc.get_attribute("stroke-dashoffset") or 0) > before


REQUEUED, OUT, DATE = "/spinning", "/spin", "/video-date"
NO_ANSWER = "They didn't vote in time. Your yes moved you up the line: you have 10 credit."
RAN_OUT = "You didn't vote in time, so you're no longer in line."


@pytest.mark.parametrize(
    ("votes", "places", "stories"),
    [
        (("yes", "yes"), (DATE, DATE), ("", "")),
        (
            ("yes", "pass"),
            (REQUEUED, REQUEUED),
            (
                "It wasn't mutual this time. Your yes moved you up the line: you have 10 credit.",
                "You passed. Looking for someone new.",
            ),
        ),
        (
            ("pass", "pass"),
            (REQUEUED, REQUEUED),
            ("You both passed. Looking for someone new.",) * 2,
        ),
        (("yes", None), (REQUEUED, OUT), (NO_ANSWER, RAN_OUT)),
        (
            ("pass", None),
            (REQUEUED, OUT),
            ("You passed, and they didn't vote. Looking for someone new.", RAN_OUT),
        ),
        ((None, None), (OUT, OUT), ("Neither of you voted in time.",) * 2),
    ],
    ids=lambda value: "-".join(map(str, value)) if len(value) == 2 else None,
)
def test_every_pair_of_votes_leads_where_it_should(
    couple: tuple[Person, Person],
    votes: tuple[str | None, str | None],
    places: tuple[str, str],
    stories: tuple[str, str],
) -> None:
    meet(*couple)
    for person, vote in zip(couple, votes, strict=True):
        if vote is not None:
            person.vote(vote)
    for person, place, story in zip(couple, places, stories, strict=True):
        person.at(place)
        if story:
            person.sees_notice(story)


def test_a_user_cannot_vote_twice(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    meet(ana, ben)
    ana.page.keyboard.press("y")
    ana.reads(f"Your vote is in. Waiting for {ben.name}…")
    expect(ana.page.get_by_role("button", name=re.compile("^(Yes|Pass)"))).to_have_count(0)
    ana.page.keyboard.press("p")
    ben.page.keyboard.press("ArrowRight")
    ana.at("/video-date")
    ben.at("/video-date")


def test_when_the_partner_leaves_a_notice_is_shown_and_the_place_is_kept(
    couple: tuple[Person, Person],
) -> None:
    ana, ben = couple
    meet(ana, ben)
    ben.press("Sign out")
    ben.headed("Meet someone now")
    ana.at("/spinning")
    ana.sees_notice("They left before you could decide. You kept your place in line.")


def test_a_block_in_the_voting_window_ends_the_match(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    meet(ana, ben)
    ana.press("Block")
    ana.page.get_by_role("dialog").get_by_role("button", name="Block").click()
    ana.sees_notice(f"{ben.name} is blocked.")
    ben.sees_notice("They left before you could decide.")
    for person in couple:
        person.at("/spinning")
