"""SQL files: they lie beside the code that runs them."""

from __future__ import annotations

from importlib.resources import files

_STORE = files("yoked_actor.store")


def statement(name: str) -> str:
    """The text of one SQL file: `jobs/claim` names `store/jobs/sql/claim.sql`."""
    room, file = name.split("/")
    return _STORE.joinpath(room, "sql", f"{file}.sql").read_text(encoding="utf-8")
