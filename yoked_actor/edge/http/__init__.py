"""HTTP: the app, its calls by feature, pages, and the bridge to Hypercorn."""

from __future__ import annotations

from yoked_actor.edge.http.admin.status_board import StatusBoard, Watcher
from yoked_actor.edge.http.app import Doors, create_app
from yoked_actor.edge.http.calls import add_all_calls
from yoked_actor.edge.http.hypercorn_bridge import HypercornBridge

__all__ = [
    "Doors",
    "HypercornBridge",
    "StatusBoard",
    "Watcher",
    "add_all_calls",
    "create_app",
]
