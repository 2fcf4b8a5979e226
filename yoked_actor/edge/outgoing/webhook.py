"""Tells a receiver of alerts that were raised or are over: one signed POST for each, as a job.

The queue repeats it until the receiver says 2xx, for a day; the event's name and the bytes of the
body are the same every time, so that a receiver can drop a repeat. No redirect is followed: what
is signed goes where the operator said. Of the answer nothing is used but its status; that, what the
receiver calls the request, and the beginning of the body are kept with the job, for the audit.
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
from yoked_actor.domain.jobs import Cancel, RetryPolicy, Transient
from yoked_actor.edge.outgoing.exchange import EXCHANGE_FAILURES, exchange, read_body
from yoked_actor.settings import AlertSettings
from yoked_actor.store import Jobs, LeaseLost, ReceiverAnswer, StoreUnavailable, Tx, keep_answer_in

_log = structlog.get_logger()

# From 10 seconds on, doubling up to 10 minutes, for a day.
POLICY = RetryPolicy(base_s=10.0, cap_s=600.0, runs=150, jitter=0.1)
MOST_BODY_BYTES = 64 * 1024
KEPT_BODY_BYTES = 2 * 1024
KEPT_ID_CHARACTERS = 200


class Webhook:
    """Where alerts are told to."""

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
            "X-Yoked-Event": event,
            "X-Yoked-Signature": signature(secret, body),
        }
        timeout_s = self._settings.webhook_timeout_s
        with trio.move_on_after(timeout_s):
            try:
                id_header = self._settings.webhook_id_header
                answer = await post(url, headers, body, id_header, self._transport)
            except EXCHANGE_FAILURES as error:
                raise Transient(f"the receiver cannot be reached: {error!r}") from error
            await self._heard(run, answer)
            return None
        raise Transient(f"the receiver did not answer within {timeout_s:g} s")

    async def _heard(self, run: JobRun[AlertNotification], answer: ReceiverAnswer) -> None:
        """Keep an answer; `Transient` when it is not that the receiver has it."""
        job, now = run.job, self._clock.now()
        if 200 <= answer.status < 300:
            # Not by a write of its own: what the receiver has must not be sent again for that.
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
    """What proves that a body comes from who knows the secret."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


async def post(
    url: str,
    headers: dict[str, str],
    body: bytes,
    id_header: str,
    transport: httpx.AsyncBaseTransport | None = None,
) -> ReceiverAnswer:
    """Send a body; of the answer, what is kept of it."""
    async with exchange("POST", url, headers, body, transport) as response:
        kept = (await read_body(response, MOST_BODY_BYTES))[:KEPT_BODY_BYTES]
    wanted = id_header.lower().encode("ascii")
    named = next(
        (_text(value) for name, value in response.headers.raw if name.lower() == wanted), None
    )
    return ReceiverAnswer(response.status_code, named and named[:KEPT_ID_CHARACTERS], _text(kept))


def _text(data: bytes) -> str:
    """Bytes of the receiver's, as text that can be stored and shown."""
    text = data.decode("utf-8", "replace")
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
