"""A real PostgreSQL for tests: an unprivileged process, on a Unix socket in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from yoked_actor.store.engine.postgres import connect_postgres, migrate_postgres

USER = "yoked"
_WAIT_S = 60.0


def find_programs() -> Path | None:
    """The folder with the newest server of Debian's packages, or the one on the PATH."""
    folders = sorted(
        (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")),
        key=lambda folder: float(folder.parent.name),
    )
    if folders:
        return folders[-1]
    found = shutil.which("initdb")
    return None if found is None else Path(found).resolve().parent


class PostgresServer:
    """One server process. Ends with the process that started it."""

    def __init__(self, programs: Path, *, fsync: bool = False) -> None:
        self._programs = programs
        # A short path: a Unix socket has at most 107 characters.
        self.directory = Path(tempfile.mkdtemp(prefix="yoked-pg-", dir="/tmp"))
        self._data = self.directory / "data"
        self._settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.directory),
            "fsync": "on" if fsync else "off",
            "synchronous_commit": "on",
            "full_page_writes": "on" if fsync else "off",
            "max_connections": "60",
            "shared_buffers": "32MB",
            "autovacuum_naptime": "10s",
        }
        self._databases = 0
        self._store: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        if os.getuid() == 0:
            owner = _owner()
            os.chown(self.directory, owner.pw_uid, owner.pw_gid)
        self.directory.chmod(0o755)
        self._run("initdb", "--no-sync", "--auth=trust", f"--username={USER}",
                  "--encoding=UTF8", "--locale=C", f"--pgdata={self._data}")  # fmt: skip

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        settings = [
            part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")
        ]
        log = (self.directory / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [*_as_owner(), "--pdeathsig=QUIT", self._programs / "postgres",
                 "-D", self._data, *settings],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
            )  # fmt: skip
        until = time.monotonic() + _WAIT_S
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
            except psycopg.OperationalError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise AssertionError((self.directory / "log").read_text()) from None
                time.sleep(0.05)
            else:
                return

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stop the server: SIGQUIT is an immediate shutdown, without a checkpoint."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(_WAIT_S)
            self._process = None

    def close(self) -> None:
        """Stop the server and delete its files."""
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def url(self, database: str) -> str:
        """The URL of a database."""
        return f"postgresql://{USER}@/{database}?host={self.directory}"

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """A new database, until the block is left; its URL."""
        self._databases += 1
        name = f"test_{self._databases}"
        self._admin("CREATE DATABASE {} TEMPLATE {}", name, template)
        try:
            yield self.url(name)
        finally:
            if self._process is not None:
                self._admin("DROP DATABASE {} WITH (FORCE)", name)

    def empty_store(self) -> str:
        """The URL of a database with the schema of the store and no rows.

        It is used again: to delete all rows is much faster than to create a database.
        """
        if self._store is not None and not _emptied(self._store):
            self._store = None
        if self._store is None:
            self._databases += 1
            name = f"store_{self._databases}"
            self._admin("CREATE DATABASE {} TEMPLATE {}", name, "yoked_template")
            self._store = self.url(name)
        return self._store

    def make_template(self) -> None:
        """Make a database with the schema of the store, which tests copy."""
        self._admin("CREATE DATABASE {}", "yoked_template")
        with connect_postgres(self.url("yoked_template"), timeout_s=10) as connection:
            migrate_postgres(connection, "the template")

    def _admin(self, text: str, *names: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL(text).format(*map(sql.Identifier, names)))

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [*_as_owner(), self._programs / program, *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd="/", check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr


_TABLES = (
    "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
)
_SEQUENCES = _TABLES.replace("'r'", "'S'")


def _emptied(url: str) -> bool:
    """Delete all rows; False when a test has changed the schema."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        tables = {name for (name,) in connection.execute(_TABLES)}
        with psycopg.connect(url.replace(_database_in(url), "yoked_template")) as template:
            same = tables == {name for (name,) in template.execute(_TABLES)}
            versions = "SELECT version FROM schema_migrations ORDER BY 1"
            found = connection.execute(versions).fetchall()
            if not same or found != template.execute(versions).fetchall():
                return False
        deletes = [f'DELETE FROM "{table}"' for table in tables - {"schema_migrations"}]
        restarts = [
            f'ALTER SEQUENCE "{name}" RESTART' for (name,) in connection.execute(_SEQUENCES)
        ]
        connection.execute("; ".join(["BEGIN", *deletes, *restarts, "COMMIT"]))
    return True


def _database_in(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


def _owner() -> pwd.struct_passwd:
    """PostgreSQL does not run as root."""
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _as_owner() -> list[str]:
    if os.getuid() != 0:
        return ["setpriv"]
    owner = _owner()
    return ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups"]


@contextmanager
def running_postgres(*, fsync: bool = False) -> Iterator[PostgresServer]:
    """A server with a template of the store's schema; skips the test where there is none."""
    programs = find_programs()
    if programs is None or shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    server = PostgresServer(programs, fsync=fsync)
    try:
        server.start()
        server.make_template()
        yield server
    finally:
        server.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of a process. It does not wait for the disk."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> str:
    """A database with the schema of the store and no rows."""
    return postgres_server.empty_store()


@pytest.fixture
def empty_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A database of its own for each test, without tables."""
    with postgres_server.database() as url:
        yield url
