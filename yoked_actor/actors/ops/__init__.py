"""Alerts, dead letters, the operators' status board, the lag of the event loop."""

from __future__ import annotations

from yoked_actor.actors.ops.alarm import Alarm
from yoked_actor.actors.ops.alert_jobs import WEBHOOK, AlertNotification
from yoked_actor.actors.ops.loop_lag import LoopLag
from yoked_actor.actors.ops.measuring import free_share_of
from yoked_actor.actors.ops.status_board import StatusBoard, alert_entries
from yoked_actor.actors.ops.watcher import Watcher

__all__ = [
    "WEBHOOK",
    "Alarm",
    "AlertNotification",
    "LoopLag",
    "StatusBoard",
    "Watcher",
    "alert_entries",
    "free_share_of",
]
