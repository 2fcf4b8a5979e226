"""The HTTP calls of one person, as the person makes them: again when the server is away."""

from __future__ import annotations

from typing import Any

import trio

from yoked_actor.simulation.people.company import Company
from yoked_actor.simulation.people.protocol import Answer, Gone, call

_TRIES = 6
_EVEN_SUSPENDED = ("/api/me/export", "/api/appeal")


class Api:
    """Calls of a person, or of an operator."""

    def __init__(self, company: Company, user_id: str, *, admin: bool = False) -> None:
        self._company = company
        self._admin = admin
        self.user_id = user_id

    async def call(
        self, method: str, path: str, body: Any = None, *, tries: int = _TRIES
    ) -> Answer | None:
        """The answer; None when the server gave none, in so many tries."""
        company, stage = self._company, self._company.stage
        for attempt in range(tries):
            try:
                line = await stage.dial()
                company.witness.spoke(self.user_id)
                token = stage.token(self.user_id, admin=self._admin)
                answer = await call(line, token, method, path, body)
            except (Gone, ConnectionRefusedError):
                await trio.sleep(1.0 + 2.0 * attempt)
                continue
            company.history.add(
                self.user_id, f"{method} {path} -> {answer.status} {answer.code}".rstrip()
            )
            if answer.status >= 500:
                if company.weather.is_fair(60.0):
                    text = f"{self.user_id}: {method} {path} -> {answer.status} {answer.body}"
                    company.bench.report("server_error", text, self.user_id)
                await trio.sleep(1.0 + 2.0 * attempt)
                continue
            if answer.code == "suspended":
                self._check_suspended(path)
            elif answer.status < 400:
                self._check_served(path)
            return answer
        return None

    def _check_served(self, path: str) -> None:
        """A suspended person may only ask for an export, and appeal."""
        account = self._company.ledger.of(self.user_id)
        since_s = account.suspended_s
        if since_s is None or account.suspension_unsure or path in _EVEN_SUSPENDED:
            return
        if trio.current_time() - since_s > 2.0 and account.freed_s < since_s:
            text = f"{self.user_id} is suspended, and {path} is answered"
            self._company.bench.report("suspended_served", text, self.user_id)

    def _check_suspended(self, path: str) -> None:
        account = self._company.ledger.of(self.user_id)
        since_s = account.suspended_s
        if since_s is None and not account.suspension_unsure:
            if account.freed_s < trio.current_time() - 1.0:
                text = f"{self.user_id} is refused {path} as suspended, and is not"
                self._company.bench.report("suspended_wrongly", text, self.user_id)
