"""SQL files: they lie beside the code that runs them.

A statement that PostgreSQL writes in another way has a second file: `claim.postgres.sql` beside
`claim.sql`. The code names and runs the text of SQLite; a transaction of PostgreSQL finds its own
text by it.
"""

from __future__ import annotations

from importlib.resources import files

_STORE = files("yoked_actor.store")
_postgres: dict[str, str] = {}


def statement(name: str) -> str:
    """The text of one SQL file: `jobs/claim` names `store/jobs/sql/claim.sql`."""
    room, file = name.split("/")
    folder = _STORE.joinpath(room, "sql")
    plain = folder.joinpath(f"{file}.sql")
    postgres = folder.joinpath(f"{file}.postgres.sql")
    if not postgres.is_file():
        return plain.read_text(encoding="utf-8")
    text = postgres.read_text(encoding="utf-8")
    if not plain.is_file():
        return text  # only PostgreSQL runs it
    name_of_both = plain.read_text(encoding="utf-8")
    _postgres[name_of_both] = text
    return name_of_both


def joined(*parts: str) -> str:
    """One statement from parts; each may have its own text for PostgreSQL."""
    text = " ".join(parts)
    _postgres[text] = " ".join(map(postgres_text, parts))
    return text


def postgres_text(sql: str) -> str:
    """The text of a statement for PostgreSQL, with the placeholders of SQLite."""
    return _postgres.get(sql, sql)
