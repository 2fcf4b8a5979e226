"""Places where people live: a search without the network, in data of GeoNames (CC BY 4.0)."""

from __future__ import annotations

from yoked_actor.edge.places.folding import fold
from yoked_actor.edge.places.gazetteer import Gazetteer, Place

__all__ = [
    "Gazetteer",
    "Place",
    "fold",
]
