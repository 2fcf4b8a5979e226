"""Every call of the HTTP API and every page, with what each of them needs."""

from __future__ import annotations

from collections.abc import Callable

from quart_trio import QuartTrio

from yoked_actor.actors.offers import Calendar
from yoked_actor.app.base import Base
from yoked_actor.app.lobby import Live
from yoked_actor.app.people import People
from yoked_actor.edge import http


def add_calls(
    app: QuartTrio,
    api: http.Api,
    base: Base,
    live: Live,
    *,
    calendar: Calendar,
    people: People,
    stop: Callable[[], None],
) -> None:
    """Add them all to an app."""
    dispatcher = base.dispatcher
    http.add_profile_calls(app, api)
    http.add_place_calls(app, api)
    http.add_match_calls(app, api)
    http.add_safety_calls(app, api)
    http.add_offer_calls(app, api, live.offers)
    http.add_call_calls(app, api)
    http.add_contact_calls(app, api, live.contacts)
    http.add_room_calls(app, api, live.rooms)
    http.add_me_calls(app, api, people.eraser)
    http.add_ops_calls(app, api, live.rooms, base.supervisor, base.metrics)
    http.add_admin_calls(app, api)
    http.add_admin_job_calls(app, api, dispatcher, base.alarm)
    http.add_admin_lobby_calls(app, api, live.view)
    http.add_admin_offer_calls(app, api, calendar, dispatcher, threads=base.threads)
    http.add_admin_match_calls(app, api, live.view)
    http.add_setting_calls(app, api)
    http.add_admin_people_calls(app, api, live.view, people.warnings)
    http.add_admin_report_calls(app, api, people.enforcer)
    http.add_admin_room_calls(
        app, api, live.rooms, reload=live.timekeeper.reload, wake_others=dispatcher.wake
    )
    http.add_admin_drain_calls(app, api, stop)
    http.add_objective_calls(app, api, base.metrics.objectives)
    http.add_contract_calls(app, api, has_mock_clock=base.mock_clock is not None)
    http.add_page_calls(app, api)
    http.add_console_calls(app, api, base.store.calendar)
    if api.dev:
        http.add_dev_calls(app, api, base.mock_clock)
