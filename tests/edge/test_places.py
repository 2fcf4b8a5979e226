"""The search for places: offline, in any language, and bounded."""

from __future__ import annotations

import pytest

from tests.wire.captured import open_house
from yoked_actor.client import Api, CallRefused
from yoked_actor.domain.time import zone_names
from yoked_actor.edge.http.places import LONGEST_SEARCH, MOST_PLACES
from yoked_actor.edge.places import Gazetteer, fold


@pytest.fixture(scope="module")
def gazetteer() -> Gazetteer:
    return Gazetteer()


@pytest.mark.parametrize(
    ("text", "name", "country", "alias"),
    [
        ("Berlin", "Berlin", "DE", ""),
        ("wien", "Vienna", "AT", "Wien"),
        ("MÜNCHEN", "Munich", "DE", "München"),
        ("Munchen", "Munich", "DE", "München"),
        ("sao pau", "São Paulo", "BR", ""),
        ("東京", "Tokyo", "JP", "東京"),
        ("Москва", "Moscow", "RU", "Москва"),
    ],
)
def test_a_place_is_found_by_any_of_its_names(
    gazetteer: Gazetteer, text: str, name: str, country: str, alias: str
) -> None:
    first = gazetteer.search(text, 8)[0]
    assert (first.name, first.country, first.alias) == (name, country, alias)


def test_a_code_after_a_comma_tells_places_of_one_name_apart(gazetteer: Gazetteer) -> None:
    assert gazetteer.search("Paris", 8)[0].country == "FR"
    [texan] = gazetteer.search("Paris, tx", 8)
    assert (texan.region, texan.country, texan.time_zone) == ("TX", "US", "America/Chicago")


def test_whole_names_come_first_and_the_number_is_bounded(gazetteer: Gazetteer) -> None:
    names = [place.name for place in gazetteer.search("york", 8)]
    assert names[0] == "York"
    assert len(names) == len(gazetteer.search("a", 8)) == 8
    assert gazetteer.search("qqqq", 8) == gazetteer.search("!?", 8) == []


def test_a_position_has_a_nearest_place(gazetteer: Gazetteer) -> None:
    assert gazetteer.nearest(48.2082, 16.3738).country == "AT"
    # Across the date line: the longitudes differ by almost 360 degrees.
    assert gazetteer.nearest(-16.8, -179.9).country == "FJ"


def test_every_place_has_a_time_zone_that_a_profile_may_have(gazetteer: Gazetteer) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    found = {place.time_zone for one in letters for place in gazetteer.search(one, 10_000)}
    assert len(found) > 300
    assert found <= zone_names()


def test_folding_removes_case_accents_and_punctuation() -> None:
    assert fold("  Saint-Étienne du Grès ") == "saint etienne du gres"
    assert fold("Łódź") == "lodz"
    assert fold("Straßenhaus") == "strassenhaus"


async def test_the_call_finds_places_and_refuses_what_is_too_long() -> None:
    async with open_house() as (_, address):
        api = Api(f"http://{address}")
        await api.login("ana")
        [vienna, *_] = await api.places("Wien")
        assert vienna["location"] == {"lat": 48.2085, "lon": 16.3721}
        assert len(await api.places("a")) == MOST_PLACES
        near = await api.call("POST", "/api/places/near", {"lat": 48.2, "lon": 16.4})
        assert near["place"]["country"] == "AT"
        for search in ("", "%20", "a" * (LONGEST_SEARCH + 1)):
            with pytest.raises(CallRefused, match="bad_request"):
                await api.call("GET", f"/api/places?search={search}")
        with pytest.raises(CallRefused, match="bad_request"):
            await api.call("POST", "/api/places/near", {"lat": 91, "lon": 0})
        api.token = None
        with pytest.raises(CallRefused, match="unauthorized"):
            await api.places("Wien")
