"""Keys by URL: which are taken, when they are fetched, and what happens when that fails."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
import trio
from cryptography.hazmat.primitives.asymmetric import ed448, ed25519, rsa
from jwt.algorithms import OKPAlgorithm

from tests.edge.key_server import AUDIENCE, ISSUER, KeyServer, auth_settings, public
from tests.scenarios.talker import Talker
from yoked_actor.actors.clock import Clock
from yoked_actor.client import Api, CallRefused
from yoked_actor.domain.ops import Role
from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.edge.auth import BadToken, Tokens
from yoked_actor.edge.auth.key_set import MOST_KEYS, KeySet, usable_keys
from yoked_actor.edge.auth.tokens import UnknownKey
from yoked_actor.edge.outgoing import FetchFailed
from yoked_actor.settings import SettingsError, load_settings
from yoked_actor.testing import open_world
from yoked_actor.testing.world import URL

START = datetime(2026, 1, 1, 8, tzinfo=UTC)


def now_s(clock: Clock) -> float:
    return clock.now() / MICROSECONDS


def judge(server: KeyServer, **more: Any) -> Tokens:
    auth = auth_settings(**more)
    keys = KeySet(auth, server)
    return Tokens(auth.algorithm, keys, issuer=auth.issuer, audience=auth.audience)


async def test_a_token_is_judged_by_the_key_that_it_names(autojump_clock):
    server, clock = KeyServer(), Clock.starting(START)
    server.add("one")
    server.add("two")
    tokens = judge(server)
    for kid in ("one", "two"):
        identity = await tokens.check(server.sign(kid, now_s(clock) + 60, role="admin"), clock)
        assert (identity.user_id, identity.role) == ("ana", Role.ADMIN)
    assert server.attempts == 1
    for wrong in ({"aud": "mail"}, {"iss": "https://evil.test"}):
        with pytest.raises(BadToken):
            await tokens.check(server.sign("one", now_s(clock) + 60, **wrong), clock)
    forged = server.sign("one", now_s(clock) + 60, header={"kid": "two"})
    with pytest.raises(BadToken, match="not valid"):
        await tokens.check(forged, clock)
    assert not tokens.can_sign


async def test_rs256_keys_are_taken_too(autojump_clock):
    server, clock = KeyServer(), Clock.starting(START)
    server.add("r", rsa.generate_private_key(65537, 2048), use="sig", alg="RS256")
    tokens = judge(server, algorithm="RS256")
    assert (await tokens.check(server.sign("r", now_s(clock) + 60), clock)).user_id == "ana"


async def test_a_token_without_a_kid_fits_a_set_of_one_key(autojump_clock):
    server, clock = KeyServer(), Clock.starting(START)
    server.add("one")
    tokens = judge(server)
    token = server.sign("one", now_s(clock) + 60, header={})
    assert (await tokens.check(token, clock)).user_id == "ana"
    server.add("two")
    await trio.sleep(30)
    await tokens.check(server.sign("two", now_s(clock) + 60), clock)
    with pytest.raises(UnknownKey):
        await tokens.check(server.sign("one", now_s(clock) + 60, header={}), clock)


async def test_an_unknown_key_is_fetched_at_once_but_not_more_often_than_every_30_s(
    autojump_clock,
):
    server, clock = KeyServer(), Clock.starting(START)
    server.add("one")
    tokens = judge(server)
    await tokens.check(server.sign("one", now_s(clock) + 600), clock)
    await trio.sleep(30)
    server.add("two")
    fresh = server.sign("two", now_s(clock) + 600)
    assert (await tokens.check(fresh, clock)).user_id == "ana"
    assert server.attempts == 2
    for n in range(100):
        stranger = server.sign("one", now_s(clock) + 600, header={"kid": f"none{n}"})
        with pytest.raises(UnknownKey):
            await tokens.check(stranger, clock)
        await trio.sleep(0.1)
    assert server.attempts == 2
    await trio.sleep(30)
    # Many at once wait for one fetch.
    async with trio.open_nursery() as nursery:
        for n in range(50):
            nursery.start_soon(_refused, tokens, server, clock, f"none{n}")
    assert server.attempts == 3


async def _refused(tokens: Tokens, server: KeyServer, clock: Clock, kid: str) -> None:
    token = server.sign("one", now_s(clock) + 600, header={"kid": kid})
    with pytest.raises(UnknownKey):
        await tokens.check(token, clock)


@pytest.mark.parametrize(
    "forged",
    [
        jwt.encode({"sub": "ana", "exp": 2e9}, "k" * 32, "HS256", headers={"kid": "x"}),
        jwt.encode({"sub": "ana", "exp": 2e9}, "", "none", headers={"kid": "x"}),
        "a.b.c",
        "",
    ],
)
async def test_a_token_of_another_kind_is_no_reason_to_fetch(autojump_clock, forged):
    server, clock = KeyServer(), Clock.starting(START)
    server.add("one")
    with pytest.raises(BadToken, match="not valid"):
        await judge(server).check(forged, clock)
    assert server.attempts == 0


@pytest.mark.parametrize("trouble", ["refuses", "is_silent", "fails", "redirects", "is_cut"])
async def test_the_last_good_set_stays_in_use_when_the_url_fails(autojump_clock, trouble):
    server, clock = KeyServer(), Clock.starting(START)
    server.add("one")
    tokens = judge(server)
    assert tokens.keys is not None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tokens.keys.run)
        await trio.sleep(10)
        server.trouble = trouble
        await trio.sleep(3600)
        assert server.attempts == 2
        assert (await tokens.check(server.sign("one", now_s(clock) + 60), clock)).user_id == "ana"
        # It is tried again soon, and a withdrawn key is gone when that works.
        server.trouble = None
        server.document["keys"].clear()
        server.add("two")
        await trio.sleep(60)
        assert (await tokens.check(server.sign("two", now_s(clock) + 60), clock)).user_id == "ana"
        await trio.sleep(30)
        with pytest.raises(UnknownKey):
            await tokens.check(server.sign("one", now_s(clock) + 60), clock)
        nursery.cancel_scope.cancel()


async def test_an_answer_that_is_too_large_is_not_read(autojump_clock):
    server, clock = KeyServer(), Clock.starting(START)
    server.add("one", note="x" * 5000)
    tokens = judge(server, jwks_max_bytes=4096)
    with pytest.raises(UnknownKey):
        await tokens.check(server.sign("one", now_s(clock) + 60), clock)


ED = ed25519.Ed25519PrivateKey.generate()


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"nonsense",
        b"[]",
        b'{"keys": 7}',
        b'{"keys": {}}',
        b"[" * 5000,
        b'{"keys": [7, null, {}, {"kty": "OKP"}, {"kty": "OKP", "crv": 7, "x": []}]}',
        json.dumps({"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "o"}]}).encode(),
        json.dumps({"keys": [public(ED) | {"use": "enc"}]}).encode(),
        json.dumps({"keys": [public(ED) | {"alg": "RS256"}]}).encode(),
        json.dumps({"keys": [public(ED) | {"kid": 7}]}).encode(),
        json.dumps({"keys": [public(rsa.generate_private_key(65537, 2048))]}).encode(),
        json.dumps({"keys": [public(ED)] * (MOST_KEYS + 1)}).encode(),
    ],
)
def test_a_set_without_a_key_that_fits_is_refused(document):
    with pytest.raises(FetchFailed):
        usable_keys(document, "EdDSA")


def test_a_short_rsa_key_is_not_taken():
    document = {"keys": [public(rsa.generate_private_key(65537, 1024))]}
    with pytest.raises(FetchFailed):
        usable_keys(json.dumps(document).encode(), "RS256")


def test_only_the_public_half_of_a_key_is_read():
    private = dict(OKPAlgorithm.to_jwk(ED, as_dict=True))
    assert "d" in private
    [key] = usable_keys(json.dumps({"keys": [private]}).encode(), "EdDSA").values()
    assert isinstance(key.key, ed25519.Ed25519PublicKey)


def test_keys_that_cannot_be_used_do_not_hide_those_that_can():
    other = dict(OKPAlgorithm.to_jwk(ed448.Ed448PrivateKey.generate().public_key(), as_dict=True))
    document = {"keys": [{"kty": "EC"}, other | {"crv": "X25519"}, public(ED) | {"kid": "good"}]}
    assert list(usable_keys(json.dumps(document).encode(), "EdDSA")) == ["good"]


async def test_a_server_takes_tokens_by_the_keys_of_a_url_at_both_doors(autojump_clock):
    server = KeyServer()
    server.add("one")
    async with open_world(tokens=judge(server)) as world:

        def sign(kid: str = "one", **claims: Any) -> str:
            return server.sign(kid, world.now() / MICROSECONDS + 600, **claims)

        ana = await Talker.dial(world)
        await ana.hello(sign())
        operator = Api(URL, sign(sub="op", role="admin"), dial=world.dial())
        assert "alerts" in await operator.call("GET", "/api/admin/alerts")
        # Made for another service by the same provider: no operator, and nobody at all.
        stranger = Api(URL, sign(sub="op", role="admin", aud="mail"), dial=world.dial())
        with pytest.raises(CallRefused) as refused:
            await stranger.call("GET", "/api/admin/alerts")
        assert (refused.value.status, refused.value.code) == (401, "unauthorized")
        eve = await Talker.dial(world)
        await eve.say({"type": "watch", "id": "1", "token": sign(role="admin", aud="mail")})
        assert (await eve.hung_up()).code == 4003
        # The provider has a new key: an open socket is renewed with it.
        server.add("two")
        await trio.sleep(30)
        assert (await ana.ask("hello", token=sign("two")))["type"] == "ok"
        assert server.attempts == 2


@pytest.mark.parametrize(
    ("auth", "message"),
    [
        ({"algorithm": "EdDSA", "jwks_url": "https://id.test/"}, "needs auth.issuer"),
        ({"algorithm": "HS256", "jwks_url": "https://id.test/"}, "HS256"),
        ({"jwks_url": "http://id.test/"}, "https://"),
        ({"jwks_url": "ftp://id.test/"}, "jwks_url"),
        ({"jwks_url": "https://id.test:99999/"}, "URL"),
        ({"public_key_file": "key.pem"}, "must be empty when auth.jwks_url"),
    ],
)
def test_settings_that_do_not_fit_are_named_at_the_start(auth, message):
    whole = {"algorithm": "EdDSA", "jwks_url": "https://id.test/keys"}
    claims = {} if "needs" in message else {"issuer": ISSUER, "audience": AUDIENCE}
    with pytest.raises(SettingsError, match=message):
        load_settings(None, {}, {"auth": whole | claims | auth})


@pytest.mark.parametrize("url", ["https://id.test/keys", "http://127.0.0.1:8081/keys"])
def test_settings_that_fit_are_taken(url):
    auth = {"algorithm": "RS256", "jwks_url": url, "issuer": ISSUER, "audience": AUDIENCE}
    assert load_settings(None, {}, {"auth": auth}).auth.jwks_url == url
