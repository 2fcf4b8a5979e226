"""HTTP: the app, its calls by feature, pages, and the bridge to Hypercorn."""

from __future__ import annotations

from yoked_actor.edge.http.admin.configuration import add_setting_calls
from yoked_actor.edge.http.admin.console import add_console_calls
from yoked_actor.edge.http.admin.drain import add_admin_drain_calls
from yoked_actor.edge.http.admin.jobs import add_admin_job_calls
from yoked_actor.edge.http.admin.lobby import add_admin_lobby_calls
from yoked_actor.edge.http.admin.matches import add_admin_match_calls
from yoked_actor.edge.http.admin.objectives import add_objective_calls
from yoked_actor.edge.http.admin.offers import add_admin_offer_calls
from yoked_actor.edge.http.admin.people import add_admin_people_calls
from yoked_actor.edge.http.admin.quality import add_admin_calls
from yoked_actor.edge.http.admin.reports import add_admin_report_calls
from yoked_actor.edge.http.admin.rooms import add_admin_room_calls
from yoked_actor.edge.http.api import Api
from yoked_actor.edge.http.app import create_app
from yoked_actor.edge.http.contacts import add_contact_calls
from yoked_actor.edge.http.contract import add_contract_calls
from yoked_actor.edge.http.dev import add_dev_calls
from yoked_actor.edge.http.hypercorn_bridge import HypercornBridge
from yoked_actor.edge.http.me import add_me_calls
from yoked_actor.edge.http.offers import add_call_calls, add_offer_calls
from yoked_actor.edge.http.ops import add_ops_calls
from yoked_actor.edge.http.pages import add_page_calls
from yoked_actor.edge.http.places import add_place_calls
from yoked_actor.edge.http.rooms import add_room_calls
from yoked_actor.edge.http.user import add_match_calls, add_profile_calls, add_safety_calls

__all__ = [
    "Api",
    "HypercornBridge",
    "add_admin_calls",
    "add_admin_drain_calls",
    "add_admin_job_calls",
    "add_admin_lobby_calls",
    "add_admin_match_calls",
    "add_admin_offer_calls",
    "add_admin_people_calls",
    "add_admin_report_calls",
    "add_admin_room_calls",
    "add_call_calls",
    "add_console_calls",
    "add_contact_calls",
    "add_contract_calls",
    "add_dev_calls",
    "add_match_calls",
    "add_me_calls",
    "add_objective_calls",
    "add_offer_calls",
    "add_ops_calls",
    "add_page_calls",
    "add_place_calls",
    "add_profile_calls",
    "add_room_calls",
    "add_safety_calls",
    "add_setting_calls",
    "create_app",
]
