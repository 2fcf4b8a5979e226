"""Records what clients were told, to compare it with the database when a server has exited.

Bots meet again and again over real sockets with the real client; wallflowers wait the whole time.
Everything that a client was told must be in the SQLite file, however the server exited.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import trio

from tests.process.server import PATIENCE_S, ServerProcess
from yoked_actor.bots import Bot, Pace, Tally
from yoked_actor.client import Api, Event, open_client
from yoked_actor.testing import make_profile

BOTH = ("woman", "man")
FAST = Pace(
    acknowledge_s=(0.0, 0.3),
    vote_s=(0.0, 0.6),
    date_s=(0.1, 0.5),
    rest_s=(0.0, 0.4),
    patience_s=(600, 600),
)


def somebody(random: Random) -> dict[str, Any]:
    """A profile that is compatible with every other one, so that there is always a partner."""
    return make_profile("Somebody", gender=random.choice(BOTH), seeking=BOTH)


class Account:
    """What one user was told."""

    def __init__(self) -> None:
        self.partners: dict[str, str] = {}
        self.outcomes: dict[str, str] = {}
        self.votes: dict[str, str] = {}
        self.open_match: str | None = None
        self.waiting_since: str | None = None


class Witness(Tally):
    """Records what each bot was told, and objects to messages that are not allowed."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts: dict[str, Account] = {}
        self.objections: list[str] = []
        self.places_kept = 0
        self.sessions_lost = 0

    def account(self, bot: Bot) -> Account:
        return self.accounts.setdefault(bot.user_id, Account())

    def saw(self, bot: Bot, event: Event) -> None:
        super().saw(bot, event)
        account = self.account(bot)
        match event.type:
            case "matched":
                if account.open_match not in (None, event.match_id):
                    self._object(bot, f"told {event.match_id} while in {account.open_match}")
                self._told_match(bot, event.match_id, event.partner["user_id"])
            case "voting":
                if account.open_match != event.match_id:
                    self._object(bot, f"voting in {event.match_id}, not {account.open_match}")
            case "outcome":
                if event.outcome != "cancelled":
                    account.outcomes[event.match_id] = event.outcome
                account.open_match = None
            case "match_cancelled":
                account.open_match = None
            case "waiting":
                account.waiting_since = event.since
            case "idle":
                account.waiting_since = None
            case "welcome":
                self.sessions_lost += 1
                self._came_back(bot, account, event.snapshot)

    def voted(self, bot: Bot, match_id: str, vote: str) -> None:
        self.account(bot).votes[match_id] = vote

    def _told_match(self, bot: Bot, match_id: str, partner: str) -> None:
        account = self.account(bot)
        if account.partners.setdefault(match_id, partner) != partner:
            self._object(bot, f"{match_id} was with {account.partners[match_id]}, not {partner}")
        account.open_match = match_id
        account.waiting_since = None

    def _came_back(self, bot: Bot, account: Account, snapshot: dict[str, Any]) -> None:
        account.open_match = None
        if account.waiting_since is not None:
            if snapshot["state"] == "waiting":
                if snapshot["waiting_since"] != account.waiting_since:
                    self._object(bot, f"waited since {account.waiting_since}, now {snapshot}")
                self.places_kept += 1
            elif snapshot["state"] == "idle":
                self._object(bot, f"waited since {account.waiting_since}, now {snapshot}")
        if "match" in snapshot:
            match = snapshot["match"]
            self._told_match(bot, match["match_id"], match["partner"]["user_id"])
        account.waiting_since = snapshot.get("waiting_since")

    def _object(self, bot: Bot, objection: str) -> None:
        self.objections.append(f"{bot.user_id}: {objection}")


class Wallflowers:
    """Users whom nobody is looking for: they wait the whole time."""

    def __init__(self) -> None:
        self.since: dict[str, str] = {}
        self.returned: set[str] = set()
        """Users who have reconnected since the last server exited."""
        self.returns = 0
        self.gaps_s: list[float] = []
        """Time from the exit of a server to the welcome of the next one."""
        self.warnings = 0
        """Number of `draining` events."""
        self.gone_at: float | None = None
        """When the server exited after a drain."""
        self.objections: list[str] = []

    async def keep_waiting(self, user_id: str, url: str) -> None:
        token = await Api(url).login(
            user_id, make_profile(user_id, gender="nonbinary", seeking=["woman"])
        )
        async with open_client(url, token) as client:
            await client.spin()
            self.since[user_id] = (await client.wait_for("waiting")).since
            while True:
                welcome = await client.wait_for("welcome", "idle", "matched", "draining")
                if welcome.type == "draining":
                    self.warnings += 1
                    continue
                if self.gone_at is not None:
                    self.gaps_s.append(trio.current_time() - self.gone_at)
                self.returned.add(user_id)
                self.returns += 1
                if welcome.type != "welcome" or (
                    welcome.snapshot.get("waiting_since") != self.since[user_id]
                ):
                    self.objections.append(f"{user_id}: {self.since[user_id]}, then {welcome}")


class Books:
    """A copy of the database after the server was killed or has exited."""

    def __init__(self, server: ServerProcess, copy: Path) -> None:
        # A copy, because opening the original would recover the WAL before the server does.
        copy.mkdir()
        for file in server.data_dir.glob("yoked.db*"):
            shutil.copy(file, copy)
        with closing(sqlite3.connect(copy / "yoked.db")) as books:
            [(self.integrity,)] = books.execute("PRAGMA integrity_check").fetchall()
            self._read(books)

    def _read(self, books: sqlite3.Connection | psycopg.Connection[tuple[Any, ...]]) -> None:
        self.matches = {
            f"m{number}": row
            for number, *row in books.execute(
                "SELECT number, a, b, a_vote, b_vote, outcome, ended_at FROM matches"
            ).fetchall()
        }
        self.seats = {
            user_id: row
            for user_id, *row in books.execute(
                "SELECT user_id, state, waiting_since, match_number FROM seats"
            ).fetchall()
        }

    def problems(self, accounts: dict[str, Account]) -> list[str]:
        """Differences from what clients were told, and broken invariants."""
        found = [] if self.integrity == "ok" else [self.integrity]
        for user_id, account in accounts.items():
            found += self._differences(user_id, account)
        sitting: dict[str, str] = {}
        for match_id, (a, b, *_, ended_at) in self.matches.items():
            if ended_at is None:
                for user_id in (a, b):
                    if user_id in sitting:
                        found.append(f"{user_id} is in {match_id} and in {sitting[user_id]}")
                    sitting[user_id] = match_id
        seated = {
            user_id: f"m{number}"
            for user_id, (_, _, number) in self.seats.items()
            if number is not None
        }
        if seated != sitting:
            found.append(f"seats say {seated}, matches say {sitting}")
        return found

    def _differences(self, user_id: str, account: Account) -> list[str]:
        found = []
        for match_id, partner in account.partners.items():
            if match_id not in self.matches:
                found.append(f"{user_id} was told of {match_id}, which is not there")
                continue
            a, b, a_vote, b_vote, outcome, _ = self.matches[match_id]
            if {a, b} != {user_id, partner}:
                found.append(f"{match_id} is between {a} and {b}, not {user_id} and {partner}")
            told = account.outcomes.get(match_id)
            if told is not None and told != outcome:
                found.append(f"{user_id} was told {told} in {match_id}, stored is {outcome}")
            vote = account.votes.get(match_id)
            if vote is not None and vote != (a_vote if user_id == a else b_vote):
                found.append(f"{user_id} voted {vote} in {match_id}, stored is {a_vote}, {b_vote}")
        return found


class PostgresBooks(Books):
    """A snapshot of a database on PostgreSQL."""

    def __init__(self, url: str) -> None:
        self.integrity = "ok"
        with psycopg.connect(url) as books:
            books.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            self._read(books)


def told_matches(witness: Witness) -> set[tuple[str, frozenset[str]]]:
    """Every match that a client was told of, with the two users."""
    return {
        (match_id, frozenset((user_id, partner)))
        for user_id, account in witness.accounts.items()
        for match_id, partner in account.partners.items()
    }


async def until(server: ServerProcess, condition: Callable[[], bool], what: str) -> float:
    """Wait for a condition; returns how long that took."""
    start = trio.current_time()
    while not condition():
        await trio.sleep(0.02)
        assert server.is_running(), f"the server has exited unexpectedly:\n{server.log[-4000:]}"
        assert trio.current_time() - start < PATIENCE_S, f"waited in vain: {what}"
    return trio.current_time() - start
