"""Search for users, the page of a person, and warnings, for operators."""

from __future__ import annotations

from datetime import date, datetime

import trio
from quart import Response
from quart_trio import QuartTrio

from yoked_actor.actors.people import WarningDelivery
from yoked_actor.domain.lobby import Code, Seat, SettledView, State
from yoked_actor.domain.ops import Role
from yoked_actor.domain.people import OwnMatch, PersonalData, UserRow, age_at, is_user_id
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.edge.http.admin.reports import audit_row, report_entries
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.http.parameters import read_limit, read_text, read_truth
from yoked_actor.store import NothingToDo, TooManyWarnings
from yoked_actor.wire.ops import persons as http
from yoked_actor.wire.people import moderation

_NO_USER = "there is no such user"


def add_admin_people_calls(
    app: QuartTrio, api: Api, view: SettledView, warnings: WarningDelivery
) -> None:
    """`/api/admin/users` and `/api/admin/users/...`, except suspensions."""

    @app.get("/api/admin/users")
    async def users() -> Response:
        await api.operator(Role.VIEWER)
        limit = read_limit()
        search, after = read_text("search", 80).strip(), read_text("after", 64)
        only_suspended = read_truth("suspended")
        with trio.move_on_after(api.settings.edge.request_timeout_s):
            found = await api.store.operators.users(
                limit=limit + 1,
                now=api.clock.now(),
                after=after,
                only_suspended=only_suspended,
                search=search,
            )
            entries = [_entry(row, view) for row in found[:limit]]
            return answer(http.UsersAnswer(entries, len(found) > limit))
        raise Refused(Code.INTERNAL, "the search took too long; search for an id")

    @app.get("/api/admin/users/<user_id>")
    async def user(user_id: str) -> Response:
        await api.operator(Role.VIEWER)
        if not is_user_id(user_id):
            raise Refused(Code.NOT_FOUND, _NO_USER)
        with trio.move_on_after(api.settings.edge.request_timeout_s):
            return answer(await _person(api, view, user_id))
        raise Refused(Code.INTERNAL, "it took too long; try again later")

    @app.post("/api/admin/users/<user_id>/warn")
    async def warn(user_id: str) -> Response:
        session = await api.operator(Role.MODERATOR)
        body = await read_body(moderation.WarnBody)
        if not is_user_id(user_id):
            raise Refused(Code.NOT_FOUND, _NO_USER)
        known = await api.store.load_user(user_id)
        if known.person is None and known.seat is None:
            raise Refused(Code.NOT_FOUND, _NO_USER)
        try:
            made = await api.store.moderation.warn(
                user_id,
                session.user_id,
                body.text,
                api.clock.now(),
                most_unseen=api.settings.safety.max_unseen_warnings,
                report=body.report_id,
            )
        except NothingToDo as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        except TooManyWarnings as error:
            raise Refused(Code.WRONG_STATE, str(error)) from None
        warnings.warned(user_id)
        return answer(moderation.WarnAnswer(made.warning_id))


async def _person(api: Api, view: SettledView, user_id: str) -> http.UserAnswer:
    """All that operators see of a user; the state is that of the lobby, if the user is in it."""
    store, limit = api.store, api.settings.console.history_shown
    kept = await store.privacy.export(user_id, api.clock.now())
    now = api.clock.now()
    about, by = await store.operators.reports_of(user_id, now, limit)
    entries = await report_entries(api, [*about, *by], now)
    suspended = (await store.operators.suspensions(now)).get(user_id)
    warned = await store.moderation.warned(user_id, limit)
    acts = await store.audit.about(user_id, limit)
    now, seat = api.clock.now(), view.seat(user_id)
    if seat is None and kept.is_empty and not about:
        raise Refused(Code.NOT_FOUND, _NO_USER)
    if seat is not None:
        person, blocks, shown = view.person(user_id), view.count_blocks(user_id), seat
    else:
        known = await store.load_user(user_id)
        person, blocks, shown = known.person, len(known.blocks), known.seat or Seat(user_id)
    since = shown.waiting_since
    return http.UserAnswer(
        user_id=user_id,
        in_memory=seat is not None,
        connected=api.sessions.is_connected(user_id),
        online=view.is_online(user_id, now),
        display_name=None if person is None else person.display_name,
        age=None if person is None else age_at(person, now),
        gender=None if person is None else person.gender,
        time_zone=None if person is None else person.time_zone,
        state=shown.state,
        credit=shown.credit,
        waiting_since=_moment(since),
        match_id=shown.match_id,
        date_id=shown.date_id,
        last_match_id=shown.last_match_id,
        blocks=blocks,
        interests=[] if person is None else list(person.interests),
        suspension=None
        if suspended is None
        else http.SuspensionPart(
            to_datetime(suspended.at), suspended.by, suspended.reason, _moment(suspended.until)
        ),
        reports_about=entries[: len(about)],
        reports_by=entries[len(about) :],
        warnings=[
            http.WarningPart(
                one.warning_id, to_datetime(one.at), one.by, one.text, _moment(one.seen_at)
            )
            for one in warned
        ],
        matches=[_past_match(one) for one in reversed(kept.matches[-limit:])],
        dates=[
            http.PastDatePart(one.date_id, one.partner, one.started_at, one.ended_at, one.ended_for)
            for one in reversed(kept.dates[-limit:])
        ],
        offers=_offers(kept, limit),
        connections=[
            http.ConnectionPart(one.connection_id, one.partner, one.opened_at)
            for one in reversed(kept.connections[-limit:])
        ],
        audit=[audit_row(one) for one in acts],
    )


def _entry(row: UserRow, view: SettledView) -> http.UserEntry:
    seat = view.seat(row.user_id)
    return http.UserEntry(
        row.user_id,
        row.display_name,
        State(row.state) if seat is None else seat.state,
        row.credit if seat is None else seat.credit,
        row.reports,
        _moment(row.suspended_at),
        _moment(row.suspended_until),
    )


def _past_match(one: OwnMatch) -> http.PastMatchPart:
    return http.PastMatchPart(
        one.match_id,
        one.partner,
        one.status,
        one.paired_at,
        one.outcome,
        one.cancelled_for,
        one.ended_at,
    )


def _offers(kept: PersonalData, limit: int) -> list[http.PastOfferPart]:
    newest = [
        http.PastOfferPart(
            offer.offer_id, date.fromisoformat(day.date), offer.candidate, offer.answer is not None
        )
        for day in reversed(kept.offers[-limit:])
        for offer in day.offers
    ]
    return newest[:limit]


def _moment(at: Instant | None) -> datetime | None:
    return None if at is None else to_datetime(at)
