"""Whose address counts when a proxy stands between: never one that anybody could have made up."""

from __future__ import annotations

import pytest
import trio

from tests.edge.raw_client import dial, open_door, upgrade_request
from yoked_actor.edge.net import EdgeLimits, TrustedProxies

PROXY = "10.0.0.2"
CLIENT = "192.0.2.7"


@pytest.mark.parametrize(
    ("trusted", "forwarded", "client"),
    [
        ([], [CLIENT], PROXY),
        (["10.0.0.3"], [CLIENT], PROXY),
        ([PROXY], [], PROXY),
        ([PROXY], [CLIENT], CLIENT),
        ([PROXY], [f"203.0.113.9, {CLIENT}"], CLIENT),
        ([PROXY], ["203.0.113.9", CLIENT], CLIENT),
        ([PROXY], ["127.0.0.1, 10.0.0.2, " + CLIENT], CLIENT),
        (["10.0.0.0/8"], [f"203.0.113.9, {CLIENT}, 10.1.1.1, 10.2.2.2"], CLIENT),
        (["10.0.0.0/8"], ["10.1.1.1, 10.2.2.2"], "10.1.1.1"),
        ([PROXY], [f"{CLIENT}:5123"], CLIENT),
        ([PROXY], ["[2001:db8::1]:443"], "2001:db8::1"),
        ([PROXY], ["2001:db8::1"], "2001:db8::1"),
        ([PROXY], [f"::ffff:{CLIENT}"], CLIENT),
        ([PROXY], [f"{CLIENT}, unknown"], PROXY),
        ([PROXY], [""], PROXY),
        ([PROXY], ["\xff\xfe"], PROXY),
        ([PROXY], ["1.2.3.4," * 5000 + CLIENT], CLIENT),
    ],
)
def test_the_client_is_the_last_address_that_no_trusted_proxy_has(trusted, forwarded, client):
    headers = [(b"X-Forwarded-For", line.encode("latin-1")) for line in forwarded]
    assert TrustedProxies(trusted).client_of(PROXY, headers) == client


def test_a_proxy_that_is_seen_as_ipv6_is_the_same_proxy():
    assert TrustedProxies([PROXY]).trusts(f"::ffff:{PROXY}")
    assert TrustedProxies(["fd00::/8"]).trusts("fd00::1%eth0")
    assert not TrustedProxies([PROXY]).trusts("")


async def arrivals(
    trusted: list[str], peer: str, forwarded: list[str], request: bytes
) -> list[int]:
    """What becomes of connections of `peer`, each for another one of `forwarded`."""
    limits = EdgeLimits(connections_per_s=1, connection_burst=2, last_words_s=0.1)
    found = []
    async with (
        open_door(limits=limits, trusted_proxies=trusted) as door,
        trio.open_nursery() as nursery,
    ):
        for client in forwarded:
            stream = dial(door, nursery, (peer, 1))
            head = request.removesuffix(b"\r\n") + f"X-Forwarded-For: {client}\r\n\r\n".encode()
            await stream.send_all(head)
            found.append(int((await stream.receive_some())[9:12]))
            await stream.aclose()
    return found


@pytest.mark.parametrize(
    ("request_head", "well"),
    [
        (b"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 200),
        (upgrade_request(), 101),
    ],
)
async def test_behind_a_trusted_proxy_each_client_has_a_rate_of_its_own(
    autojump_clock, request_head, well
):
    clients = ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"]
    answers = await arrivals([PROXY], PROXY, clients, request_head)
    assert answers == [well, well, 429, well]
    answers = await arrivals(["127.0.0.1"], "127.0.0.1", clients, request_head)
    assert answers == [well, well, 429, well]


async def test_a_client_without_a_proxy_cannot_choose_whom_to_be_counted_as(autojump_clock):
    request = b"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    made_up = ["203.0.113.1", "203.0.113.2", "127.0.0.1"]
    for trusted in ([], [PROXY]):
        assert await arrivals(trusted, CLIENT, made_up, request) == [200, 200, 429]
