"""The matchmaker: it commits before it sends, and stops at a bug."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import UTC, date, datetime
from math import ceil
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from tests.scenarios.meeting import (
    MAN,
    WOMAN,
    join_pair,
    match,
    news,
    open_voting,
    state_of,
    status,
    told,
)
from tests.scenarios.talker import Talker
from tests.store.raw import raw_connection
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import Matchmaker, Message
from yoked_actor.actors.lobby.crash import MatchmakerCrashed
from yoked_actor.actors.lobby.round_report import AuditFailed
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.client import CallRefused
from yoked_actor.domain.lobby import Known, Lobby, Notice, Reply, State
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.notices import NowWaiting, TierReached
from yoked_actor.domain.lobby.replies import Done
from yoked_actor.domain.people import Person
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant
from yoked_actor.settings import Settings
from yoked_actor.store import InlineRunner, open_store
from yoked_actor.telemetry import Metrics
from yoked_actor.testing import World, open_world

IMPATIENT = {"store": {"busy_timeout_s": 0.0}}


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Hold the database's write lock from another connection."""
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def is_stalled(world: World) -> bool:
    return world.server.live.matchmaker.stalled


# With a store that cannot store


async def test_nothing_is_sent_before_it_is_stored_and_everything_is_sent_once_after(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=IMPATIENT) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        replies = []

        async def spin():
            replies.append(await ben.spin())

        async with trio.open_nursery() as nursery:
            with locked(database):
                nursery.start_soon(spin)
                await trio.sleep(30)
                assert replies == []
                assert await news(ana) == await news(ben) == []
                # The decision was taken back: both stand where they stood.
                assert await state_of(world, "ana") == "waiting"
                assert await state_of(world, "ben") == "idle"
                assert is_stalled(world)
                assert world.audit() == []
        assert replies[0].state == "matched"
        assert told(await news(ana)) == [("matched",)]
        assert told(await news(ben)) == [("matched",)]
        assert not is_stalled(world)
        await trio.sleep(3)
        await ben.leave()
        assert (await ana.wait_for("waiting")).since == since


async def test_windows_that_close_while_the_store_is_unavailable_are_reported_once_after(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=IMPATIENT) as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.vote(match_id, "yes")
        with locked(database):
            await trio.sleep(25)
            assert await news(ana) == await news(ben) == []
        await trio.sleep(5)
        assert told(await news(ana)) == [
            ("outcome", "yes_idle", "waiting"),
            ("waiting", "requeued"),
            ("tier", 2),
        ]
        assert told(await news(ben)) == [("outcome", "yes_idle", "idle"), ("idle", "idle_vote")]
        assert (await status(world, "ana"))["credit"] == 10


async def test_a_user_who_sends_heartbeats_is_not_lost_while_the_store_is_unavailable(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=IMPATIENT) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        with locked(database):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ben.spin)
                await trio.sleep(45)
                nursery.cancel_scope.cancel()
        await trio.sleep(5)
        assert told(await news(ana)) == [("waiting", "spun"), ("matched",)]


async def test_a_call_that_cannot_be_answered_in_time_is_refused(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=IMPATIENT) as world:
        await world.sign_up("ana", **WOMAN)
        with locked(database):
            with pytest.raises(CallRefused) as refusal:
                await world.api("ana").call("POST", "/api/spin")
            assert (refusal.value.status, refusal.value.code) == (500, "internal")
            assert trio.current_time() == 30


async def test_a_crash_while_the_store_is_unavailable_loses_nothing_that_was_sent(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=IMPATIENT) as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        with locked(database):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ana.acknowledge, match_id)
                await trio.sleep(2)
                await world.crash()
                nursery.cancel_scope.cancel()
        await world.start()
        await ana.wait_connected()
        await ben.wait_connected()
        assert (await status(world, "ana"))["match"]["match_id"] == match_id


class Listener:
    """An audience that records replies and notices."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, Reply]] = []

        self.edges: list[tuple[str, Instant]] = []

    def tell(self, user_id: str, notice: Notice, now: Instant) -> None:
        if isinstance(notice, TierReached):
            self.edges.append((user_id, now))
        elif not isinstance(notice, NowWaiting):
            raise AssertionError(f"{user_id} was told {notice}")

    def answer(self, message: Message, reply: Reply, now: Instant) -> None:
        if type(message.event) is not ev.Entered:
            self.answers.append((message.event.user_id, reply))

    def take_signs_of_life(self) -> dict[str, float]:
        return {}

    def catch_up(self, user_ids: Iterable[str]) -> None:
        pass

    def may_forget(self, user_id: str) -> bool:
        return True

    def flush(self) -> None:
        pass


class ClockOfAServer(Clock):
    """Passes for the time of day."""

    @property
    def is_real(self) -> bool:
        return True


@asynccontextmanager
async def open_matchmaker(clock_type: type[Clock] = Clock):
    """A matchmaker on a store in memory, and the connection behind that store."""
    async with open_store(None, runner=InlineRunner()) as store:
        lobby, listener = Lobby(Rules()), Listener()
        clock = clock_type.starting(datetime(2026, 1, 1, tzinfo=UTC))
        matchmaker = Matchmaker(Mailbox(1000), lobby, store, clock, listener, Metrics(), Settings())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(matchmaker.run)
            yield matchmaker, lobby, listener, store, raw_connection(store)
            nursery.cancel_scope.cancel()


def talkative(user_id: str) -> Person:
    """A user with a large profile."""
    return Person(
        user_id=user_id,
        display_name="x" * 80,
        birth_date=date(1990, 1, 1),
        gender="woman",
        lat=0.0,
        lon=0.0,
        time_zone="UTC",
        interests=tuple(f"{n:040}" for n in range(32)),
        seeking=frozenset({"man"}),
        min_age=18,
        max_age=99,
        max_distance_km=10.0,
    )


async def test_a_full_disk_is_waited_out_and_everything_is_answered_once(autojump_clock):
    async with open_matchmaker() as (matchmaker, lobby, listener, store, connection):
        names = [f"user{n}" for n in range(50)]
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        for name in names:
            matchmaker.mailbox.put_nowait(Message(ev.Entered(name, Known(name)), None))
            matchmaker.mailbox.put_nowait(Message(ev.ProfileChanged(name, talkative(name)), None))
        await trio.sleep(60)
        assert matchmaker.stalled
        assert listener.answers == []
        assert lobby.floor.people.rows == {}
        # What comes while it tries again is decided together with what could not be stored.
        matchmaker.mailbox.put_nowait(Message(ev.Entered("late", Known("late")), None))
        matchmaker.mailbox.put_nowait(Message(ev.ProfileChanged("late", talkative("late")), None))
        connection.execute("PRAGMA max_page_count = 1000000")
        await trio.sleep(2)
        assert not matchmaker.stalled
        assert listener.answers == [(name, Done()) for name in [*names, "late"]]
        for name in [*names, "late"]:
            stored = await store.load_person(name)
            assert stored is not None
            assert stored.shown is not None
            assert replace(stored, shown=None) == talkative(name)


async def test_retries_of_a_commit_back_off_up_to_a_limit(autojump_clock):
    async with open_matchmaker() as (matchmaker, _, _, _, connection):
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        matchmaker.mailbox.put_nowait(Message(ev.Entered("ana", Known("ana")), None))
        for n in range(50):
            name = f"user{n}"
            matchmaker.mailbox.put_nowait(Message(ev.Entered(name, Known(name)), None))
            matchmaker.mailbox.put_nowait(Message(ev.ProfileChanged(name, talkative(name)), None))
        await trio.sleep(100)
        failures = _value(matchmaker._metrics, "yoked_commit_failures_total", room="main")
        # 0.05, 0.1, 0.2, 0.4, 0.8, 1.6 s, and then every 2 s.
        assert 50 <= failures <= 57


def _value(metrics: Metrics, name: str, **labels: str) -> float:
    value = metrics.registry.get_sample_value(name, labels)
    assert value is not None
    return value


# With a bug


def _causes(group: BaseExceptionGroup) -> set[type]:
    """The error that has ended the matchmaker."""
    found: BaseException | None = group.subgroup(MatchmakerCrashed)
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return set() if found is None else {type(found.__cause__)}


async def test_a_bug_in_the_lobby_ends_the_server(autojump_clock):
    async def evening() -> None:
        async with open_world() as world:
            await world.join("ana", **WOMAN)
            # An event that the lobby has no answer to stands for any mistake in it.
            world.server.live.matchmaker.mailbox.put_nowait(Message(ev.Event("ana"), None))
            await trio.sleep(1)

    with pytest.raises(BaseExceptionGroup) as caught:
        await evening()
    assert _causes(caught.value) == {KeyError}


async def test_a_broken_invariant_ends_a_strict_server(autojump_clock):
    async def evening() -> None:
        async with open_world() as world:
            ana = await world.join("ana", **WOMAN)
            floor = world.server.live.lobby.floor
            floor.put_seat(replace(floor.seat("ana"), state=State.MATCHED))
            await ana.heartbeat()
            await trio.sleep(1)

    with pytest.raises(BaseExceptionGroup) as caught:
        await evening()
    assert _causes(caught.value) == {AuditFailed}


async def test_a_broken_invariant_is_counted_by_a_server_that_only_logs(autojump_clock):
    async with open_world(settings={"matchmaker": {"audit": "log"}}) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        floor = world.server.live.lobby.floor
        floor.put_seat(replace(floor.seat("ana"), credit=20))
        floor.pool.discard("ana")
        assert (await ben.spin()).state == "waiting"
        metrics = world.server.base.metrics
        assert _value(metrics, "yoked_audit_violations_total", room="main") == 1


async def test_an_error_while_sending_a_notice_closes_that_connection_only(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ben = await world.join("ben", **MAN)
        ana, _ = await Talker.greet(world, "ana")
        await ana.ask("spin")
        session = await world.server.live.sessions.enter("ana")
        session._kept = ()  # type: ignore[assignment]  # which cannot be added to
        assert (await ben.spin()).state == "matched"
        assert (await ana.hung_up()).code == 1011
        assert told(await news(ben)) == [("matched",)]
        # What was decided stands, and the session can be taken up by a new connection.
        session._kept = None
        ana, welcome = await Talker.greet(world, "ana")
        match_id = welcome["snapshot"]["match"]["match_id"]
        assert (await ana.ask("acknowledge", match_id=match_id))["type"] == "ok"
        await ben.acknowledge(match_id)
        assert (await ana.hear())["type"] == "voting"


class _Frozen(dict[str, bytes]):
    """Can be asked, but not added to."""

    def __setitem__(self, key: str, value: bytes) -> None:
        raise TypeError("frozen")


async def test_an_error_while_sending_a_reply_closes_that_connection_only(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ben = await world.join("ben", **MAN)
        ana, _ = await Talker.greet(world, "ana")
        session = await world.server.live.sessions.enter("ana")
        session._replies = _Frozen()
        await ana.say({"type": "block", "id": "1", "user_id": "carl"})
        assert (await ana.hung_up()).code == 1011
        assert (await ben.spin()).state == "waiting"


# One round for many


async def test_messages_of_one_round_share_one_commit(autojump_clock):
    async with open_world() as world:
        people = [await world.join(f"p{n}", **(WOMAN if n % 2 else MAN)) for n in range(20)]
        await wait_all_tasks_blocked()
        before = _value(world.server.base.metrics, "yoked_commit_seconds_count")
        async with trio.open_nursery() as nursery:
            for client in people:
                nursery.start_soon(client.spin)
        commits = _value(world.server.base.metrics, "yoked_commit_seconds_count") - before
        assert commits < 20
        labels = {"room": "main", "policy": "fair_queue", "tier": "1"}
        assert _value(world.server.base.metrics, "yoked_pairings_total", **labels) == 10


async def test_an_idle_server_does_nothing_at_all(autojump_clock):
    async with open_world() as world:
        await wait_all_tasks_blocked()
        before = _value(world.server.base.metrics, "yoked_rounds_total", room="main")
        await trio.sleep(3600)
        assert _value(world.server.base.metrics, "yoked_rounds_total", room="main") == before


async def _edges_of_a_crowd(clock_type: type[Clock]) -> tuple[list[float], float]:
    """When the first tier edges of 30 users who come 4 ms apart run, in seconds after the first
    spin; and how many rounds they take."""
    async with open_matchmaker(clock_type) as (matchmaker, _, listener, _, _):
        began_at = matchmaker._clock.now()
        for n in range(30):
            name = f"user{n:02}"
            matchmaker.mailbox.put_nowait(Message(ev.Entered(name, Known(name)), None))
            matchmaker.mailbox.put_nowait(Message(ev.ProfileChanged(name, talkative(name)), None))
            matchmaker.mailbox.put_nowait(Message(ev.Attached(name, n + 1), None))
            matchmaker.mailbox.put_nowait(Message(ev.Spin(name), None))
            await trio.sleep(0.004)
        before = _value(matchmaker._metrics, "yoked_rounds_total", room="main")
        await trio.sleep(2.5)
        rounds = _value(matchmaker._metrics, "yoked_rounds_total", room="main") - before
        edges = sorted(listener.edges)
        assert [user_id for user_id, _ in edges] == [f"user{n:02}" for n in range(30)]
        return [(at - began_at) / 1e6 for _, at in edges], rounds


async def test_on_a_mock_clock_every_tier_edge_runs_at_its_own_instant(autojump_clock):
    edges, rounds = await _edges_of_a_crowd(Clock)
    assert edges == pytest.approx([2 + 0.004 * n for n in range(30)], abs=1e-5)
    assert rounds == 30


async def test_in_a_crowd_tier_edges_share_rounds_and_none_is_late(autojump_clock):
    edges, rounds = await _edges_of_a_crowd(ClockOfAServer)
    due = [2 + 0.004 * n for n in range(30)]
    every_s = Settings().matchmaker.edges_every_s
    # The first one comes after a quiet time, and waits for nobody.
    assert edges[0] == pytest.approx(due[0], abs=1e-5)
    assert all(0 <= at - own <= every_s + 1e-5 for at, own in zip(edges, due, strict=True))
    assert rounds == 1 + ceil((due[-1] - due[0]) / every_s)
