"""A morning's offers, stored as a run would store them."""

from __future__ import annotations

from datetime import date

from tests.domain.crowds import outputs_digest
from tests.scenarios.meeting import MAN, WOMAN
from yoked_actor.app.server import Server
from yoked_actor.client import Client
from yoked_actor.domain.offers import OfferRules, OfferSet, make_run
from yoked_actor.domain.offers.offer_sets import offer_id
from yoked_actor.domain.time import after
from yoked_actor.testing import World

START = "2026-01-01T10:00:00Z"
"""Two hours after the run of the day in Berlin: no other comes before the next morning."""
BERLIN = "Europe/Berlin"
DAY = date(2026, 1, 1)


async def store_offers(
    server: Server, *, day: date = DAY, zone: str = BERLIN, lasts_s: float = 3600.0
) -> dict[str, OfferSet]:
    """Freeze, make and store the sets of all users in a zone, without delivery."""
    offers, now = server.base.store.offers, server.base.clock.now()
    frozen = await offers.freeze_pool(zone, day, now, after(now, lasts_s), OfferRules(), now)
    assert frozen.pool is not None
    made = make_run(frozen.pool, frozen.rules)
    await offers.store_sets(zone, list(made.values()), now, frozen.inputs)
    await offers.record_outputs(zone, day, frozen.inputs, outputs_digest(made))
    return made


async def connect_pair(world: World) -> tuple[Client, Client, str]:
    """Ana and Ben, who have accepted each other and were notified, and their connection's id."""
    ana, ben = await world.join("ana", **WOMAN), await world.join("ben", **MAN)
    await store_offers(world.server)
    await ana.answer_offer(offer_id(DAY, "ana", "ben"), "accept")
    connection_id = (await ben.answer_offer(offer_id(DAY, "ben", "ana"), "accept")).connection_id
    for client in (ana, ben):
        assert (await client.wait_for("connection")).connection_id == connection_id
    return ana, ben, str(connection_id)
