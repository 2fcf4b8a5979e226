"""ICE servers, and TURN credentials that belong to one user and soon expire."""

from __future__ import annotations

import hashlib
from base64 import b64decode
from datetime import datetime
from typing import Any

import pytest
import trio

from tests.scenarios.meeting import join_pair, settle, status
from yoked_actor.actors.lobby.sessions.ice import ice_servers
from yoked_actor.domain.time import Instant, from_datetime
from yoked_actor.settings import DateSettings, Settings, SettingsError, load_settings
from yoked_actor.testing import open_world

SECRET = "north of the river"
STUN = ("stun:turn.example.org:3478", "stun:[2001:db8::1]")
TURN = ("turn:turn.example.org:3478?transport=udp", "turns:turn.example.org:5349?transport=tcp")


def to_instant(text: str) -> Instant:
    return from_datetime(datetime.fromisoformat(text))


NOW = to_instant("2026-01-01T08:00:00.9Z")


def settings(**date: Any) -> Settings:
    return load_settings(None, {}, {"date": date})


def by_hand(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA1 as RFC 2104 writes it, for keys of up to 64 bytes."""
    padded = key.ljust(64, b"\0")
    inner = hashlib.sha1(bytes(byte ^ 0x36 for byte in padded) + message).digest()
    return hashlib.sha1(bytes(byte ^ 0x5C for byte in padded) + inner).digest()


def test_without_settings_there_are_none() -> None:
    assert ice_servers(DateSettings(), "ana", NOW) == ()


def test_stun_needs_no_credentials() -> None:
    assert ice_servers(settings(stun_urls=STUN).date, "ana", NOW) == ({"urls": list(STUN)},)


def test_turn_credentials_are_what_coturn_expects() -> None:
    # printf 1767255000:ana | openssl dgst -sha1 -hmac 'north of the river' -binary | base64
    expected = {
        "urls": list(TURN),
        "username": "1767255000:ana",
        "credential": "cMfsYDUMd1J7VHvTuoZ6SY7Z5VI=",
    }
    given = settings(turn_urls=TURN, turn_secret=SECRET, turn_ttl_s=600.0)
    assert ice_servers(given.date, "ana", NOW) == (expected,)


@pytest.mark.parametrize("user_id", ["ana", "a:b@c.d-e_f", "x" * 64])
def test_credentials_belong_to_a_user_and_an_expiry_time(user_id: str) -> None:
    given = settings(stun_urls=STUN, turn_urls=TURN, turn_secret=SECRET).date
    _, server = ice_servers(given, user_id, NOW)
    _, later = ice_servers(given, user_id, NOW + 1_000_000)
    assert server["username"] == f"{NOW // 1_000_000 + 600}:{user_id}"
    assert later["username"] == f"{NOW // 1_000_000 + 601}:{user_id}"
    for one in (server, later):
        assert b64decode(one["credential"]) == by_hand(SECRET.encode(), one["username"].encode())


async def test_each_user_of_a_date_gets_separate_credentials(autojump_clock):
    date = {"turn_urls": TURN, "turn_secret": SECRET, "turn_ttl_s": 400.0}
    async with open_world(settings={"date": date}) as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "yes"))
        for client, user_id in ((ana, "ana"), (ben, "ben")):
            started = await client.wait_for("date_started")
            [server] = started.ice_servers
            expires, _, whose = server["username"].partition(":")
            assert whose == user_id
            assert int(expires) == to_instant(started.at) // 1_000_000 + 400
        # Whoever comes back later, by either door, gets fresh ones.
        await trio.sleep(100)
        [shown] = (await status(world, "ana"))["date"]["ice_servers"]
        assert shown["username"] == f"{world.now() // 1_000_000 + 400}:ana"
        again = await world.connect("ben")
        [shown] = again.snapshot["date"]["ice_servers"]
        assert shown["username"] == f"{world.now() // 1_000_000 + 400}:ben"


@pytest.mark.parametrize(
    ("date", "problem"),
    [
        (
            {"turn_urls": TURN},
            "date.turn_secret = (hidden): must be set with date.turn_urls",
        ),
        ({"turn_secret": SECRET}, "date.turn_urls = []: must be set with date.turn_secret"),
        (
            {"turn_urls": TURN, "turn_secret": SECRET, "turn_ttl_s": 299.0},
            "date.turn_ttl_s = 299.0: must be at least matching.date_length_s (300.0)",
        ),
        ({"stun_urls": ["turn.example.org"]}, "must be a list of stun: URLs"),
        ({"stun_urls": ["stun:a b"]}, "must be a list of stun: URLs"),
        ({"turn_urls": ["stun:turn.example.org"]}, "must be a list of turn: URLs"),
        ({"turn_urls": ["turn:x?transport=pigeon"]}, "must be a list of turn: URLs"),
        ({"turn_secret": 7}, "date.turn_secret = (hidden): must be a text"),
    ],
)
def test_settings_that_cannot_work_are_refused(date: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match="date") as caught:
        settings(**date)
    assert problem in str(caught.value)
    assert SECRET not in str(caught.value)


def test_the_secret_is_never_shown() -> None:
    given = settings(turn_urls=TURN, turn_secret=SECRET)
    assert SECRET not in repr(given) + str(given) + given.model_dump_json()
