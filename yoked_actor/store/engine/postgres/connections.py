"""Connections to PostgreSQL, and how values are passed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import adapt, conninfo, rows
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import TextLoader

from yoked_actor.store.engine.errors import StoreMisconfigured, explain
from yoked_actor.store.engine.postgres.transaction import Connection

_INT8 = 20
# A server that does not answer any more is noticed after about this time.
_DEAD_AFTER_S = 10


class _BoolDumper(adapt.Dumper):
    """A flag is a number, as on SQLite."""

    oid = _INT8

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _NumberLoader(adapt.Loader):
    """A sum of whole numbers is a whole number."""

    def load(self, data: adapt.Buffer) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text or b"N" in text else int(text)


def connect_postgres(url: str, *, timeout_s: float, name: str = "yoked-actor") -> Connection:
    """A connection in autocommit mode; raises `psycopg.Error` or `StoreMisconfigured`."""
    connection: Connection = psycopg.connect(
        **_parameters(url),
        connect_timeout=max(2, round(timeout_s)),
        application_name=name,
        keepalives_idle=_DEAD_AFTER_S // 2,
        keepalives_interval=_DEAD_AFTER_S // 5,
        keepalives_count=3,
        tcp_user_timeout=_DEAD_AFTER_S * 1000,
        client_encoding="UTF8",
        autocommit=True,
        cursor_factory=psycopg.RawCursor,
        row_factory=rows.tuple_row,
    )
    connection.prepared_max = 1000
    adapters = connection.adapters
    # Every whole number is a bigint: a statement is prepared once, and not for each size.
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _BoolDumper)
    adapters.register_loader("numeric", _NumberLoader)
    for json in ("json", "jsonb"):
        adapters.register_loader(json, TextLoader)
    return connection


def shown_url(url: str) -> str:
    """The URL without its password, for texts and logs."""
    parts = _parameters(url)
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{parts['port']}" if "port" in parts else ""
    return f"postgresql://{user}{parts.get('host', '')}{port}/{parts.get('dbname', '')}"


def _parameters(url: str) -> dict[str, Any]:
    try:
        return conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # Its text may contain a part of the password.
        raise StoreMisconfigured(
            "store.url is not a URL of PostgreSQL; it looks like"
            " postgresql://user:password@host:5432/database, with %40 for an @ in the password"
        ) from None


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Turn errors of PostgreSQL into the store's own, which name the database."""
    try:
        yield
    except psycopg.Error as error:
        raise explain(error, where) from error
