"""The operator: reads reports and appeals, suspends and restores people."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import trio

from yoked_actor.domain.time import MICROSECONDS, to_datetime
from yoked_actor.simulation.people.api import Api
from yoked_actor.simulation.people.company import Company

_EVERY_S = 2 * 3600.0
_MOST = 200


class Operator:
    """Comes to the console every few hours, and soon after a report."""

    def __init__(self, company: Company, seed: int) -> None:
        self._company = company
        self._random = Random(f"operator {seed}")
        self._api = Api(company, "operator", admin=True)
        self._suspended: dict[str, int] = {}
        """Who is suspended, and by which suspension."""
        self._suspensions = 0

    async def work(self) -> None:
        """Work until the run ends."""
        while True:
            ledger = self._company.ledger
            ledger.report_made = trio.Event()
            with trio.move_on_after(self._random.uniform(0.3, 1.0) * _EVERY_S):
                await ledger.report_made.wait()
                await trio.sleep(self._random.uniform(1, 60))
            await self._review()
            for user_id in list(self._suspended):
                if self._random.random() < 0.07:
                    await self._restore(user_id)

    async def _review(self) -> None:
        asked_s = trio.current_time()
        answer = await self._api.call("GET", f"/api/admin/reports?open=1&limit={_MOST}")
        if answer is None or answer.status != 200:
            return
        reports = answer.body["reports"]
        if len(reports) < _MOST:
            self._company.appeals.saw_queue(reports, asked_s)
        for report in reports[:5]:
            if report["kind"] == "appeal":
                self._company.appeals.resolving(report["reason"])
                if self._random.random() < 0.4 and report["reported"] in self._suspended:
                    await self._restore(report["reported"])
            elif self._random.random() < 0.8 and report["reported"] not in self._suspended:
                await self._suspend(report["reported"])
            body = {"resolution": "looked at"}
            path = f"/api/admin/reports/{report['report_id']}/resolve"
            await self._api.call("POST", path, body)

    async def _suspend(self, user_id: str) -> None:
        ledger, now = self._company.ledger, self._company.stage.wall.true()
        if user_id not in ledger.accounts or not ledger.of(user_id).is_here:
            return
        until = None
        if self._random.random() < 0.6:
            hours = self._random.choice((1, 5, 14, 30))
            until = (to_datetime(now) + timedelta(hours=hours)).isoformat()
        self._company.calls.suspending(user_id)
        path = f"/api/admin/users/{user_id}/suspend"
        answer = await self._api.call("POST", path, {"reason": "rude", "until": until}, tries=20)
        if answer is None or answer.status >= 400:
            if answer is not None and answer.status == 404:
                self._company.calls.freed(user_id)
            return
        self._company.calls.suspended(user_id, until)
        self._suspensions += 1
        number = self._suspended[user_id] = self._suspensions
        if until is not None:
            at = now + hours * _HOUR
            self._company.nursery.start_soon(self._end_later, user_id, number, at)

    async def _end_later(self, user_id: str, number: int, at: int) -> None:
        """A suspension with an end ends by itself, unless the operator has ended it before."""
        wall = self._company.stage.wall
        await wall.sleep_until(at)
        if self._suspended.get(user_id) == number:
            self._company.calls.freeing(user_id)
            await trio.sleep(2.0 + 2 * abs(wall.error_s))
            if self._suspended.get(user_id) == number:
                del self._suspended[user_id]
                self._company.calls.freed(user_id)

    async def _restore(self, user_id: str) -> None:
        self._company.calls.freeing(user_id)
        path = f"/api/admin/users/{user_id}/unsuspend"
        answer = await self._api.call("POST", path, tries=20)
        if answer is not None and answer.status < 500:
            self._suspended.pop(user_id, None)
            self._company.calls.freed(user_id)


_HOUR = 3600 * MICROSECONDS
