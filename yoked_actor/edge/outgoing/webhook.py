"""Tells a receiver of alerts that were raised or are over: one signed POST for each, as a job.

The queue repeats it until the receiver says 2xx, for a day; the event's name and the bytes of the
body are the same every time, so that a receiver can drop a repeat. No redirect is followed: what
is signed goes where the operator said. Of the answer nothing is used but its status; that, what the
receiver calls the request, and the beginning of the body are kept with the job, for the audit.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
import ssl
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import h11
import msgspec
import structlog
import trio

from yoked_actor import __version__
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, JobRun
from yoked_actor.actors.ops import WEBHOOK, AlertNotification
from yoked_actor.domain.jobs import Cancel, RetryPolicy, Transient
from yoked_actor.settings import AlertSettings
from yoked_actor.store import JobStore, LeaseLost, ReceiverAnswer, StoreUnavailable, keep_answer_in

_log = structlog.get_logger()

Dial = Callable[[str, int, bool], Awaitable[trio.abc.Stream]]
"""Opens a stream to a host and port; the third says whether with TLS."""

# From 10 seconds on, doubling up to 10 minutes, for a day.
POLICY = RetryPolicy(base_s=10.0, cap_s=600.0, runs=150, jitter=0.1)
MOST_HEAD_BYTES = 16 * 1024
MOST_BODY_BYTES = 64 * 1024
KEPT_BODY_BYTES = 2 * 1024
KEPT_ID_CHARACTERS = 200
_BROKEN = (OSError, trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError)


class Webhook:
    """Where alerts are told to."""

    def __init__(
        self, settings: AlertSettings, jobs: JobStore, clock: Clock, dial: Dial | None = None
    ) -> None:
        self._settings = settings
        self._jobs = jobs
        self._clock = clock
        self._dial = open_stream if dial is None else dial

    def register(self, dispatcher: Dispatcher) -> None:
        """Let a dispatcher tell of alerts."""
        dispatcher.register(WEBHOOK, AlertNotification, self.tell, POLICY)

    async def tell(self, run: JobRun[AlertNotification]) -> Cancel | None:
        """Send what a job holds; `Transient` unless the receiver has it."""
        url, event = self._settings.webhook_url, run.idempotency_key
        if not url:
            return Cancel("there is no webhook any more")
        body = msgspec.json.encode({"event": event, **run.payload.model_dump(exclude_none=True)})
        secret = self._settings.webhook_secret.get_secret_value()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"yoked-actor/{__version__}",
            "X-Yoked-Event": event,
            "X-Yoked-Signature": signature(secret, body),
        }
        timeout_s = self._settings.webhook_timeout_s
        with trio.move_on_after(timeout_s):
            try:
                answer = await self._post(url, headers, body)
            except _BROKEN as error:
                raise Transient(f"the receiver cannot be reached: {error!r}") from error
            await self._heard(run, answer)
            return None
        raise Transient(f"the receiver did not answer within {timeout_s:g} s")

    async def _heard(self, run: JobRun[AlertNotification], answer: ReceiverAnswer) -> None:
        """Keep an answer; `Transient` when it is not that the receiver has it."""
        job, now = run.job, self._clock.now()
        if 200 <= answer.status < 300:
            # Not by a write of its own: what the receiver has must not be sent again for that.
            def effect(connection: sqlite3.Connection) -> None:
                keep_answer_in(connection, job.id, job.fence, answer, now)

            run.effect = effect
            return
        try:
            await self._jobs.keep_answer(job.id, job.fence, answer, now)
        except (StoreUnavailable, LeaseLost) as error:
            _log.warning("answer_not_kept", job_id=job.id, fence=job.fence, error=str(error))
        raise Transient(f"the receiver answered {answer.status}")

    async def _post(self, url: str, headers: dict[str, str], body: bytes) -> ReceiverAnswer:
        parts = urlsplit(url)
        assert parts.hostname is not None
        is_secure = parts.scheme == "https"
        port = parts.port or (443 if is_secure else 80)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        stream = await self._dial(parts.hostname, port, is_secure)
        try:
            named = self._settings.webhook_id_header
            return await _exchange(stream, parts.netloc, target, headers, body, named)
        finally:
            await trio.aclose_forcefully(stream)


def signature(secret: str, body: bytes) -> str:
    """What proves that a body comes from who knows the secret."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


async def open_stream(host: str, port: int, is_secure: bool) -> trio.abc.Stream:
    """A stream over TCP; with TLS the receiver's certificate is checked."""
    stream = await trio.open_tcp_stream(host, port)
    if not is_secure:
        return stream
    context = ssl.create_default_context()
    return trio.SSLStream(stream, context, server_hostname=host, https_compatible=True)


async def _exchange(
    stream: trio.abc.Stream,
    authority: str,
    target: str,
    headers: dict[str, str],
    body: bytes,
    id_header: str,
) -> ReceiverAnswer:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_HEAD_BYTES)
    fields = [
        ("Host", authority),
        ("Connection", "close"),
        ("Content-Length", str(len(body))),
        *headers.items(),
    ]
    out = connection.send(h11.Request(method="POST", target=target, headers=fields)) or b""
    out += connection.send(h11.Data(data=body)) or b""
    out += connection.send(h11.EndOfMessage()) or b""
    await stream.send_all(out)
    status, read, named, kept = 0, 0, None, b""
    wanted = id_header.lower().encode("ascii")
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(bytes(await stream.receive_some(MOST_HEAD_BYTES)))
        elif isinstance(event, h11.Response):
            status = event.status_code
            named = next((_text(value) for name, value in event.headers if name == wanted), None)
        elif isinstance(event, h11.Data):
            read += len(event.data)
            kept += bytes(event.data[: KEPT_BODY_BYTES - len(kept)])
            if read > MOST_BODY_BYTES:
                break
        elif not isinstance(event, h11.InformationalResponse):
            break
    return ReceiverAnswer(status, named and named[:KEPT_ID_CHARACTERS], _text(kept))


def _text(data: bytes) -> str:
    """Bytes of the receiver's, as text that can be stored and shown."""
    text = data.decode("utf-8", "replace")
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
