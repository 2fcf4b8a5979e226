"""Sessions: one reply to a command, numbered events, resuming, one device, leaving memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sized
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from tests.scenarios.meeting import (
    MAN,
    WOMAN,
    join_pair,
    match,
    open_voting,
    settle,
    state_of,
    status,
)
from tests.scenarios.talker import Message, Talker
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.contacts import UserContacts
from yoked_actor.actors.lobby import Message as LobbyMessage
from yoked_actor.actors.lobby import RoomLink, Sessions
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.actors.offers import OpenedConnections, UserOffers
from yoked_actor.domain.lobby import Floor
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.replies import Done
from yoked_actor.domain.rules import Rules
from yoked_actor.settings import Settings
from yoked_actor.store import InlineRunner, open_store
from yoked_actor.telemetry import Metrics
from yoked_actor.testing import World, open_world
from yoked_actor.wire.lobby import Hello

IMPATIENT = {"store": {"busy_timeout_s": 0.0}}


@contextmanager
def locked(database: Path) -> Iterator[None]:
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def resume(welcome: Message, seq: int) -> Message:
    return {"session": welcome["session"], "seq": seq}


async def make_events(talker: Talker, count: int) -> None:
    """Get in and out of line: one event each time."""
    for n in range(count):
        await talker.ask("leave" if n % 2 else "spin")
        await talker.hear()
        await trio.sleep(0.1)


# Replies


async def test_a_duplicate_in_flight_gets_the_same_reply_and_has_no_second_effect(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=IMPATIENT) as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        with locked(database):
            for _ in range(3):
                await ana.say({"type": "spin", "id": "x"})
            assert await ana.news() == []
        await trio.sleep(3)
        heard = await ana.news()
        ok = {"type": "ok", "re": "x", "state": "waiting"}
        assert [m for m in heard if m["type"] == "ok"] == [ok] * 3
        assert [m["type"] for m in heard].count("waiting") == 1
        assert heard[0] == ok


async def test_refusals_are_remembered_like_any_reply(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        refused = await ana.ask("leave", id="x")
        assert refused["code"] == "wrong_state"
        await ana.ask("spin")
        await ana.hear()
        assert await ana.ask("leave", id="x") == refused
        assert await state_of(world, "ana") == "waiting"


@pytest.mark.parametrize(
    "first",
    [
        {"type": "nonsense"},
        {"type": "vote", "match_id": "m1", "vote": "perhaps"},
        {"type": "acknowledge"},
        {"type": "x" * 10_000},
    ],
)
async def test_a_command_that_cannot_be_decoded_has_one_reply_too(autojump_clock, first):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        await ana.say({"id": "x", **first})
        refused = await ana.hear()
        assert (refused["re"], refused["code"]) == ("x", "bad_request")
        assert len(refused["message"]) <= 300
        assert await ana.ask("spin", id="x") == refused
        assert await state_of(world, "ana") == "idle"


async def test_an_undecodable_repetition_gets_the_reply_of_the_command(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=IMPATIENT) as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        with locked(database):
            await ana.say({"type": "spin", "id": "x"})
            await ana.say({"type": "nonsense", "id": "x"})
            assert await ana.news() == []
        await trio.sleep(3)
        ok = {"type": "ok", "re": "x", "state": "waiting"}
        assert [m for m in await ana.news() if m.get("re") == "x"] == [ok, ok]
        await ana.say({"type": "nonsense", "id": "x"})
        assert await ana.hear() == ok


async def test_a_rate_limited_command_stays_refused_under_its_id(autojump_clock):
    async with open_world(settings={"edge": {"commands_burst": 3}}) as world:
        await world.sign_up("ana", **WOMAN)
        await trio.sleep(1)
        ana, _ = await Talker.greet(world, "ana")
        beat = await ana.ask("heartbeat", id="beat")
        for n in range(2):
            await ana.ask("heartbeat", id=str(n))
        refused = await ana.ask("spin", id="x")
        assert refused["code"] == "rate_limited"
        # A reply that is known costs nothing, whatever the rate.
        assert await ana.ask("heartbeat", id="beat") == beat
        await trio.sleep(1)
        assert await ana.ask("spin", id="x") == refused
        assert (await ana.ask("spin", id="y"))["state"] == "waiting"


async def test_a_command_beyond_the_limit_of_pending_ones_stays_refused(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    settings = IMPATIENT | {"session": {"max_pending_commands": 1}}
    async with open_world(database=database, settings=settings) as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        with locked(database):
            await ana.say({"type": "spin", "id": "first"})
            refused = await ana.ask("leave", id="x")
            assert refused["code"] == "rate_limited"
        await trio.sleep(3)
        await ana.news()
        assert await ana.ask("leave", id="x") == refused
        assert await state_of(world, "ana") == "waiting"


async def test_a_spin_that_a_draining_server_refused_stays_refused(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await open_voting(ana, ben)
        await world.sign_up("cleo", **WOMAN)
        cleo, _ = await Talker.greet(world, "cleo")
        world.server.stop.set()
        await trio.sleep(0.1)
        assert [m["type"] for m in await cleo.news()] == ["draining"]
        refused = await cleo.ask("spin", id="x")
        assert refused["code"] == "draining"
        assert await cleo.ask("heartbeat", id="x") == refused
        assert await cleo.ask("start_date", id="y", connection_id="c1") == await cleo.ask(
            "heartbeat", id="y"
        )


async def test_an_id_belongs_to_one_user_and_one_session(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        await world.sign_up("zoe", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        zoe, _ = await Talker.greet(world, "zoe")
        assert (await ana.ask("spin", id="x"))["state"] == "waiting"
        assert (await zoe.ask("leave", id="x"))["code"] == "wrong_state"
        # A new session of the same user knows nothing of the ids of the one before.
        ana, _ = await Talker.greet(world, "ana")
        assert (await ana.ask("leave", id="x"))["state"] == "idle"


async def test_a_hundred_and_twenty_eight_replies_are_remembered(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        first = await ana.ask("heartbeat", id="first")
        for n in range(127):
            await ana.ask("heartbeat", id=f"more{n}")
            await trio.sleep(0.1)
        assert await ana.ask("heartbeat", id="first") == first
        await ana.ask("heartbeat", id="one too many")
        assert (await ana.ask("heartbeat", id="first"))["at"] != first["at"]


async def test_the_number_of_pending_commands_is_bounded(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    settings = IMPATIENT | {"session": {"max_pending_commands": 3}}
    async with open_world(database=database, settings=settings) as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        with locked(database):
            for n in range(5):
                await ana.say({"type": "spin", "id": str(n)})
            refused = await ana.news()
            assert [(m["re"], m["code"]) for m in refused] == [
                ("3", "rate_limited"),
                ("4", "rate_limited"),
            ]
        await trio.sleep(3)
        replies = [m["re"] for m in await ana.news() if m["type"] == "ok"]
        assert replies == ["0", "1", "2"]


# Events


async def test_events_are_numbered_from_one_without_a_gap(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, welcome = await Talker.greet(world, "ana")
        assert (welcome["seq"], welcome["resumed"]) == (0, False)
        seen = []
        for n in range(6):
            await ana.ask("leave" if n % 2 else "spin")
            seen.append((await ana.hear())["seq"])
        assert seen == [1, 2, 3, 4, 5, 6]


async def test_every_welcome_has_what_a_client_needs(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        _, welcome = await Talker.greet(world, "ana")
        assert welcome["heartbeat_every_s"] == 3.0
        assert welcome["snapshot"] == {"state": "idle", "credit": 0, "room": "main"}
        assert welcome["at"] == "2026-01-01T08:00:00Z"


# Resuming


async def test_a_known_session_is_resumed(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, first = await Talker.greet(world, "ana")
        await make_events(ana, 3)
        await ana.vanish()
        await trio.sleep(1)
        ana, welcome = await Talker.greet(world, "ana", resume=resume(first, 1))
        assert (welcome["resumed"], welcome["session"]) == (True, first["session"])
        # The number in a welcome is that of the last event before it.
        assert welcome["seq"] == 1
        assert welcome["snapshot"]["state"] == "waiting"
        assert [(m["type"], m["seq"]) for m in await ana.news()] == [
            ("idle", 2),
            ("waiting", 3),
            ("waiting", 4),
        ]


async def test_a_client_that_has_seen_everything_is_sent_nothing_again(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, first = await Talker.greet(world, "ana")
        await make_events(ana, 2)
        await ana.vanish()
        ana, welcome = await Talker.greet(world, "ana", resume=resume(first, 2))
        assert (welcome["resumed"], welcome["seq"]) == (True, 2)
        assert await ana.news() == []


async def test_sixty_four_events_are_kept_and_not_one_more(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, first = await Talker.greet(world, "ana")
        await make_events(ana, 70)
        await ana.vanish()
        ana, welcome = await Talker.greet(world, "ana", resume=resume(first, 6))
        assert (welcome["resumed"], welcome["seq"]) == (True, 6)
        assert [m["seq"] for m in await ana.news()] == list(range(7, 71))
        await ana.vanish()
        _, welcome = await Talker.greet(world, "ana", resume=resume(first, 5))
        assert (welcome["resumed"], welcome["seq"]) == (False, 0)
        assert welcome["session"] != first["session"]
        assert welcome["snapshot"]["state"] == "idle"


@pytest.mark.parametrize(
    "wanted",
    [{"session": "no such session", "seq": 0}, {"session": "", "seq": 0}, {"seq": 99}],
)
async def test_an_unknown_session_or_a_future_number_starts_a_new_session(autojump_clock, wanted):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, first = await Talker.greet(world, "ana")
        await make_events(ana, 1)
        await ana.vanish()
        wanted = {"session": first["session"]} | wanted
        ana, welcome = await Talker.greet(world, "ana", resume=wanted)
        assert (welcome["resumed"], welcome["seq"]) == (False, 0)
        assert welcome["snapshot"]["state"] == "waiting"
        assert [(m["type"], m["seq"]) for m in await ana.news()] == [("waiting", 1)]


async def test_nobody_resumes_the_session_of_another(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        await world.sign_up("eve", **WOMAN)
        ana, first = await Talker.greet(world, "ana")
        await make_events(ana, 3)
        eve, welcome = await Talker.greet(world, "eve", resume=resume(first, 0))
        assert welcome["resumed"] is False
        assert await eve.news() == []
        assert await ana.news() == []


async def test_a_command_whose_reply_was_lost_can_be_sent_again_after_resuming(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, first = await Talker.greet(world, "ana")
        await ana.say({"type": "spin", "id": "lost"})
        await wait_all_tasks_blocked()
        await ana.vanish()
        ana, welcome = await Talker.greet(world, "ana", resume=resume(first, 0))
        assert [m["seq"] for m in await ana.news()] == [1, 2]
        assert await ana.ask("spin", id="lost") == {"type": "ok", "re": "lost", "state": "waiting"}
        assert await ana.news() == []
        assert welcome["resumed"] is True


async def test_a_pending_reply_reaches_the_socket_that_resumed_the_session(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=IMPATIENT) as world:
        await world.sign_up("ana", **WOMAN)
        ana, first = await Talker.greet(world, "ana")
        with locked(database):
            await ana.say({"type": "spin", "id": "x"})
            await wait_all_tasks_blocked()
            await ana.vanish()
            ana = await Talker.dial(world)
            hello = {"type": "hello", "id": "h", "token": world.token("ana")}
            await ana.say({**hello, "resume": resume(first, 0)})
            await trio.sleep(1)
        await trio.sleep(3)
        heard = [await ana.hear() for _ in range(4)]
        assert [m["type"] for m in heard] == ["welcome", "waiting", "waiting", "tier"]
        assert (await ana.ask("spin", id="x"))["state"] == "waiting"


# One device


async def test_the_newest_socket_replaces_the_older_one(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        phone, first = await Talker.greet(world, "ana")
        await make_events(phone, 1)
        tablet, welcome = await Talker.greet(world, "ana")
        assert (await phone.hung_up()).code == 4001
        assert welcome["session"] != first["session"]
        assert welcome["snapshot"]["state"] == "waiting"
        # The end of the old socket does not detach the user.
        await trio.sleep(5)
        assert (await tablet.hear())["tier"] == 2
        ben = await world.join("ben", **MAN)
        await tablet.ask("heartbeat")
        assert (await ben.spin()).state == "matched"
        assert (await tablet.hear())["type"] == "matched"


async def test_a_session_can_be_resumed_from_under_a_socket_that_is_half_dead(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        phone, first = await Talker.greet(world, "ana")
        await make_events(phone, 1)
        _, welcome = await Talker.greet(world, "ana", resume=resume(first, 1))
        assert (welcome["resumed"], welcome["session"]) == (True, first["session"])
        assert (await phone.hung_up()).code == 4001


# Liveness


@pytest.mark.parametrize("command", ["heartbeat", "acknowledge", "nonsense", "hello"])
async def test_a_command_is_a_sign_of_life_even_when_it_is_refused(autojump_clock, command):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        await ana.ask("spin")
        await ana.hear()
        await trio.sleep(6)
        assert (await ana.hear())["tier"] == 2
        await ana.ask(command, match_id="m99", token=world.token("ana"))
        await trio.sleep(6)
        assert await state_of(world, "ana") == "waiting"


async def test_a_repeated_heartbeat_is_a_sign_of_life(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        await ana.ask("spin")
        await ana.hear()
        for tiers in ([2], [99], [], [], []):
            await ana.ask("heartbeat", id="beat")
            await trio.sleep(6)
            assert [(await ana.hear())["tier"] for _ in tiers] == tiers
        assert await state_of(world, "ana") == "waiting"


async def test_pongs_are_no_sign_of_life(autojump_clock):
    async with open_world(settings={"edge": {"ping_interval_s": 2.0}}) as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        await ana.ask("spin")
        assert (await ana.hear())["type"] == "waiting"
        # Hearing answers pings.
        assert [(await ana.hear())["tier"] for _ in range(2)] == [2, 99]
        lost = await ana.hear()
        assert (lost["type"], lost["reason"]) == ("idle", "lost")
        assert trio.current_time() == 10


# Being forgotten

FORGETFUL = {"session": {"forget_after_s": 20.0}}


def is_empty(world: World) -> bool:
    floor = world.server.live.lobby.floor
    between = floor.acquaintance
    rows: list[Sized] = [floor.people.rows, floor.seats.rows, floor.presences.rows]
    rows += [floor.matches.rows, floor.dates.rows, floor.heard_at, floor.pool]
    rows += [between.blocks.rows, between.met.rows, between.bars.rows]
    return not any(rows)


async def test_a_user_who_is_away_for_long_leaves_memory_and_loses_nothing(autojump_clock):
    async with open_world(settings=FORGETFUL) as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "pass"))
        await ana.leave()
        await ana.block("carl")
        await ben.leave()
        await ana.close()
        await ben.close()
        await trio.sleep(19)
        assert len(world.server.live.sessions) == 2
        await trio.sleep(25)
        assert len(world.server.live.sessions) == 0
        assert is_empty(world)

        ana = await world.connect("ana")
        assert (ana.snapshot["state"], ana.snapshot["credit"]) == ("idle", 10)
        assert ana.snapshot["last_outcome"] == "yes_pass"
        profile = await world.api("ana").call("GET", "/api/profile")
        assert profile["display_name"] == "Ana"
        blocks = (await world.api("ana").call("GET", "/api/blocks"))["blocks"]
        assert [block["user_id"] for block in blocks] == ["carl"]


async def test_many_users_who_left_leave_no_memory_behind(autojump_clock):
    async with open_world(settings=FORGETFUL) as world:
        for n in range(10):
            ana, ben = await join_pair(world, f"ana{n}", f"ben{n}")
            await settle(ana, ben, ("pass", "pass"))
            for client in (ana, ben):
                await client.leave()
                await client.close()
        for n in range(10):
            await world.sign_up(f"caller{n}", **WOMAN)
            await world.api(f"caller{n}").call("POST", "/api/spin")
        await trio.sleep(120)
        assert len(world.server.live.sessions) == 0
        assert is_empty(world)
        # The deadline of the next midnight is left.
        assert len(world.server.live.lobby.floor.deadlines) <= 1


async def test_a_user_with_a_connection_or_a_date_is_not_forgotten(autojump_clock):
    async with open_world(settings=FORGETFUL) as world:
        ana, ben = await join_pair(world)
        idle = await world.join("idle", **WOMAN)
        await settle(ana, ben, ("yes", "yes"))
        await trio.sleep(200)
        # Two on a date, one who is only connected.
        assert len(world.server.live.sessions) == 3
        assert "date" in await status(world, "ana")
        assert (await idle.spin()).state == "waiting"


async def test_a_session_that_was_forgotten_cannot_be_resumed(autojump_clock):
    async with open_world(settings=FORGETFUL) as world:
        await world.sign_up("ana", **WOMAN)
        ana, first = await Talker.greet(world, "ana")
        await make_events(ana, 2)
        await ana.hang_up()
        await trio.sleep(60)
        assert len(world.server.live.sessions) == 0
        ana, welcome = await Talker.greet(world, "ana", resume=resume(first, 2))
        assert welcome["resumed"] is False
        assert (await ana.ask("spin"))["state"] == "waiting"


@pytest.mark.parametrize("seed", range(10))
async def test_a_user_who_returns_while_being_forgotten_is_in_memory(autojump_clock, seed):
    async with open_world(seed=seed, settings=FORGETFUL) as world:
        ana, ben = await join_pair(world)
        await ana.close()
        gone_at = trio.current_time()
        await trio.sleep_until(gone_at + 20)
        ana = await world.connect("ana")
        await match(ana, ben)
        await trio.sleep(60)
        assert (await ana.spin()).state == "waiting"


async def test_a_call_with_a_late_body_loads_a_forgotten_user_again(autojump_clock):
    async with open_world(settings=FORGETFUL) as world:
        await world.sign_up("ana", **WOMAN)
        body = b'{"user_id": "ben"}'
        head = (
            "POST /api/blocks HTTP/1.1\r\nHost: world.test\r\nConnection: close\r\n"
            f"Authorization: Bearer {world.token('ana')}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        stream = await world.dial()()
        await stream.send_all(head.encode())
        await trio.sleep(25)
        assert len(world.server.live.sessions) == 0
        await stream.send_all(body)
        assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
        blocks = (await world.api("ana").call("GET", "/api/blocks"))["blocks"]
        assert [block["user_id"] for block in blocks] == ["ben"]


async def test_a_user_who_waits_for_room_in_the_mailbox_is_not_forgotten(autojump_clock):
    class Silent:
        busy = False

        def send(self, text):
            pass

        def flush(self):
            pass

        def catch_up(self):
            pass

        def close(self, code, reason):
            pass

    clock = Clock.starting(datetime(2026, 1, 1, tzinfo=UTC))
    mailbox: Mailbox[LobbyMessage] = Mailbox(1)
    async with open_store(None, runner=InlineRunner()) as store, trio.open_nursery() as nursery:
        floor = Floor(Rules())
        offers = UserOffers(
            *(store, clock, Metrics(), OpenedConnections()),
            is_online=floor.is_online,
            places=floor.places,
        )
        contacts = UserContacts(
            store, clock, Metrics(), Settings(), OpenedConnections(), floor.places
        )
        sessions = Sessions(
            RoomLink(mailbox), store, clock, Metrics(), Settings(), offers, contacts, boot=1
        )
        session = await sessions.enter("ana")
        [entered] = mailbox.take_all()
        sessions.answer(entered, Done(), clock.now())
        assert sessions.may_forget("ana")
        mailbox.put_nowait(LobbyMessage(ev.SignOfLife("ben"), None))
        nursery.start_soon(session.attach, Silent(), Hello(id="1", token="x"), 1, 0)
        await wait_all_tasks_blocked()
        assert len(mailbox) == 1
        assert not sessions.may_forget("ana")
        # Who gives up waiting holds nothing any more.
        nursery.cancel_scope.cancel()
    assert sessions.may_forget("ana")
