"""Values that several examples of the contract use."""

from __future__ import annotations

from datetime import UTC, datetime

from yoked_actor.domain.lobby import Fit
from yoked_actor.domain.matching import Rejections, Relaxation, StrictCost
from yoked_actor.domain.people import Card
from yoked_actor.wire.lobby import events as ev


def moment(second: float) -> datetime:
    """A time in the examples."""
    return datetime(2026, 1, 1, 8, 0, int(second), round(second % 1 * 1e6), UTC)


MATCH, DATE = "m7", "d9"


CARD = Card("ben", "Ben", 29, "man", ("climbing", "film"), 5)


REJECTED = Rejections(seeking=61, history=2, age=40, distance=17)


NEAREST = Relaxation("distance", 12, "km", 3)


STRICT = StrictCost(age=0, distance=5)


CONNECTION = "c4"


CALL = "r3-17"


OFFER = ev.OfferPart(
    "5e1b24f3-3c3c-5b0b-8a0e-8f7d1c1a9a55",
    CARD,
    61.3333,
    ("you both like climbing", "2 years apart", "within 5 km"),
    Fit(2, ("climbing",)),
    moment(0),
    datetime(2026, 1, 2, 8, tzinfo=UTC),
)


TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbmEifQ.c2lnbmF0dXJl"
