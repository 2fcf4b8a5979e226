"""kill -9 at any moment: what was told is there, and everybody takes up where they were (R17-R19).

Bots cycle over real sockets with the real client. The server is killed at moments drawn by a seed,
some of them while it is still greeting those who come back, and started again on the same directory
and port. Witnesses write down everything that the clients were told; in the end that is held
against the SQLite file.
"""

from __future__ import annotations

import logging
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio

from tests.process.house import PATIENCE_S, House, open_house
from yoked_actor.bots import Bot, Crowd, Pace, Tally
from yoked_actor.client import Api, Event, open_client
from yoked_actor.domain.instants import from_datetime
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process

_log = logging.getLogger(__name__)

BOTH = ("woman", "man")
USERS = 60
KILLS = 9
WALLFLOWERS = 5
SEED = 20260101
# Silence of a client on a busy machine must not be taken for its loss.
LIVENESS_S = 60
FAST = Pace(
    acknowledge_s=(0.0, 0.3),
    vote_s=(0.0, 0.6),
    date_s=(0.1, 0.5),
    rest_s=(0.0, 0.4),
    patience_s=(600, 600),
)


def somebody(random: Random) -> dict[str, Any]:
    """One of those who would meet anybody, so that there is always somebody left to meet."""
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
    """Writes down what every bot is told, and objects to what must not be said."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts: dict[str, Account] = {}
        self.objections: list[str] = []
        self.places_kept = 0
        self.sessions_lost = 0

    def account(self, bot: Bot) -> Account:
        return self.accounts.setdefault(bot.user_id, Account())

    def heard(self, bot: Bot, event: Event) -> None:
        super().heard(bot, event)
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
    """People nobody is looking for: they wait from the first to the last minute."""

    def __init__(self) -> None:
        self.since: dict[str, str] = {}
        self.returned: set[str] = set()
        """Who has come back since the last kill."""
        self.returns = 0
        self.objections: list[str] = []

    async def wait_for_ever(self, user_id: str, url: str) -> None:
        token = await Api(url).login(
            user_id, make_profile(user_id, gender="nonbinary", seeking=["woman"])
        )
        async with open_client(url, token) as client:
            await client.spin()
            self.since[user_id] = (await client.wait_for("waiting")).since
            while True:
                welcome = await client.wait_for("welcome", "idle", "matched")
                self.returned.add(user_id)
                self.returns += 1
                if welcome.type != "welcome" or (
                    welcome.snapshot.get("waiting_since") != self.since[user_id]
                ):
                    self.objections.append(f"{user_id}: {self.since[user_id]}, then {welcome}")


class Books:
    """A copy of the database, as a kill or an end has left it."""

    def __init__(self, house: House, copy: Path) -> None:
        # A copy, because merely opening the original would repair it before the server does.
        copy.mkdir()
        for file in house.data_dir.glob("yoked.db*"):
            shutil.copy(file, copy)
        with closing(sqlite3.connect(copy / "yoked.db")) as books:
            [(self.integrity,)] = books.execute("PRAGMA integrity_check").fetchall()
            self.matches = {
                f"m{number}": row
                for number, *row in books.execute(
                    "SELECT number, a, b, a_vote, b_vote, outcome, ended_at FROM matches"
                )
            }
            self.seats = {
                user_id: row
                for user_id, *row in books.execute(
                    "SELECT user_id, state, waiting_since, match_number FROM seats"
                )
            }

    def problems(self, accounts: dict[str, Account]) -> list[str]:
        """Where the books differ from what was told, or from what is possible."""
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


def told_matches(witness: Witness) -> set[tuple[str, frozenset[str]]]:
    """Every match that somebody was told of, with its two users as they were told."""
    return {
        (match_id, frozenset((user_id, partner)))
        for user_id, account in witness.accounts.items()
        for match_id, partner in account.partners.items()
    }


async def until(house: House, condition: Callable[[], bool], what: str) -> float:
    """Wait until something is so; returns how long that took."""
    start = trio.current_time()
    while not condition():
        await trio.sleep(0.02)
        assert house.is_running(), f"the server has ended by itself:\n{house.log[-4000:]}"
        assert trio.current_time() - start < PATIENCE_S, f"waited in vain: {what}"
    return trio.current_time() - start


class Evening:
    """A server, its guests, and somebody who pulls the plug."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.witness = Witness()
        self.wallflowers = Wallflowers()
        self.back_after_s: list[float] = []
        self._random = Random(SEED)

    async def run(self, copies: Path) -> None:
        """Let everybody come, kill the server so many times, and see that it goes on."""
        witness = self.witness
        crowd = Crowd(
            self.house.url,
            users=USERS,
            persona="mix",
            seed=SEED,
            ramp=100,
            pace=FAST,
            tally=witness,
            people=somebody,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crowd.run)
            async with trio.open_nursery() as sidelines:
                for number in range(WALLFLOWERS):
                    name = f"wallflower{number}"
                    sidelines.start_soon(self.wallflowers.wait_for_ever, name, self.house.url)
                await until(self.house, self._all_wallflowers_wait, "wallflowers wait")
                for kill in range(KILLS):
                    await self._kill(copies / f"kill{kill}", is_early=kill % 3 == 1)
                await self._wait_for_matches()
                await self._wait_for_returns()
                sidelines.cancel_scope.cancel()
            for bot in witness.bots.values():
                for event in bot.client.pending_events():
                    witness.heard(bot, event)
            crowd.stop()

    async def _kill(self, copy: Path, *, is_early: bool) -> None:
        """Kill at any moment; an early kill hits a server that is still greeting its guests."""
        if not is_early:
            await self._wait_for_returns()
            await self._wait_for_matches()
        await trio.sleep(self._random.uniform(0.0, 0.3 if is_early else 1.5))
        self.house.kill()
        assert Books(self.house, copy).problems(self.witness.accounts) == []
        self.wallflowers.returned.clear()
        await trio.to_thread.run_sync(self.house.start)

    async def _wait_for_matches(self) -> None:
        enough = self.witness.matches + 10
        await until(self.house, lambda: self.witness.matches >= enough, "ten matches more")

    async def _wait_for_returns(self) -> None:
        took_s = await until(self.house, self._most_are_here, "most are here")
        if self.house.starts > 1:
            self.back_after_s.append(took_s)
            await until(self.house, self._all_wallflowers_returned, "wallflowers are back")

    def _most_are_here(self) -> bool:
        # Those who drop on purpose may be away for a while.
        return self.witness.connected >= 0.8 * USERS

    def _all_wallflowers_wait(self) -> bool:
        return len(self.wallflowers.since) == WALLFLOWERS

    def _all_wallflowers_returned(self) -> bool:
        return len(self.wallflowers.returned) == WALLFLOWERS


async def test_nothing_told_is_lost_when_the_server_is_killed_again_and_again(tmp_path):
    with open_house(tmp_path / "data", matching__liveness_s=LIVENESS_S) as house:
        evening = Evening(house)
        await evening.run(tmp_path)
        assert await trio.to_thread.run_sync(house.stop) == 0
        books = Books(house, tmp_path / "end")

    witness, wallflowers = evening.witness, evening.wallflowers
    told = told_matches(witness)
    _log.info(
        "%d kills; %d matches told; %d sessions begun anew; %d places kept; back after %s s",
        *(KILLS, len(told), witness.sessions_lost, witness.places_kept + wallflowers.returns),
        [round(seconds, 2) for seconds in evening.back_after_s],
    )
    assert witness.errors == {}
    assert witness.objections == []
    assert wallflowers.objections == []
    assert books.problems(witness.accounts) == []
    assert len({match_id for match_id, _ in told}) == len(told), "partners are symmetric"
    for user_id, since in wallflowers.since.items():
        assert books.seats[user_id][:2] == ["waiting", from_datetime(datetime.fromisoformat(since))]
    assert witness.sessions_lost >= USERS, "they have seen the restarts"
    assert sum(len(account.outcomes) for account in witness.accounts.values()) > 50
    assert sum(len(account.votes) for account in witness.accounts.values()) > 50
