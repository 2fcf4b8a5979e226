"""The live loop in the database."""

from __future__ import annotations

from yoked_actor.store.lobby.queries import (
    busy_rooms_in,
    commit_in,
    load_person_in,
    load_user_in,
    put_people_in,
    quality_in,
    recover_in,
)
from yoked_actor.store.lobby.rows import commit_parameters, person_of

__all__ = [
    "busy_rooms_in",
    "commit_in",
    "commit_parameters",
    "load_person_in",
    "load_user_in",
    "person_of",
    "put_people_in",
    "quality_in",
    "recover_in",
]
