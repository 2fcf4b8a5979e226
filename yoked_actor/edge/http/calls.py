"""Every call of the HTTP API and every page, put into the app."""

from __future__ import annotations

from collections.abc import Callable

from quart_trio import QuartTrio

from yoked_actor.actors.people import Care
from yoked_actor.edge.http.admin.console import add_console_calls
from yoked_actor.edge.http.admin.drain import add_admin_drain_calls
from yoked_actor.edge.http.admin.jobs import add_admin_job_calls
from yoked_actor.edge.http.admin.lobby import add_admin_lobby_calls
from yoked_actor.edge.http.admin.objectives import add_objective_calls
from yoked_actor.edge.http.admin.offers import add_admin_offer_calls
from yoked_actor.edge.http.admin.root import add_admin_calls
from yoked_actor.edge.http.admin.users import add_admin_user_calls
from yoked_actor.edge.http.app import Doors
from yoked_actor.edge.http.contract import add_contract_calls
from yoked_actor.edge.http.dev import add_dev_calls
from yoked_actor.edge.http.me import add_me_calls
from yoked_actor.edge.http.offers import add_offer_calls
from yoked_actor.edge.http.ops import add_ops_calls
from yoked_actor.edge.http.pages import add_page_calls
from yoked_actor.edge.http.user import add_match_calls, add_profile_calls, add_safety_calls
from yoked_actor.store import Calendar


def add_all_calls(
    app: QuartTrio, doors: Doors, care: Care, runs: Calendar, drain: Callable[[], None]
) -> None:
    """Add them all; `drain` is what an operator's wish to stop the server does."""
    add_profile_calls(app, doors)
    add_match_calls(app, doors)
    add_safety_calls(app, doors)
    add_offer_calls(app, doors)
    add_me_calls(app, doors, care)
    add_ops_calls(app, doors)
    add_admin_calls(app, doors)
    add_admin_job_calls(app, doors)
    add_admin_lobby_calls(app, doors)
    add_admin_offer_calls(app, doors)
    add_admin_user_calls(app, doors, care)
    add_admin_drain_calls(app, doors, drain)
    add_objective_calls(app, doors)
    add_contract_calls(app, doors)
    add_page_calls(app, doors)
    add_console_calls(app, doors, runs)
    if doors.dev:
        add_dev_calls(app, doors)
