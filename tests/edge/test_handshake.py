"""The handshake as a function: a request in, an answer out."""

from __future__ import annotations

import h11
import pytest

from tests.edge.raw_client import upgrade_request
from yoked_actor.edge.net import Origins, wants_websocket
from yoked_actor.edge.ws import answer_handshake
from yoked_actor.edge.ws.handshake import HandshakeAnswer


def parsed(data: bytes) -> h11.Request:
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    event = connection.next_event()
    assert isinstance(event, h11.Request)
    return event


def answer(target: str = "/ws", /, **changed: str | None) -> HandshakeAnswer:
    return answer_handshake(
        parsed(upgrade_request(target, **changed)),
        origins=Origins({"https://dating.example"}),
    )


def test_a_good_handshake_is_accepted_with_the_key_of_the_rfc() -> None:
    accepted = answer()
    assert accepted.accepted
    assert accepted.subprotocol == "yoked.v1"
    assert b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" in accepted.data
    assert b"Sec-WebSocket-Protocol: yoked.v1\r\n" in accepted.data


def test_a_query_does_not_change_the_path() -> None:
    assert answer("/ws?x=1").accepted


def test_compression_is_not_taken_up() -> None:
    accepted = answer(sec_websocket_extensions="permessage-deflate")
    assert accepted.accepted
    assert b"Extensions" not in accepted.data


def test_another_path_is_not_found() -> None:
    assert answer("/wss").status == 404
    assert answer("/ws/").status == 404


def test_no_subprotocol_offered_means_none_chosen() -> None:
    accepted = answer(sec_websocket_protocol=None)
    assert accepted.accepted
    assert accepted.subprotocol is None
    assert b"Sec-WebSocket-Protocol" not in accepted.data


def test_ours_is_chosen_among_several_subprotocols() -> None:
    assert answer(sec_websocket_protocol="chat, yoked.v1").subprotocol == "yoked.v1"


def test_only_foreign_subprotocols_are_refused() -> None:
    assert answer(sec_websocket_protocol="chat, yoked.v2").status == 400


@pytest.mark.parametrize(
    ("origin", "host", "status"),
    [
        (None, "yoked.test", 101),
        ("http://yoked.test", "yoked.test", 101),
        ("http://YOKED.test", "yoked.test", 101),
        ("http://yoked.test:80", "yoked.test", 101),
        ("https://yoked.test", "yoked.test:443", 101),
        ("http://yoked.test:8080", "yoked.test:8080", 101),
        ("http://[::1]:8080", "[::1]:8080", 101),
        ("https://dating.example", "yoked.test", 101),
        ("http://dating.example", "yoked.test", 403),
        ("http://yoked.test:8081", "yoked.test:8080", 403),
        ("http://yoked.test.evil.example", "yoked.test", 403),
        ("http://evil.example", "yoked.test", 403),
        ("http://yoked.test:notaport", "yoked.test", 403),
        ("file://yoked.test", "yoked.test", 403),
        ("null", "yoked.test", 403),
    ],
)
def test_the_origin_must_be_ours_or_allowed(origin: str | None, host: str, status: int) -> None:
    assert answer(origin=origin, host=host).status == status


def test_a_star_allows_every_origin() -> None:
    request = parsed(upgrade_request(origin="http://evil.example"))
    assert answer_handshake(request, origins=Origins({"*"})).accepted


def test_two_origins_are_no_origin() -> None:
    head = upgrade_request(origin="http://yoked.test")
    doubled = head.replace(b"\r\n\r\n", b"\r\nOrigin: http://yoked.test\r\n\r\n")
    assert answer_handshake(parsed(doubled)).status == 403


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"upgrade": None}, 426),
        ({"upgrade": "h2c"}, 426),
        ({"connection": "keep-alive"}, 426),
        ({"sec_websocket_key": None}, 400),
        ({"sec_websocket_key": "short"}, 400),
        ({"sec_websocket_version": "8"}, 400),
        ({"sec_websocket_version": None}, 400),
    ],
)
def test_what_the_rfc_demands_is_demanded(changed: dict[str, str | None], status: int) -> None:
    assert answer(**changed).status == status


def test_a_post_is_no_handshake() -> None:
    head = upgrade_request().replace(b"GET", b"POST", 1)
    assert answer_handshake(parsed(head)).status == 405


def test_a_draining_server_takes_nobody() -> None:
    refused = answer_handshake(parsed(upgrade_request()), draining=True)
    assert refused.status == 503
    assert b"Retry-After: 1\r\n" in refused.data


def test_requests_are_sorted_by_path_and_upgrade() -> None:
    assert wants_websocket(parsed(upgrade_request("/ws")))
    assert wants_websocket(parsed(upgrade_request("/elsewhere", upgrade="WebSocket")))
    assert wants_websocket(parsed(upgrade_request("/ws", upgrade=None)))
    assert not wants_websocket(parsed(upgrade_request("/", upgrade=None)))
