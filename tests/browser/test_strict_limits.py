"""The switches "never outside my limits": set, described on the waiting page, and lifted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pages import PATIENT, Caller, Person
from tests.process.server import ServerProcess, running_server

ANA: dict[str, Any] = {"min_age": 25, "max_age": 35, "max_distance_km": 50}
OLDER = {"birth_date": "1960-01-01"}
HAMBURG = {"lat": 53.55, "lon": 10.00}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server on a mock clock: limits widen when the test says so."""
    data = tmp_path_factory.mktemp("server") / "data"
    with running_server(data, "--mock-clock", **PATIENT) as server:
        yield server


@pytest.mark.parametrize(
    ("limit", "he_is", "searched", "cost"),
    [
        (
            "Never outside my ages",
            OLDER,
            "Looking for anyone within your ages, at any distance.",
            "1 person is only kept from you by “never outside my ages”.",
        ),
        (
            "Never outside my distance",
            HAMBURG,
            "Looking for anyone within your distance, at any age.",
            "1 person is only kept from you by “never outside my distance”.",
        ),
    ],
)
def test_a_switch_keeps_a_person_away_until_it_is_lifted(
    new_person: Callable[..., Person], limit: str, he_is: dict[str, Any], searched: str, cost: str
) -> None:
    ana = new_person("ana")
    ana.has_profile(**ANA)
    ana.arrive()
    ana.open("/profile")
    ana.reads(
        "Without these switches, the search widens while you wait: after 2 s by 2 years and to"
        " 120% of the distance, and after 10 s to anyone who suits you."
    )
    switch = ana.page.get_by_role("checkbox", name=limit)
    switch.check()
    ana.press("Save profile")
    ana.sees_notice("Profile saved.")
    ana.reload()
    expect(switch).to_be_checked()
    expect(
        ana.page.get_by_role("group", name="Never outside").get_by_role("checkbox", checked=True)
    ).to_have_count(1)
    ana.open("/spin")
    ana.spin()
    ana.at("/spinning")
    him = ana.user_id.replace("ana", "ben")
    ben = Caller(ana.server, him, gender="man", seeking=["woman"], **he_is)
    assert ben.spin() is None
    # The numbers are computed once a second.
    ana.advance(1)
    ana.reads(cost)
    ana.advance(20)
    ana.reads(searched)
    ana.reads(cost)
    # The page of a user in line can be left, and the limit lifted, without losing the place.
    ana.page.get_by_role("link", name="Profile").click()
    switch.uncheck()
    ana.press("Save profile")
    ana.at("/voting-window")
    ana.reads("Ben")


def test_with_both_switches_nothing_is_said_to_widen(new_person: Callable[..., Person]) -> None:
    ana = new_person("ana", locale="de-DE")
    ana.has_profile(**ANA, strict=["age", "distance"])
    ana.sign_in_by_token()
    ana.headed("Hallo, Ana")
    ana.spin()
    ana.at("/spinning")
    ana.reads("Gerade wartet sonst niemand.")
    ana.advance(20)
    ana.reads("Wir suchen in deinen Grenzen, die nie weiter werden.")
    expect(ana.page.locator(".why-panel .hint")).to_have_text("")
