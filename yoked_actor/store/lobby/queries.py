"""What the live loop reads and writes, inside a transaction.

A commit is one statement (see `sql/intake.sql`): its rows are encoded by the caller.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from yoked_actor.domain.lobby import Known, Recovered
from yoked_actor.domain.matching import QualityReport
from yoked_actor.domain.nodes import RoomLease
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Row, Tx, read_row, read_rows, snapshot, statement
from yoked_actor.store.lobby import rows
from yoked_actor.store.nodes import RoomLeaseLost

_COMMIT = statement("lobby/commit")
_LEASED_COMMIT = statement("lobby/leased_commit")
_PUT_PERSON = statement("lobby/put_person")
_LOAD_PERSON = statement("lobby/load_person")
_KNOWN = statement("lobby/known")
_QUALITY = statement("lobby/quality")
_COUNT_QUALITY = statement("lobby/count_quality")
_BUSY_ROOMS = statement("lobby/busy_rooms")
_BUSY_USERS = statement("lobby/busy_users")
_NEXT_NUMBER = statement("lobby/next_number")
_OPEN_MATCHES = statement("lobby/open_matches")
_OPEN_DATES = statement("lobby/open_dates")


def commit_in(tx: Tx, parameters: Row, lease: RoomLease | None = None) -> None:
    """Write what `commit_parameters` has encoded, in one statement.

    With a `lease` the statement checks it; `RoomLeaseLost`: it wrote nothing.
    """
    if lease is None:
        tx.execute(_COMMIT, parameters)
        return
    (is_written,) = tx.execute(_LEASED_COMMIT, (*parameters, lease.node, lease.epoch)).fetchone()
    if not is_written:
        raise RoomLeaseLost(f"another node serves the room {lease.room}")


def put_people_in(tx: Tx, people: Sequence[Person]) -> None:
    """Write profiles. They are rare, and bound value by value: nothing is encoded as JSON."""
    tx.executemany(_PUT_PERSON, [rows.person_row(person) for person in people])


def load_user_in(tx: Tx, user_id: str) -> Known:
    """What is stored about one user."""
    wanted = msgspec.json.encode([user_id]).decode()
    return rows.known_of(tx.execute(_KNOWN, (wanted,)).fetchone())


def load_person_in(tx: Tx, user_id: str) -> Person | None:
    """One user's profile."""
    row = tx.execute(_LOAD_PERSON, (user_id,)).fetchone()
    return None if row is None else read_row(row, rows.person_of, "people")


def busy_rooms_in(tx: Tx) -> list[str]:
    """The rooms in which the previous process left something open."""
    return [room for (room,) in tx.execute(_BUSY_ROOMS)]


def recover_in(tx: Tx, boot: int, room: str) -> Recovered:
    """What the previous process left open in a room."""
    wanted = {"room": room}
    with snapshot(tx):
        (busy,) = tx.execute(_BUSY_USERS, wanted).fetchone()
        (next_number,) = tx.execute(_NEXT_NUMBER).fetchone()
        return Recovered(
            users=read_rows(tx.execute(_KNOWN, (busy,)), rows.known_of, "people"),
            matches=read_rows(tx.execute(_OPEN_MATCHES, wanted), rows.match_of, "matches"),
            dates=read_rows(tx.execute(_OPEN_DATES, wanted), rows.date_of, "dates"),
            next_number=next_number,
            boot=boot,
        )


def quality_in(tx: Tx, since: Instant, most: int) -> QualityReport:
    """How good the newest matches were, by group."""
    with snapshot(tx):
        (found,) = tx.execute(_COUNT_QUALITY, (since, most + 1)).fetchone()
        groups = tx.execute(_QUALITY, (since, most)).fetchall()
    return QualityReport(
        matches=min(found, most),
        complete=found <= most,
        groups=[rows.group_quality_of(row) for row in groups],
    )
