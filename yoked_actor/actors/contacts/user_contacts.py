"""Whom a user has met lately, and the answers to "stay in touch?" after a date (R25, R26).

A user who is blocked, suspended or erased is shown to nobody. An answer is stored all the same, so
that it discloses nothing.
"""

from __future__ import annotations

import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.offers import OpenedConnections
from yoked_actor.domain.contacts import Meeting, Touch, TouchWindow
from yoked_actor.domain.lobby import Code, Outcome, replies
from yoked_actor.domain.people import Card, ShownPlaces
from yoked_actor.domain.time import Instant, after
from yoked_actor.settings import Settings
from yoked_actor.store import NoSuchDate, Store, TouchClosed, TouchGiven
from yoked_actor.telemetry import Metrics

_DAY_S = 86_400.0
_log = structlog.get_logger()


class MetView(msgspec.Struct, frozen=True):
    """A user whom another user has met, as that user sees it."""

    match_id: str
    partner: Card
    at: Instant
    outcome: Outcome | None
    date_id: str | None
    touch_until: Instant | None
    """Until when the user can say whether to stay in touch; None when there is nothing to say."""
    connection_id: str | None


class UserContacts:
    """Reads a user's meetings and stores answers, for the socket and for HTTP."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        metrics: Metrics,
        settings: Settings,
        opened: OpenedConnections,
        places: ShownPlaces,
    ) -> None:
        """`opened` notifies both users of a connection; `places` says where each is shown to be."""
        self._contacts = store.contacts
        self._offers = store.offers
        self._clock = clock
        self._metrics = metrics.contacts
        self._settings = settings.date
        self._window = TouchWindow(settings.date.touch_after_s, settings.date.touch_for_s)
        self._opened = opened
        self._places = places

    async def met(self, user_id: str) -> list[MetView]:
        """Whom a user has met lately, newest first."""
        now, settings = self._clock.now(), self._settings
        since = after(now, -settings.met_days * _DAY_S)
        found = await self._contacts.met(user_id, since, settings.max_met)
        faces = await self._offers.faces([(user_id, one.partner) for one in found], now)
        views = []
        for one in found:
            card = faces.of(user_id, one.partner, self._places, now)
            if card is not None:
                views.append(self._view(one, card, now))
        return views

    async def stay_in_touch(self, user_id: str, date_id: str, answer: str) -> replies.Reply:
        """Store an answer. If it opens a connection, both users are notified after the reply.

        Checkpoints, but is shielded: a cancelled caller must not lose a connection that is stored.
        """
        received: list[replies.Reply] = []
        with trio.CancelScope(shield=True):
            received.append(await self._answer(user_id, date_id, Touch(answer), self._clock.now()))
        return received[0]

    async def _answer(
        self, user_id: str, date_id: str, answer: Touch, now: Instant
    ) -> replies.Reply:
        try:
            touched = await self._contacts.stay_in_touch(
                user_id, date_id, answer, self._window, now
            )
        except NoSuchDate as error:
            return replies.Refusal(Code.NOT_FOUND, str(error))
        except TouchClosed as error:
            return replies.Refusal(Code.WRONG_STATE, str(error))
        except TouchGiven as error:
            return replies.Refusal(Code.ALREADY_ANSWERED, str(error))
        self._metrics.answers[answer].inc()
        connection = touched.connection
        if connection is None:
            return replies.TouchAnswered()
        if touched.opened:
            self._metrics.connections.inc()
            _log.info("connection_opened", connection_id=connection.connection_id)
            self._opened.add(user_id, connection)
        # A connection with a suspended user is not shown, and neither is one after a block.
        faces = await self._offers.faces([(user_id, touched.partner)], now)
        is_shown = faces.may_see(user_id, touched.partner)
        return replies.TouchAnswered(connection.connection_id if is_shown else None)

    def _view(self, meeting: Meeting, card: Card, now: Instant) -> MetView:
        started_at, ended_at = meeting.date_started_at, meeting.date_ended_at
        touch_until = None
        if (
            started_at is not None
            and ended_at is not None
            and meeting.answer is None
            and self._window.is_long_enough(started_at, ended_at)
            and self._window.until(ended_at) > now
        ):
            touch_until = self._window.until(ended_at)
        return MetView(
            *(meeting.match_id, card, meeting.at, meeting.outcome, meeting.date_id),
            *(touch_until, meeting.connection_id),
        )
