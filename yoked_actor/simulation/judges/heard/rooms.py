"""Rooms: who may enter, who meets whom, and what closes when.

The times are those of the posters, by the machine's clock: a server whose clock is set wrong closes
a room by that clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

import trio

from yoked_actor.domain.time import Instant, from_datetime, to_datetime
from yoked_actor.simulation.judges.heard.accounts import Account, Ledger, Meeting
from yoked_actor.simulation.judges.stored.books import Books
from yoked_actor.simulation.judges.verdict import Bench, Weather
from yoked_actor.simulation.rooms import MAIN, WRONG_CODES, Poster

_SLACK_S = 2.0
_MOVING_S = 5.0
_LATE_S = 3.0
_MINUTE_S = 60.0
_STORED_LATE_S = 120.0


class RoomJudge:
    """Knows the posters, and where each person was told to be."""

    def __init__(
        self,
        ledger: Ledger,
        bench: Bench,
        weather: Weather,
        machine_now: Callable[[], Instant],
        posters: Mapping[str, Poster],
    ) -> None:
        self._ledger = ledger
        self._bench = bench
        self._weather = weather
        self._now = machine_now
        self.posters = posters
        self._before: dict[str, str | None] = {}
        """In which room a person was who asks for another one."""
        self._asked_s: dict[str, float] = {}
        """When a person asked who has no answer yet."""
        self._wrong: dict[str, deque[float]] = {}
        """When each person gave a wrong code."""

    # Times

    def is_closed(self, room: str | None, for_s: float = 0.0) -> bool:
        """Whether a room is closed, and has been for so long."""
        poster = self.posters.get(room or MAIN)
        return poster is not None and poster.closed_for_s(self._now()) > for_s

    def may_have_closed(self, room: str | None, since_s: float) -> bool:
        """Whether a room may have been closed at some time since an instant of trio's clock."""
        poster = self.posters.get(room or MAIN)
        if room is None or poster is None or poster.closes is None:
            return room is None
        away_s = trio.current_time() - since_s + _SLACK_S
        return poster.open_for_s(self._now()) < away_s or self._weather.has_stepped_since(since_s)

    def closes_in_s(self, room: str | None) -> float | None:
        """When a room closes next."""
        poster = self.posters.get(room or MAIN)
        return None if poster is None else poster.closes_in_s(self._now())

    def today(self) -> set[date]:
        """The dates that the server may think it is, where days begin and end at UTC."""
        now = to_datetime(self._now())
        return {now.date(), (now - timedelta(seconds=15)).date()}

    # Entering

    def asking(self, user_id: str, asked: dict[str, Any]) -> None:
        """A person asks for a room, by a hello or otherwise."""
        poster = self.posters.get(asked["room"])
        if poster is not None and asked.get("code") not in (None, poster.code):
            self._wrong.setdefault(user_id, deque(maxlen=2 * WRONG_CODES)).append(
                trio.current_time()
            )

    def entering(self, user_id: str, command: dict[str, Any]) -> None:
        """A person asks for another room: until the answer nobody knows where they are."""
        account = self._ledger.of(user_id)
        self.asking(user_id, command)
        self._before[user_id] = account.room
        self._asked_s[user_id] = trio.current_time()
        account.room = None

    def connected(self, account: Account, room: str) -> None:
        """A welcome says where a person is, unless an answer about another room is under way."""
        asked_s = self._asked_s.pop(account.user_id, -1e9)
        is_moving = account.entering or trio.current_time() - asked_s < _MOVING_S
        account.room = None if is_moving else room

    def welcomed(self, user_id: str, before: str | None, asked: dict[str, Any], room: str) -> None:
        """A hello that named a room was answered with a welcome, perhaps in another room.

        A person who waits, or is in a match, on a date or in a call, stays where they are.
        """
        if room == asked["room"]:
            self._before[user_id] = before
            self.entered(user_id, asked, room)
        else:
            self._bench.count("room_kept")

    def not_let_in(
        self, user_id: str, before: str | None, asked: dict[str, Any], code: str
    ) -> None:
        """A hello that named a room was refused."""
        self._before[user_id] = before
        self.refused(user_id, asked, code)

    def entered(self, user_id: str, command: dict[str, Any], room: str) -> None:
        """A person was told to be in the room that they asked for."""
        before = self._before.pop(user_id, None)
        self._asked_s.pop(user_id, None)
        account, poster = self._ledger.of(user_id), self.posters.get(room)
        self._bench.count("room_entered")
        if room != command["room"]:
            text = f"{user_id} asked for {command['room']} and was told {room}"
            self._bench.report("wrong_room", text, user_id)
        account.room = room
        if poster is None:
            if room != MAIN:
                self._bench.report("wrong_room", f"{user_id} is in {room}, which is not", user_id)
            return
        if poster.code not in (None, command.get("code")) and before not in (None, room):
            text = f"{user_id} has entered {room} with {command.get('code')!r}"
            self._bench.report("wrong_code_accepted", text, user_id)
        if poster.closed_for_s(self._now()) > _SLACK_S and self._weather.is_fair(_SLACK_S):
            self._bench.report("closed_room_entered", f"{user_id} has entered {room}", user_id)
        self.check_capacity(room)

    def check_capacity(self, room: str) -> None:
        """A room has no more people than it holds."""
        poster = self.posters.get(room)
        if poster is None or poster.capacity is None:
            return
        here = [
            one.user_id
            for one in self._ledger.accounts.values()
            if one.room == room and one.online_s is not None and one.is_here
        ]
        self._bench.count("capacity")
        if len(here) > poster.capacity:
            self._bench.report("overfull", f"{room} has {len(here)} people: {here}", *here[:4])

    def refused(self, user_id: str, command: dict[str, Any], code: str) -> None:
        """A person was not let in; a refusal changes nothing."""
        before = self._before.pop(user_id, None)
        self._asked_s.pop(user_id, None)
        self._bench.count(f"room_{code}")
        account, room = self._ledger.of(user_id), command["room"]
        account.room = None if account.entering else before
        poster = self.posters.get(room)
        problem = self._problem(user_id, poster, command, code)
        if problem is not None and self._weather.is_fair(30.0):
            text = f"{user_id} may not enter {room}: {code}, but {problem}"
            self._bench.report("room_refused", text, user_id)

    def _problem(
        self, user_id: str, poster: Poster | None, command: dict[str, Any], code: str
    ) -> str | None:
        """Why a refusal is not true; None if it may be."""
        match code:
            case "unknown_room" if poster is not None or command["room"] == MAIN:
                return "there is such a room"
            case "room_closed" if poster is None or poster.open_for_s(self._now()) > _SLACK_S:
                return "it is open"
            case "wrong_code" if poster is None or poster.code in (None, command.get("code")):
                return "the code is right"
            case "room_full" if poster is None or poster.capacity is None:
                return "it has no capacity"
            case "rate_limited":
                since_s = trio.current_time() - _MINUTE_S - _SLACK_S
                tries = [at_s for at_s in self._wrong.get(user_id, ()) if at_s > since_s]
                return None if len(tries) >= WRONG_CODES else f"{len(tries)} wrong codes"
            case "forbidden" | "moved" | "bad_request" | "not_found":
                return "there is no reason for that"
        return None

    def listed(self, user_id: str, rooms: list[dict[str, Any]]) -> None:
        """A person was shown the list of rooms."""
        self._bench.count("rooms_listed")
        if [one["room"] for one in rooms] != [MAIN, *sorted(self.posters)]:
            self._bench.report("rooms_listed", f"{user_id} is shown {rooms}", user_id)
            return
        for one in rooms[1:]:
            poster = self.posters[one["room"]]
            now = self._now()
            is_sure = max(poster.open_for_s(now), poster.closed_for_s(now)) > _SLACK_S
            is_wrong = is_sure and one["is_open"] is not poster.is_open(now)
            if is_wrong and self._weather.is_fair(_SLACK_S):
                self._bench.report("rooms_listed", f"{user_id} is shown {one}", user_id)
            if one["needs_code"] is not (poster.code is not None):
                self._bench.report("rooms_listed", f"{user_id} is shown {one}", user_id)

    # In a room

    def matched(self, account: Account, meeting: Meeting, event: dict[str, Any]) -> None:
        """A match is between two people of one room, which is open."""
        room = account.room
        if room is None:
            return
        self._bench.count("match_room")
        other = meeting.rooms.setdefault(account.user_id, room)
        if len(set(meeting.rooms.values())) > 1 or other != room:
            text = f"{meeting.match_id} is in several rooms: {meeting.rooms}, and {room}"
            self._bench.report("two_rooms", text, *meeting.pair)
        poster = self.posters.get(room)
        if poster is not None:
            at = from_datetime(datetime.fromisoformat(event["at"]))
            if poster.closed_for_s(at) > _SLACK_S and self._weather.is_fair(_SLACK_S):
                text = f"{meeting.match_id} was made in {room}, which is closed"
                self._bench.report("closed_room_match", text, *meeting.pair)

    def check_waiting(self, user_id: str) -> None:
        """After a room has closed nobody waits in it."""
        account = self._ledger.of(user_id)
        if account.state != "waiting" or account.online_s is None:
            return
        self._bench.count("waits_in_open_room")
        if self.is_closed(account.room, _LATE_S) and self._weather.is_fair(_LATE_S):
            text = f"{user_id} waits in {account.room}, which is closed"
            self._bench.report("waits_in_closed_room", text, user_id)

    def check_refusal(self, account: Account, kind: str) -> None:
        """A command was refused because the room is closed."""
        poster = self.posters.get(account.room or "")
        if account.room is None or not self._weather.is_fair(30.0):
            return
        if poster is None or poster.open_for_s(self._now()) > _SLACK_S:
            text = f"{account.user_id}: {kind} is refused, and {account.room} is open"
            self._bench.report("room_closed", text, account.user_id)

    # What is stored

    def check_books(self, books: Books) -> None:
        """Nobody is stored as waiting in a closed room; told rooms are those that are stored."""
        with books.open() as rows:
            waiting = rows.execute(
                "SELECT user_id, room FROM seats WHERE state = 'waiting' AND room <> ?", (MAIN,)
            ).fetchall()
            stored = dict(rows.execute("SELECT number, room FROM matches").fetchall())
        self._bench.count("stored_rooms")
        for user_id, room in waiting:
            is_over = room not in self.posters or self.is_closed(room, _STORED_LATE_S)
            if is_over and self._weather.is_fair(_STORED_LATE_S):
                text = f"{user_id} is stored as waiting in {room}, which is closed"
                self._bench.report("waits_in_closed_room", text, user_id)
        since_s = trio.current_time() - 86_400.0
        for meeting in self._ledger.meetings.values():
            found = stored.get(int(meeting.match_id[1:]))
            if meeting.told_s < since_s or found is None:
                continue
            if any(room != found for room in meeting.rooms.values()):
                text = f"{meeting.match_id} was told in {meeting.rooms}, stored is {found}"
                self._bench.report("two_rooms", text, *meeting.pair)
