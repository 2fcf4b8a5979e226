"""Crashes between any two statements, and in the middle of a write to the log.

A state machine commits random changes. From hooks inside SQLite (each statement, triggers included,
and every few steps of its machine) it takes the files as a crash would leave them, opens that image
as a new server would, and compares. What had returned must be there; what had not, wholly or not at
all. Three families of users change independently, so that commits can share a transaction and each
still be judged by itself.
"""

from __future__ import annotations

import os
import queue
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

import msgspec
import trio
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from msgspec.structs import replace

from tests.store.raw import raw_connection
from yoked_actor.domain.lobby import Changes, Known, Match, MatchStatus, Seat, State, VideoDate
from yoked_actor.domain.lobby.records import Pair
from yoked_actor.domain.people import Person
from yoked_actor.store import InlineRunner, Store, open_store

FAMILIES = ("a", "b", "c")
MEMBERS = 4
T = TypeVar("T")
SOMEBODY = Person(
    user_id="somebody",
    display_name="Somebody",
    birth_date=date(1998, 4, 2),
    gender="woman",
    lat=52.52,
    lon=13.4,
    time_zone="Europe/Berlin",
    interests=("jazz",),
    seeking=frozenset({"man"}),
    min_age=24,
    max_age=36,
    max_distance_km=50.0,
)


def members(family: str) -> list[str]:
    return [f"{family}{n}" for n in range(MEMBERS)]


class Remembered(msgspec.Struct, frozen=True):
    """What a family's part of the store should hold."""

    users: dict[str, Known]
    matches: dict[str, Match] = {}
    dates: dict[str, VideoDate] = {}


class Image(NamedTuple):
    """The files as a crash leaves them."""

    database: bytes
    log: bytes


def family_changes(family: str, seed: int) -> Changes:
    """Changes to one family alone, as many as a busy round makes."""
    random = Random(seed)

    def maybe() -> int | None:
        return random.choice([None, random.randrange(2**53)])

    def number() -> int:
        return 3 * random.randrange(10) + FAMILIES.index(family) + 1

    def pair() -> Pair:
        a, b = sorted(random.sample(members(family), 2))
        return a, b

    def person() -> Person:
        name = f"name {random.randrange(9)}"
        return replace(SOMEBODY, user_id=random.choice(members(family)), display_name=name)

    def seat() -> Seat:
        state = random.choice(list(State))
        return Seat(
            random.choice(members(family)),
            state,
            waiting_since=maybe(),
            credit=random.randrange(51),
            match_id=f"m{number()}" if state in (State.MATCHED, State.VOTING) else None,
            last_match_id=random.choice([None, f"m{number()}"]),
        )

    def match() -> Match:
        ended_at = maybe()
        status = MatchStatus.VOTING if ended_at is None else MatchStatus.CANCELLED
        return Match(f"m{number()}", *pair(), status, 1, 2, ended_at=ended_at)

    def video_date() -> VideoDate:
        return VideoDate(f"d{number()}", *pair(), started_at=1, ends_at=2, ended_at=maybe())

    def some(make: Callable[[], T]) -> list[T]:
        return [make() for _ in range(random.randrange(4))]

    return Changes(
        people=some(person) if random.random() < 0.5 else [],
        seats=some(seat),
        matches=some(match),
        dates=some(video_date),
        met=some(lambda: (pair(), maybe())),
        bars=some(lambda: (pair(), maybe())),
        blocks=some(lambda: (pair(), maybe())),
    )


class Everything:
    """A plain model of the store: dictionaries that changes are written to."""

    def __init__(self) -> None:
        self.people: dict[str, Person] = {}
        self.seats: dict[str, Seat] = {}
        self.matches: dict[str, Match] = {}
        self.dates: dict[str, VideoDate] = {}
        self.met: dict[Pair, int | None] = {}
        self.bars: dict[Pair, int | None] = {}
        self.blocks: dict[Pair, int | None] = {}

    def copy(self) -> Everything:
        twin = Everything()
        for name, rows in vars(self).items():
            setattr(twin, name, dict(rows))
        return twin

    def apply(self, changes: Changes) -> Everything:
        self.people |= {person.user_id: person for person in changes.people}
        self.seats |= {seat.user_id: seat for seat in changes.seats}
        self.matches |= {match.match_id: match for match in changes.matches}
        self.dates |= {video_date.date_id: video_date for video_date in changes.dates}
        self.met |= dict(changes.met)
        self.bars |= dict(changes.bars)
        self.blocks |= dict(changes.blocks)
        return self

    def remembered(self, family: str) -> Remembered:
        return Remembered(
            {user: self._known(user) for user in members(family)},
            {key: match for key, match in self.matches.items() if match.is_open},
            {key: one for key, one in self.dates.items() if one.ended_at is None},
        )

    def _known(self, user_id: str) -> Known:
        def others(pairs: dict[Pair, int | None]) -> dict[str, int]:
            mine = {pair: at for pair, at in pairs.items() if at is not None and user_id in pair}
            return {a if b == user_id else b: at for (a, b), at in mine.items()}

        seat = self.seats.get(user_id)
        return Known(
            user_id,
            person=self.people.get(user_id),
            seat=seat,
            blocks={b: at for (a, b), at in self.blocks.items() if a == user_id and at is not None},
            met=others(self.met),
            bars=others(self.bars),
            last_match=self.matches.get(seat.last_match_id or "") if seat else None,
        )


class Server:
    """A store that is open on a thread of its own, with a hook that can take crash images."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "yoked.db"
        self._opened: queue.SimpleQueue[tuple[Store, trio.lowlevel.TrioToken]] = queue.SimpleQueue()
        self._leave = trio.Event()
        self._countdown = -1
        self._taken: list[Image] = []
        self._thread = threading.Thread(target=trio.run, args=(self._serve,))
        self._thread.start()
        self._store, self._token = self._opened.get(timeout=10)
        # Held open: to close a file that SQLite has open would drop the locks it has on it.
        self._files = [os.open(name, os.O_RDONLY) for name in (self._path, f"{self._path}-wal")]

    def commit(self, rounds: list[Changes], crash_at: int) -> Image:
        """Commit at the same time; the image of a crash after `crash_at` hooks, or at the end."""
        self._taken.clear()
        self._countdown = crash_at
        trio.from_thread.run(self._commit, rounds, trio_token=self._token)
        self._countdown = -1
        return self._taken[0] if self._taken else self.image()

    def image(self) -> Image:
        return Image(*(os.pread(file, os.fstat(file).st_size, 0) for file in self._files))

    def close(self) -> None:
        trio.from_thread.run_sync(self._leave.set, trio_token=self._token)
        self._thread.join()
        for file in self._files:
            os.close(file)

    async def _serve(self) -> None:
        async with open_store(self._path, runner=InlineRunner(), checkpoint_pages=8) as store:
            self._watch(raw_connection(store))
            self._opened.put((store, trio.lowlevel.current_trio_token()))
            await self._leave.wait()

    async def _commit(self, rounds: list[Changes]) -> None:
        async with trio.open_nursery() as nursery:
            for changes in rounds:
                nursery.start_soon(self._store.commit, changes)

    def _watch(self, connection: sqlite3.Connection) -> None:
        connection.set_trace_callback(lambda _: self._pass())
        connection.set_progress_handler(self._pass, 40)

    def _pass(self) -> int:
        if self._countdown == 0:
            self._taken.append(self.image())
        self._countdown -= 1
        return 0


def torn(before: Image, after: Image, share: float) -> Image:
    """A crash in the middle of writing the log: only a part of what was written arrived."""
    sector = 512
    same = 0
    while before.log[same : same + sector] == after.log[same : same + sector] != b"":
        same += sector
    cut = same + round(share * (len(after.log) - same))
    return Image(before.database, after.log[:cut] + before.log[cut:])


async def read_back(path: Path) -> dict[str, Remembered]:
    """What a new server finds, by family."""
    async with open_store(path, runner=InlineRunner()) as store:
        recovered = await store.recover()
        return {
            family: Remembered(
                {user: await store.load_user(user) for user in members(family)},
                {one.match_id: one for one in recovered.matches if one.a[0] == family},
                {one.date_id: one for one in recovered.dates if one.a[0] == family},
            )
            for family in FAMILIES
        }


class Crashes(RuleBasedStateMachine):
    """Commit, crash, look."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="yoked-crash-"))
        self.model = {family: Everything() for family in FAMILIES}
        self.images = 0
        self.server = Server(self.root)

    def teardown(self) -> None:
        self.server.close()
        shutil.rmtree(self.root)

    @rule(
        families=st.sets(st.sampled_from(FAMILIES), min_size=1),
        seed=st.integers(0, 2**32),
        crash_at=st.integers(0, 60),
        torn_at=st.floats(0, 1),
        go_on_from_image=st.booleans(),
    )
    def commit_and_crash(
        self,
        families: set[str],
        seed: int,
        crash_at: int,
        torn_at: float,
        go_on_from_image: bool,
    ) -> None:
        rounds = {family: family_changes(family, seed) for family in sorted(families)}
        before = self.server.image()
        crashed = self.server.commit(list(rounds.values()), crash_at)
        after = self.server.image()
        self.check(torn(before, after, torn_at), rounds)
        found, directory = self.check(crashed, rounds)
        for family, changes in rounds.items():
            told = self.model[family].copy().apply(changes)
            if not go_on_from_image or found[family] == told.remembered(family):
                self.model[family] = told
        if go_on_from_image:
            self.server.close()
            self.server = Server(directory)
        else:
            self.check(after, {})

    def check(
        self, image: Image, unreturned: dict[str, Changes]
    ) -> tuple[dict[str, Remembered], Path]:
        """Open an image; every family is as it was, or as its unreturned commit makes it."""
        self.images += 1
        directory = self.root / f"image-{self.images}"
        directory.mkdir()
        path = directory / "yoked.db"
        path.write_bytes(image.database)
        path.with_name("yoked.db-wal").write_bytes(image.log)
        found = trio.run(read_back, path)
        for family in FAMILIES:
            possible = [self.model[family].remembered(family)]
            if family in unreturned:
                changed = self.model[family].copy().apply(unreturned[family])
                possible.append(changed.remembered(family))
            assert found[family] in possible
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
        return found, directory


def test_a_crash_between_any_two_statements_forgets_nothing_that_was_told() -> None:
    run_state_machine_as_test(
        Crashes,
        settings=settings(
            max_examples=20,
            stateful_step_count=6,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
