"""How SQLite finds rows: no statement that runs per spin, job or user walks through a whole table.

Every named file and every statement in the store's code is explained on a migrated, empty
database, without statistics, which is how the planner sees a real one. A scan of a table that
grows, or of a whole index of it, needs a reason here.
"""

from __future__ import annotations

import ast
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import yoked_actor.store
from yoked_actor.store.engine import migrate, statement

STORE = Path(yoked_actor.store.__file__).parent
FILES = sorted(
    f"{file.parts[-3]}/{file.stem}"
    for file in STORE.glob("*/sql/*.sql")
    if ".postgres" not in file.name
)

SMALL = {"meta", "job_pauses", "alerts", "dead_letter_news", "dead_letter_alerts", "lease_clock"}
"""Tables that do not grow with people, spins or days."""

BOUNDED = {
    "jobs_waiting": "the jobs that wait, counted every few seconds by the alarm",
    "jobs_leased": "the jobs that run",
    "jobs_dead": "the dead letters that nobody has dismissed",
    "zone_runs_one_plan": "one for each inhabited zone",
    "open_matches": "the matches that are open",
    "open_dates": "the dates that are open",
    "reports_open": "the reports that nobody has closed, up to a limit",
    "warnings_unseen": "the warnings that were not seen yet",
}
"""Partial indexes that hold what is under way, and not what has been."""

NOT_ALONE = {
    "lobby/intake": "a script; what its triggers do is explained by itself",
    "offers/load_sets": "the beginning of a statement",
    "offers/undelivered": "the end of one",
}
"""Files that are no statement by themselves; ENDINGS has what they are put together to."""

ENDINGS = (
    "WHERE s.day = ? AND s.zone = ? ORDER BY s.user_id",
    "WHERE s.user_id = ? ORDER BY s.offered_at",
    statement("offers/undelivered"),
)

_START = "once, at the start"
_OPERATOR = "for an operator who looks, on the reading connection"
_TRACES = "before an erasure, on a connection that nobody waits for"
_ERASURE = "an erasure, which is rare, in a table of what operators did"
_DOCTOR = "yoked-actor doctor, on a copy or on a reading connection"
_EXPORT = "an export of one's data, on a connection that nobody waits for"
_DECLARED = "all declared rooms, at the start and after an operator changed one"
SCANS = {
    "lobby/busy_rooms": _START,
    "lobby/busy_users": _START,
    "offers/calendar_list": _OPERATOR,
    "offers/pool_votes": "the newest matches up to a limit, on a connection that nobody waits for",
    "jobs/list": _OPERATOR,
    "jobs/bulk_find": _OPERATOR,
    "jobs/erased:SELECT type, key FROM job_ledger WHERE instr": _TRACES,
    "jobs/erased:SELECT detail, number FROM audit WHERE action = ?": _ERASURE,
    "upkeep/invariants:": _DOCTOR,
    "upkeep/inspection:": _DOCTOR,
    "ops/operators:SELECT user_id FROM people UNION SELECT user_id FROM seats": _OPERATOR,
    "ops/audit:SELECT number, at, who, action": _OPERATOR,
    "ops/operators:SELECT user_id, at, by, reason, until FROM suspended": _START,
    "ops/reviews:SELECT r.number, r.reporter": _OPERATOR,
    "people/erasure:SELECT day, user_id FROM offer_sets WHERE instr(candidates": _TRACES,
    "people/erasure:UPDATE suspended SET by": _ERASURE,
    "people/erasure:UPDATE warnings SET by": _ERASURE,
    "people/erasure:UPDATE audit SET detail = ?2 WHERE detail = ?1": _ERASURE,
    "people/erasure:UPDATE reports SET resolved_by": _ERASURE,
    "jobs/views:SELECT type, status, count(*) FROM jobs": "tests and benchmarks",
    "offers/fresh_pool:SELECT count(*) FROM erased": "twice in a zone's run; short",
    "offers/runs:SELECT zone, day FROM offer_runs WHERE (CAST(?1": _OPERATOR,
    "people/export:SELECT m.number, m.a, m.b": _EXPORT,
    "rooms/rooms:SELECT count(*) FROM rooms": _DECLARED,
    "rooms/rooms:SELECT id, definition FROM rooms": _DECLARED,
    "rooms/rooms:SELECT room, user_id FROM room_guests": _DECLARED,
    "people/export:SELECT number, CASE WHEN a = ?1 THEN b ELSE a END, started_at": _EXPORT,
}
"""What may scan, by how its name begins, with the reason."""

MADE_UP = {
    "engine/pruning",
    "ops/operators",
    "people/erasure",
    "people/export",
    "upkeep/copying",
    "upkeep/inspection",
}
"""Modules that put statements together from parts, which are not explained here."""


class _Any(dict[str, Any]):
    def __missing__(self, key: str) -> None:
        return None


@pytest.fixture(scope="module")
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, None)
    connection.executescript(statement("lobby/intake"))  # commit.sql puts into its view
    yield connection
    connection.close()


def plan(db: sqlite3.Connection, text: str) -> list[str]:
    """What SQLite would do, a line for each loop."""
    numbers = [int(number) for number in re.findall(r"\?(\d+)", text)]
    count = max(numbers, default=0) or len(re.findall(r"\?", text))
    given: Any = _Any() if re.search(r"(?<![\w:]):[a-z_]+", text) else [None] * count
    return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {text}", given)]


def scans(db: sqlite3.Connection, text: str) -> list[str]:
    """The lines of a plan that walk through a table that grows."""
    tables = {
        name
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        if not name.startswith("sqlite_")
    } - SMALL
    alias = {short: long for long, short in re.findall(r"\b(\w+) AS (\w+)", text)}
    found = []
    for line in plan(db, text):
        match = re.match(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?", line)
        if match is None:
            continue
        name, index = match.groups()
        if alias.get(name, name) in tables and index not in BOUNDED:
            found.append(line)
    return found


def is_sql(text: object) -> bool:
    return isinstance(text, str) and bool(re.match(r"(SELECT|INSERT|UPDATE|DELETE|WITH)\s", text))


def statements() -> tuple[dict[str, str], set[str]]:
    """Every statement in the store's code that is a plain text, by where it is; and the modules
    that put some together."""
    found: dict[str, str] = {}
    made_up: set[str] = set()
    for file in sorted(STORE.rglob("*.py")):
        module = file.relative_to(STORE).with_suffix("").as_posix()
        if module.startswith("engine/postgres/"):
            continue  # SQLite does not run them
        nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
        parts: set[int] = set()
        for joined in (node for node in nodes if isinstance(node, ast.JoinedStr)):
            parts.update(map(id, joined.values))
            first = joined.values[0]
            if isinstance(first, ast.Constant) and is_sql(first.value):
                made_up.add(module)
        for node in nodes:
            if isinstance(node, ast.Constant) and id(node) not in parts and is_sql(node.value):
                text = str(node.value)
                found[f"{module}:{' '.join(text.split())}"] = text
    return found, made_up


PLAIN, PUT_TOGETHER = statements()


def may_scan(name: str) -> bool:
    return any(name.startswith(known) for known in SCANS if ":" in known) or name in SCANS


@pytest.mark.parametrize("name", [name for name in FILES if name not in NOT_ALONE])
def test_a_named_statement_finds_its_rows_by_an_index(db, name):
    found = scans(db, statement(name))
    assert not found or may_scan(name), found


@pytest.mark.parametrize("end", ENDINGS)
def test_sets_of_offers_are_found_by_an_index(db, end):
    assert scans(db, f"{statement('offers/load_sets')} {end}") == []


@pytest.mark.parametrize("where", PLAIN)
def test_a_statement_in_the_code_finds_its_rows_by_an_index(db, where):
    found = scans(db, PLAIN[where])
    assert not found or may_scan(where), found


def test_every_exception_is_one():
    assert NOT_ALONE.keys() <= set(FILES)
    for known in SCANS:
        assert known in FILES or any(where.startswith(known) for where in PLAIN), known


def test_no_other_module_puts_statements_together():
    assert PUT_TOGETHER == MADE_UP


def test_a_scan_is_seen(db):
    assert scans(db, "SELECT u.a FROM met AS u WHERE met_at > ?") == ["SCAN u"]
    assert scans(db, "SELECT count(*) FROM people") != []
    assert scans(db, "SELECT 1 FROM people WHERE user_id = ?") == []


def triggered() -> list[str]:
    """What the triggers of a commit do, statement by statement."""
    bodies = re.findall(r"\nBEGIN\n(.*?)\nEND;", statement("lobby/intake"), re.DOTALL)
    each = [one.strip() for body in bodies for one in body.split(";") if one.strip()]
    return [re.sub(r"\bnew\.\w+", "?", one) for one in each]


@pytest.mark.parametrize("text", triggered())
def test_a_commit_finds_its_rows_by_an_index(db, text):
    assert scans(db, text) == []


def test_every_trigger_of_a_commit_is_explained():
    assert len(triggered()) >= statement("lobby/intake").count("CREATE TEMP TRIGGER") >= 9
