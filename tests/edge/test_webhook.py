"""The webhook over loopback: plain and with TLS, and what the settings say of it."""

from __future__ import annotations

import contextlib
import re
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h11
import httpx
import pytest
import trio
import trustme

from yoked_actor.domain.jobs import ReceiverAnswer
from yoked_actor.edge.outgoing.webhook import (
    KEPT_BODY_BYTES,
    MOST_BODY_BYTES,
    post,
    signature,
)
from yoked_actor.settings import SettingsError, load_settings

SECRET = "sixteen bytes or more"
# Of a long answer the beginning is kept.
TAKEN = ReceiverAnswer(200, "r7", ("yes" * 3000)[:KEPT_BODY_BYTES])


async def answer_one(stream: trio.abc.Stream, seen: list[bytes]) -> None:
    connection = h11.Connection(h11.SERVER)
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(bytes(await stream.receive_some()))
        elif isinstance(event, h11.Data):
            seen.append(bytes(event.data))
        elif isinstance(event, h11.EndOfMessage):
            break
    # Something before the answer, and more in it than anybody wants to read.
    early = h11.InformationalResponse(status_code=103, headers=[])
    await stream.send_all(connection.send(early) or b"")
    head = h11.Response(
        status_code=200, headers=[("Content-Length", "9000"), ("x-request-id", "r7")]
    )
    await stream.send_all(connection.send(head) or b"")
    await stream.send_all(connection.send(h11.Data(data=b"yes" * 3000)) or b"")


async def post_to_loopback(
    wrap: Callable[[trio.SocketStream], trio.abc.Stream], is_secure: bool
) -> tuple[ReceiverAnswer, list[bytes]]:
    seen: list[bytes] = []

    async def handle(plain: trio.SocketStream) -> None:
        async with wrap(plain) as stream:
            await answer_one(stream, seen)

    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, handle, [listener])
        with trio.fail_after(30):
            url = f"{'https' if is_secure else 'http'}://127.0.0.1:{port}/"
            answer = await post(url, {}, b'{"a": 1}', "X-Request-Id")
        nursery.cancel_scope.cancel()
    return answer, seen


async def test_a_body_reaches_a_receiver_on_loopback() -> None:
    assert await post_to_loopback(lambda plain: plain, False) == (TAKEN, [b'{"a": 1}'])


async def test_a_body_reaches_a_receiver_with_tls_whose_certificate_is_known(monkeypatch) -> None:
    authority = trustme.CA()
    theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(theirs)
    with authority.cert_pem.tempfile() as file:
        monkeypatch.setenv("SSL_CERT_FILE", file)

        def wrap(plain: trio.SocketStream) -> trio.abc.Stream:
            return trio.SSLStream(plain, theirs, server_side=True, https_compatible=True)

        assert await post_to_loopback(wrap, True) == (TAKEN, [b'{"a": 1}'])


async def test_a_certificate_of_nobody_we_know_is_refused() -> None:
    theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(theirs)

    async def handle(plain: trio.SocketStream) -> None:
        stream = trio.SSLStream(plain, theirs, server_side=True)
        with pytest.raises(trio.BrokenResourceError):
            await stream.do_handshake()

    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, handle, [listener])
        with pytest.raises(httpx.ConnectError) as refused:
            await post(f"https://127.0.0.1:{port}/", {}, b"secret", "X-Request-Id")
        cause: BaseException | None = refused.value
        while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
            cause = cause.__cause__ or cause.__context__
        assert cause is not None
        nursery.cancel_scope.cancel()


async def test_of_an_answer_without_an_end_only_a_beginning_is_read() -> None:
    sent = 0

    async def handle(stream: trio.SocketStream) -> None:
        nonlocal sent
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        with contextlib.suppress(trio.BrokenResourceError):
            while True:
                await stream.send_all(b"x" * 1024)
                sent += 1024

    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, handle, [listener])
        with trio.fail_after(30):
            answer = await post(f"http://127.0.0.1:{port}/", {}, b"{}", "X-Request-Id")
        nursery.cancel_scope.cancel()
    assert answer == ReceiverAnswer(200, None, "x" * KEPT_BODY_BYTES)
    assert sent > MOST_BODY_BYTES


def test_a_signature_is_that_of_the_bytes() -> None:
    # Of `printf hello | openssl dgst -sha256 -hmac key`.
    digest = "9307b3b915efb5171ff14d8cb55fbcc798c6c0ef1456d66ded1a6aa723a58b7b"
    assert signature("key", b"hello") == f"sha256={digest}"


def test_the_check_that_the_documentation_offers_checks() -> None:
    page = Path("docs/operations.md").read_text("utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["is_ours"](SECRET, b"body", signature(SECRET, b"body"))
    assert not names["is_ours"](SECRET, b"another body", signature(SECRET, b"body"))
    assert not names["is_ours"]("another secret", b"body", signature(SECRET, b"body"))


@pytest.mark.parametrize(
    "url",
    [
        "ftp://ops.test/",
        "ops.test",
        "http://",
        "http://user:word@ops.test/",
        "http://ops.test:99999/",
        "http://ops.test/a b",
        "http://ops.test/#part",
        "http://ops.test/\r\nX: y",
    ],
)
def test_what_is_no_url_is_refused_at_the_start(url: str) -> None:
    given = {"alerts": {"webhook_url": url, "webhook_secret": SECRET}}
    with pytest.raises(SettingsError, match=r"alerts\.webhook_url"):
        load_settings(None, {}, given)


def test_a_webhook_needs_a_secret_that_is_one() -> None:
    for secret in ("", "short"):
        given = {"alerts": {"webhook_url": "https://ops.test/x", "webhook_secret": secret}}
        with pytest.raises(SettingsError, match=r"alerts\.webhook_secret"):
            load_settings(None, {}, given)
