"""Bots: a crowd of made-up guests who speak to a server through the real client.

They exercise a server of one's own machine by hand or under load; `yoked-actor bots` starts them.
A persona is a plain async function (`personas`), a bot is one guest's view of the game (`bot`), a
crowd lets them come, come again and go (`crowd`), and a tally counts what they see (`tally`).
"""

from __future__ import annotations

from yoked_actor.bots.bot import Bot, Pace
from yoked_actor.bots.crowd import Crowd
from yoked_actor.bots.personas import PERSONAS
from yoked_actor.bots.tally import Tally

__all__ = ["PERSONAS", "Bot", "Crowd", "Pace", "Tally"]
