"""Alerts, dead letters, the lag of the event loop."""

from __future__ import annotations

from yoked_actor.actors.ops.alarm import Alarm
from yoked_actor.actors.ops.alert_jobs import WEBHOOK, AlertNotification
from yoked_actor.actors.ops.loop_lag import LoopLag
from yoked_actor.actors.ops.measuring import free_share_of

__all__ = [
    "WEBHOOK",
    "Alarm",
    "AlertNotification",
    "LoopLag",
    "free_share_of",
]
