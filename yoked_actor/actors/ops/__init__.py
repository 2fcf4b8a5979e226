"""Alerts, dead letters, the lag of the event loop."""

from __future__ import annotations

from yoked_actor.actors.ops.alarm import WEBHOOK, Alarm, AlertNews, free_share_of
from yoked_actor.actors.ops.loop_lag import LoopLag

__all__ = [
    "WEBHOOK",
    "Alarm",
    "AlertNews",
    "LoopLag",
    "free_share_of",
]
