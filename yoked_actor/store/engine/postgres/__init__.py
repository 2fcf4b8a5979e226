"""PostgreSQL, through psycopg, which is optional: `yoked-actor[postgres]`."""

from __future__ import annotations

try:
    import psycopg as _psycopg  # noqa: F401
except ImportError as error:
    from yoked_actor.store.engine.errors import StoreMisconfigured

    raise StoreMisconfigured(
        "store.url names a PostgreSQL database, and psycopg is not installed:"
        " pip install 'yoked-actor[postgres]'"
    ) from error

from yoked_actor.store.engine.errors import explained_by
from yoked_actor.store.engine.postgres.bell import Bell
from yoked_actor.store.engine.postgres.connections import (
    connect_postgres,
    explained,
    shown_url,
)
from yoked_actor.store.engine.postgres.database import PostgresDatabase
from yoked_actor.store.engine.postgres.errors import explain_postgres
from yoked_actor.store.engine.postgres.schema import (
    check_postgres_is_current,
    migrate_postgres,
    postgres_migrations,
    postgres_schema_of,
)
from yoked_actor.store.engine.postgres.session import Link, Session
from yoked_actor.store.engine.postgres.target import Target, open_target
from yoked_actor.store.engine.postgres.transaction import Connection, PostgresTx
from yoked_actor.store.engine.postgres.transactions import PostgresTransactions

__all__ = [
    "Bell",
    "Connection",
    "Link",
    "PostgresDatabase",
    "PostgresTransactions",
    "PostgresTx",
    "Session",
    "Target",
    "check_postgres_is_current",
    "connect_postgres",
    "explain_postgres",
    "explained",
    "migrate_postgres",
    "open_target",
    "postgres_migrations",
    "postgres_schema_of",
    "shown_url",
]

explained_by(explain_postgres)
