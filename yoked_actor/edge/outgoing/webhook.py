"""The webhook: sends one signed POST for each alert that was raised or cleared, as a job.

The job is retried for a day until the receiver answers 2xx. The event id and the bytes of the body
are the same each time, so that a receiver can drop repeats. No redirect is followed: signed bodies
go only to the URL in the settings. Only the status of the answer is used. The status, the
receiver's id of the request and the first part of the body are stored with the job, for the audit.
"""

from __future__ import annotations

import hashlib
import hmac

import httpx
import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, JobRun
from yoked_actor.actors.ops import WEBHOOK, AlertNotification
from yoked_actor.domain.jobs import Cancel, ReceiverAnswer, RetryPolicy, Transient
from yoked_actor.edge.outgoing.exchange import EXCHANGE_FAILURES, exchange, in_words, read_body
from yoked_actor.settings import AlertSettings
from yoked_actor.store import Jobs, LeaseLost, StoreUnavailable, Tx, keep_answer_in

_log = structlog.get_logger()

# From 10 seconds on, doubling up to 10 minutes, for a day.
POLICY = RetryPolicy(base_s=10.0, cap_s=600.0, runs=150, jitter=0.1)
MOST_BODY_BYTES = 64 * 1024
KEPT_BODY_BYTES = 2 * 1024
KEPT_ID_CHARACTERS = 200


class Webhook:
    """Sends alerts to the receiver."""

    def __init__(
        self,
        settings: AlertSettings,
        jobs: Jobs,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._settings = settings
        self._jobs = jobs
        self._clock = clock
        self._transport = transport

    def register(self, dispatcher: Dispatcher) -> None:
        """Register the job type with a dispatcher."""
        dispatcher.register(WEBHOOK, AlertNotification, self.send, POLICY)

    async def send(self, run: JobRun[AlertNotification]) -> Cancel | None:
        """Send the alert of a job; raises `Transient` unless the receiver answers 2xx."""
        url, event = self._settings.webhook_url, run.idempotency_key
        if not url:
            return Cancel("there is no webhook any more")
        body = msgspec.json.encode({"event": event, **run.payload.model_dump(exclude_none=True)})
        secret = self._settings.webhook_secret.get_secret_value()
        headers = {
            "Content-Type": "application/json",
            "X-Yoked-Event": event,
            "X-Yoked-Signature": signature(secret, body),
        }
        timeout_s = self._settings.webhook_timeout_s
        with trio.move_on_after(timeout_s):
            try:
                id_header = self._settings.webhook_id_header
                answer = await post(url, headers, body, id_header, self._transport)
            except EXCHANGE_FAILURES as error:
                raise Transient(f"the receiver cannot be reached: {in_words(error)}") from error
            await self._keep_answer(run, answer)
            return None
        raise Transient(f"the receiver did not answer within {timeout_s:g} s")

    async def _keep_answer(self, run: JobRun[AlertNotification], answer: ReceiverAnswer) -> None:
        """Store the answer; raises `Transient` unless it is 2xx."""
        job, now = run.job, self._clock.now()
        if 200 <= answer.status < 300:
            # Stored when the job completes: a failed write of its own would send the alert again.
            def effect(tx: Tx) -> None:
                keep_answer_in(tx, job.id, job.fence, answer, now)

            run.effect = effect
            return
        try:
            await self._jobs.keep_answer(job.id, job.fence, answer, now)
        except (StoreUnavailable, LeaseLost) as error:
            _log.warning("answer_not_kept", job_id=job.id, fence=job.fence, error=str(error))
        raise Transient(f"the receiver answered {answer.status}")


def signature(secret: str, body: bytes) -> str:
    """Proves that the sender of a body knows the secret."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


async def post(
    url: str,
    headers: dict[str, str],
    body: bytes,
    id_header: str,
    transport: httpx.AsyncBaseTransport | None = None,
) -> ReceiverAnswer:
    """Send a body; returns the part of the answer that is stored."""
    async with exchange("POST", url, headers, body, transport) as response:
        kept = (await read_body(response, MOST_BODY_BYTES))[:KEPT_BODY_BYTES]
    wanted = id_header.lower().encode("ascii")
    named = next(
        (_text(value) for name, value in response.headers.raw if name.lower() == wanted), None
    )
    return ReceiverAnswer(response.status_code, named and named[:KEPT_ID_CHARACTERS], _text(kept))


def _text(data: bytes) -> str:
    """Bytes from the receiver, as text that can be stored and shown."""
    text = data.decode("utf-8", "replace")
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
