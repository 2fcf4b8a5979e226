"""Reports, suspensions and the audit, for operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.actors.people import SuspensionEnforcer
from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import AuditEntry, Role
from yoked_actor.domain.people import NamedCard, ReviewedReport, age_on, is_user_id
from yoked_actor.domain.time import Instant, from_datetime, to_datetime, utc_date
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.http.parameters import number_of, read_limit, read_number
from yoked_actor.store import NothingToDo
from yoked_actor.wire.common import Changed
from yoked_actor.wire.ops import http
from yoked_actor.wire.people import moderation

DEFAULT_AT_ONCE = 100


def add_admin_report_calls(app: QuartTrio, api: Api, enforcer: SuspensionEnforcer) -> None:
    """`/api/admin/reports`, `/api/admin/users/.../suspend` and `/api/admin/audit`."""
    operators = api.store.operators

    @app.get("/api/admin/reports")
    async def reports() -> Response:
        await api.operator(Role.VIEWER)
        only_open = request.args.get("open", "0")
        if only_open not in ("0", "1"):
            raise Refused(Code.BAD_REQUEST, "open must be 0 or 1")
        found = await operators.reports(
            only_open=only_open == "1",
            limit=read_limit(DEFAULT_AT_ONCE),
            now=api.clock.now(),
            before=read_number("before"),
        )
        entries = await report_entries(api, found, api.clock.now())
        return answer(moderation.ReportsAnswer(entries))

    @app.post("/api/admin/reports/<number>/resolve")
    async def resolve(number: str) -> Response:
        session = await api.operator(Role.MODERATOR)
        body = await read_body(moderation.ResolveBody)
        report = number_of(number)
        if report is None:
            raise Refused(Code.NOT_FOUND, "there is no such report")
        try:
            await operators.resolve(report, session.user_id, body.resolution, api.clock.now())
        except NothingToDo:
            raise Refused(Code.NOT_FOUND, f"there is no open report {report}") from None
        return answer(Changed(True))

    @app.post("/api/admin/users/<user_id>/suspend")
    async def suspend(user_id: str) -> Response:
        session = await api.operator(Role.MODERATOR)
        body = await read_body(moderation.SuspendBody)
        if not is_user_id(user_id):
            raise Refused(Code.BAD_REQUEST, "user_id is not the id of a user")
        if user_id == session.user_id:
            raise Refused(Code.BAD_REQUEST, "you cannot suspend yourself: who would let you in?")
        now = api.clock.now()
        until = None if body.until is None else from_datetime(body.until)
        if until is not None and until <= now:
            raise Refused(Code.BAD_REQUEST, "until is past: a suspension ends in the future")
        try:
            changed = await operators.suspend(
                user_id, session.user_id, body.reason, now, until, report=body.report_id
            )
        except NothingToDo as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        await enforcer.refresh()
        return answer(Changed(changed))

    @app.post("/api/admin/users/<user_id>/unsuspend")
    async def unsuspend(user_id: str) -> Response:
        session = await api.operator(Role.MODERATOR)
        if not is_user_id(user_id):
            raise Refused(Code.BAD_REQUEST, "user_id is not the id of a user")
        changed = await operators.unsuspend(user_id, session.user_id, api.clock.now())
        await enforcer.refresh()
        return answer(Changed(changed))

    @app.get("/api/admin/audit")
    async def audit() -> Response:
        await api.operator(Role.VIEWER)
        found = await api.store.audit.entries(read_limit(DEFAULT_AT_ONCE), read_number("before"))
        return answer(http.AuditAnswer([audit_row(one) for one in found]))


async def report_entries(
    api: Api, reports: Sequence[ReviewedReport], now: Instant
) -> list[moderation.ReportEntry]:
    """Reports with the cards of both people, as operators read them."""
    people = {user_id for one in reports for user_id in (one.reporter, one.reported)}
    cards = await cards_of(api, people, now)
    return [_report(one, cards) for one in reports]


async def cards_of(
    api: Api, user_ids: Iterable[str], now: Instant
) -> dict[str, moderation.CardPart]:
    """The cards of users who have a profile, by id."""
    found = await api.store.moderation.cards(user_ids)
    return {user_id: _card(card, now) for user_id, card in found.items()}


def _card(card: NamedCard, now: Instant) -> moderation.CardPart:
    age = age_on(card.birth_date, utc_date(now))
    return moderation.CardPart(card.display_name, age, card.gender, list(card.interests))


def _report(
    one: ReviewedReport, cards: Mapping[str, moderation.CardPart]
) -> moderation.ReportEntry:
    return moderation.ReportEntry(
        report_id=one.number,
        at=to_datetime(one.at),
        reporter=one.reporter,
        reported=one.reported,
        reason=one.reason,
        match_id=one.match_id,
        reported_times=one.reported_times,
        suspended=one.suspended,
        resolved_at=None if one.resolved_at is None else to_datetime(one.resolved_at),
        resolved_by=one.resolved_by,
        resolution=one.resolution,
        reporter_card=cards.get(one.reporter),
        reported_card=cards.get(one.reported),
        kind=one.kind,
    )


def audit_row(one: AuditEntry) -> http.AuditRow:
    """An entry of the audit, as operators read it."""
    return http.AuditRow(
        one.number, to_datetime(one.at), one.who, one.action, one.subject, one.detail
    )
