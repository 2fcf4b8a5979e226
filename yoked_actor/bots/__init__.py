"""Bots: invented users that exercise a server through the real client.

`yoked-actor bots` starts them, for tests by hand and for load. A bot is one user (`bot`), a persona
is an async function that decides its behaviour (`personas`), a crowd starts bots and replaces those
that leave (`crowd`), and a tally counts what all of them see (`tally`).
"""

from __future__ import annotations

from yoked_actor.bots.bot import Bot, Pace
from yoked_actor.bots.crowd import Crowd
from yoked_actor.bots.personas import PERSONAS
from yoked_actor.bots.tally import Tally

__all__ = ["PERSONAS", "Bot", "Crowd", "Pace", "Tally"]
