"""The store: everything that outlives the process.

A store passes the conformance tests in `tests/store/`.
"""

from __future__ import annotations

from yoked_actor.domain.lobby import MAIN, Changes, Known, Recovered
from yoked_actor.domain.matching import QualityReport
from yoked_actor.domain.nodes import RoomLease
from yoked_actor.domain.people import Appeal, Person, Report, ReportLimits
from yoked_actor.domain.time import Instant
from yoked_actor.store.contacts import Contacts
from yoked_actor.store.engine import Bell, Database, Turn, Tx
from yoked_actor.store.jobs import Jobs, LeaseClock
from yoked_actor.store.lobby import (
    busy_rooms_in,
    commit_in,
    commit_parameters,
    load_person_in,
    load_user_in,
    put_people_in,
    quality_in,
    recover_in,
)
from yoked_actor.store.nodes import Nodes
from yoked_actor.store.offers import Calendar, Offers
from yoked_actor.store.ops import Alerts, Audit, Moderation, Operators
from yoked_actor.store.people import Privacy, add_appeal_in, add_report_in, erase_in
from yoked_actor.store.rooms import Rooms


class Store:
    """The live loop's own data, and the rooms of the store. Made by `open_store`.

    A method of a room that writes is durable on return, and raises `StoreUnavailable` when nothing
    was written. `Writer.write` and `Database.read` say when these methods checkpoint, and what a
    cancellation does.
    """

    def __init__(
        self, database: Database, boot: int, leases: LeaseClock, bell: Bell | None = None
    ) -> None:
        self._database = database
        self._boot = boot
        self._bell = bell
        self.alerts = Alerts(database)
        self.audit = Audit(database)
        self.calendar = Calendar(database)
        self.contacts = Contacts(database)
        self.jobs = Jobs(database, leases)
        self.nodes = Nodes(database)
        self.moderation = Moderation(database)
        self.offers = Offers(database)
        self.operators = Operators(database)
        self.privacy = Privacy(database)
        self.rooms = Rooms(database)

    @property
    def boot(self) -> int:
        """The number of this start, unique among all starts on this database."""
        return self._boot

    @property
    def bell(self) -> Bell | None:
        """Wake-ups of the engine between processes; None on SQLite, which has none."""
        return self._bell

    @property
    def is_shared(self) -> bool:
        """Whether servers on several machines can use the database."""
        return self._bell is not None

    @property
    def pending_writes(self) -> int:
        """How many writes are queued; those of the commit in progress are not counted."""
        return self._database.pending_writes

    async def commit(self, changes: Changes, lease: RoomLease | None = None) -> None:
        """Save all or nothing; durable on return.

        With a `lease`, the statement that writes checks it. `RoomLeaseLost`: another node has the
        room, and nothing was written.

        Once it is queued it is not cancelled: the caller always learns how it ended.
        """
        parameters = commit_parameters(changes)
        if not (changes.people or changes.erased):
            await self._database.write(
                lambda tx: commit_in(tx, parameters, lease), atomic=True, turn=Turn.FREE
            )
            return

        def apply(tx: Tx) -> None:
            put_people_in(tx, changes.people)
            commit_in(tx, parameters, lease)
            for erasure in changes.erased:
                erase_in(tx, erasure, self.privacy.found(erasure.user_id))

        # An erasure searches tables that other processes write to.
        turn = Turn.ALONE if changes.erased else Turn.FREE
        await self._database.write(apply, turn=turn)
        for erasure in changes.erased:
            self.privacy.forget(erasure.user_id)

    async def secret(self, name: str, made: bytes) -> bytes:
        """A secret of the server: the one that was stored first, or else `made`."""

        def keep(tx: Tx) -> bytes:
            tx.execute("INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING", (name, made))
            row = tx.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()
            return bytes(row[0])

        return await self._database.write(keep)

    async def add_report(self, report: Report, limits: ReportLimits) -> None:
        """Save a report; durable on return. `TooManyReports`: nothing was stored."""
        await self._database.write(lambda tx: add_report_in(tx, report, limits))

    async def add_appeal(self, appeal: Appeal, every_s: float) -> None:
        """Save an appeal; durable on return. `TooManyAppeals`: nothing was stored."""
        await self._database.write(lambda tx: add_appeal_in(tx, appeal, every_s))

    async def load_user(self, user_id: str) -> Known:
        """What is stored about one user; bars as they were stored, past ones too."""
        return await self._database.read(lambda tx: load_user_in(tx, user_id))

    async def load_person(self, user_id: str) -> Person | None:
        """One user's profile."""
        return await self._database.read(lambda tx: load_person_in(tx, user_id))

    async def recover(self, room: str = MAIN) -> Recovered:
        """What the previous process left open in a room."""
        return await self._database.read(lambda tx: recover_in(tx, self._boot, room))

    async def busy_rooms(self) -> list[str]:
        """The rooms in which the previous process left something open, in ascending order."""
        return await self._database.read(busy_rooms_in)

    async def quality(self, since: Instant, most: int) -> QualityReport:
        """How good the newest matches were, at most `most` of those made since an instant."""
        return await self._database.read(lambda tx: quality_in(tx, since, most))

    def lost_files(self) -> str | None:
        """What happened to the files of the database; None when all are in place."""
        return self._database.lost_files()

    async def ping(self) -> None:
        """Read one row, or raise `StoreUnavailable`."""
        await self._database.ping()

    async def aclose(self) -> None:
        """Finish the writes that were queued, then close the database. Is never cancelled."""
        await self._database.aclose()
