"""Alerts, dead letters, the operators' status board, the lag of the event loop."""

from __future__ import annotations

from yoked_actor.actors.ops.alarm import WEBHOOK, Alarm, AlertNews, free_share_of
from yoked_actor.actors.ops.loop_lag import LoopLag
from yoked_actor.actors.ops.status_board import StatusBoard, Watcher, alert_entries

__all__ = [
    "WEBHOOK",
    "Alarm",
    "AlertNews",
    "LoopLag",
    "StatusBoard",
    "Watcher",
    "alert_entries",
    "free_share_of",
]
