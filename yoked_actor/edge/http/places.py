"""The search for places, so that no user has to know coordinates."""

from __future__ import annotations

import trio
from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.domain.lobby import Code
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.places import Gazetteer, Place
from yoked_actor.wire.people import http

MOST_PLACES = 8
LONGEST_SEARCH = 80


def add_place_calls(app: QuartTrio, api: Api) -> None:
    """`/api/places`. The gazetteer is loaded by the first call, once, in a thread."""
    loading = trio.Lock()
    loaded: list[Gazetteer] = []

    async def gazetteer() -> Gazetteer:
        async with loading:
            if not loaded:
                loaded.append(await trio.to_thread.run_sync(Gazetteer))
        return loaded[0]

    @app.get("/api/places")
    async def search() -> Response:
        await api.present()
        text = request.args.get("search", "")
        if not 0 < len(text.strip()) <= LONGEST_SEARCH:
            raise Refused(Code.BAD_REQUEST, f"search has 1 to {LONGEST_SEARCH} characters")
        found = (await gazetteer()).search(text, MOST_PLACES)
        return answer(http.PlacesAnswer([_shown(place) for place in found]))

    @app.post("/api/places/near")
    async def near() -> Response:
        # A body, not a query: positions must not end up in the logs of proxies.
        await api.present()
        position = await read_body(http.NearBody)
        found = (await gazetteer()).nearest(position.lat, position.lon)
        return answer(http.NearAnswer(_shown(found)))


def _shown(place: Place) -> http.Place:
    return http.Place(
        place.name,
        place.country,
        http.Location(place.lat, place.lon),
        place.time_zone,
        place.alias or None,
        place.region or None,
        place.near or None,
    )
