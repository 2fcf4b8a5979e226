"""Every public method of the store is called by the conformance tests.

The calls are found in the source: a run of some tests only, or of tests in parallel, sees the same.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from yoked_actor.store import (
    Alerts,
    Audit,
    Calendar,
    CalendarTable,
    Contacts,
    Jobs,
    Moderation,
    Nodes,
    Offers,
    Operators,
    Privacy,
    Rooms,
    Store,
)

HERE = Path(__file__).parent
SUITE = ("test_conformance.py", *sorted(file.name for file in HERE.glob("test_*_conformance.py")))
ROOMS: dict[str, type] = {
    "store": Store,
    "alerts": Alerts,
    "audit": Audit,
    "calendar": Calendar,
    "contacts": Contacts,
    "table": CalendarTable,
    "jobs": Jobs,
    "moderation": Moderation,
    "nodes": Nodes,
    "offers": Offers,
    "operators": Operators,
    "privacy": Privacy,
    "rooms": Rooms,
}
"""How a test names what it calls: `store.jobs.claim(...)`, `table.plan(...)`."""


def called(text: str) -> set[tuple[str, str]]:
    """The (owner, name) of every attribute that is used: `store.jobs.claim` is (jobs, claim)."""
    found: set[tuple[str, str]] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            owner = node.value
            if isinstance(owner, ast.Name):
                found.add((owner.id, node.attr))
            elif isinstance(owner, ast.Attribute):
                found.add((owner.attr, node.attr))
    return found


def public_methods(room: type) -> set[str]:
    return {
        name
        for name, member in inspect.getmembers(room)
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    }


CALLED = set().union(*(called((HERE / name).read_text("utf-8")) for name in SUITE))


@pytest.mark.parametrize("name", ROOMS)
def test_every_public_method_has_a_conformance_test(name: str) -> None:
    tested = {method for owner, method in CALLED if owner == name}
    assert public_methods(ROOMS[name]) - tested == set()


def test_every_room_of_the_store_is_listed() -> None:
    tree = ast.parse(inspect.getsource(Store.__init__).strip())
    rooms = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    assert {room for room in rooms if not room.startswith("_")} <= ROOMS.keys()


def test_a_call_is_found_however_it_is_reached() -> None:
    text = "await world.store.jobs.claim(1)\nlambda table: table.plan([])\njobs.get"
    assert {("jobs", "claim"), ("table", "plan"), ("jobs", "get")} <= called(text)
