"""What all people of a run share: the stage they play on, and those who watch them."""

from __future__ import annotations

import msgspec
import trio

from yoked_actor.simulation.history import History
from yoked_actor.simulation.judges.heard.accounts import Ledger
from yoked_actor.simulation.judges.heard.calls import CallWitness
from yoked_actor.simulation.judges.heard.guarantee import Guarantee
from yoked_actor.simulation.judges.heard.replies import Replies
from yoked_actor.simulation.judges.heard.rooms import RoomJudge
from yoked_actor.simulation.judges.heard.witness import Witness
from yoked_actor.simulation.judges.stored.appeals import AppealJudge
from yoked_actor.simulation.judges.stored.erasures import Erasures
from yoked_actor.simulation.judges.verdict import Bench, Weather
from yoked_actor.simulation.stage import Stage
from yoked_actor.simulation.tally import Tally


class Company(msgspec.Struct, frozen=True, kw_only=True):
    """Passed to every person."""

    stage: Stage
    history: History
    ledger: Ledger
    bench: Bench
    weather: Weather
    witness: Witness
    replies: Replies
    calls: CallWitness
    rooms: RoomJudge
    appeals: AppealJudge
    guarantee: Guarantee
    erasures: Erasures
    tally: Tally
    nursery: trio.Nursery

    def next_connection(self) -> int:
        """A number for a new connection."""
        self.tally.connections += 1
        return self.tally.connections
