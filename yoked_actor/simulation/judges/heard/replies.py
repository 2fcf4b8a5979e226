"""What people are answered: the second ear of the witness."""

from __future__ import annotations

from typing import Any

import trio

from yoked_actor.simulation.judges.heard.accounts import Account, Ledger
from yoked_actor.simulation.judges.heard.contacts import ContactWitness
from yoked_actor.simulation.judges.heard.rings import RingWitness
from yoked_actor.simulation.judges.heard.rooms import RoomJudge
from yoked_actor.simulation.judges.verdict import Bench, Weather

_EXPECTED = {
    "spin": {"on_a_date", "draining", "profile_incomplete", "room_closed"},
    "leave": {"wrong_state"},
    "acknowledge": {"unknown_match", "wrong_state"},
    "vote": {"unknown_match", "wrong_state", "already_voted", "vote_closed"},
    "explain": {"wrong_state"},
    "signal": {"not_found"},
    "end_date": {"not_found"},
    "answer_offer": {"not_found", "wrong_state"},
    "start_date": {
        *("not_found", "wrong_state", "on_a_date", "draining", "rate_limited", "room_closed"),
    },
    "accept_call": {"not_found", "wrong_state", "on_a_date", "draining"},
    "decline_call": {"not_found", "wrong_state"},
    "cancel_call": {"not_found", "wrong_state"},
    "stay_in_touch": {"not_found", "wrong_state", "already_answered"},
    "enter_room": {
        *("unknown_room", "room_closed", "room_full", "wrong_code", "rate_limited"),
        *("wrong_state", "draining"),
    },
    "block": set(),
    "report": {"rate_limited"},
    "heartbeat": set(),
}
"""By command: the refusals that a well-behaved client can get."""


class Replies:
    """Hears replies over either door."""

    def __init__(
        self,
        ledger: Ledger,
        bench: Bench,
        weather: Weather,
        rooms: RoomJudge,
        contacts: ContactWitness,
        rings: RingWitness,
    ) -> None:
        self._ledger = ledger
        self._bench = bench
        self._weather = weather
        self._rooms = rooms
        self._contacts = contacts
        self._rings = rings

    def sending(self, user_id: str, command: dict[str, Any]) -> None:
        """A person is about to send a command."""
        account, now_s = self._ledger.of(user_id), trio.current_time()
        match command["type"]:
            case "vote":
                account.sent_votes.setdefault(command["match_id"], command["vote"])
            case "leave" | "spin" | "accept_call":
                account.left_s = now_s
            case "report":
                account.sent_reports += 1
            case "block":
                account.left_s = now_s
                account.maybe_blocks.add(command["user_id"])
            case "answer_offer":
                account.note_answer(command["offer_id"], command["answer"])
            case "stay_in_touch":
                self._contacts.touching(user_id, command["date_id"], command["answer"])
            case "enter_room":
                self._rooms.entering(user_id, command)
            case "start_date":
                self._rings.calling(user_id)
        if command["type"] in ("accept_call", "decline_call", "cancel_call"):
            self._rings.said(command["type"], command["call_id"])

    def replied(self, user_id: str, command: dict[str, Any], reply: dict[str, Any]) -> None:
        """A command was answered, with `ok` or an error."""
        account, kind = self._ledger.of(user_id), command["type"]
        self._bench.count("reply")
        if reply["type"] == "error":
            self._refused(account, kind, reply["code"], command)
            return
        match kind:
            case "acknowledge":
                self.acknowledged(account, command["match_id"])
            case "vote":
                self._voted(account, command["match_id"], command["vote"])
            case "block":
                account.blocks[command["user_id"]] = trio.current_time()
            case "report":
                account.reports += 1
                self._ledger.report_made.set()
            case "answer_offer":
                account.answers[command["offer_id"]] = command["answer"]
            case "stay_in_touch":
                answer, connection_id = command["answer"], reply.get("connection_id")
                self._contacts.touched(user_id, command["date_id"], answer, connection_id)
            case "enter_room":
                self._rooms.entered(user_id, command, reply["room"])
            case "start_date":
                self._rings.began(reply["call_id"])
            case "leave":
                if reply["state"] != "idle":
                    text = f"{user_id} has left and is {reply['state']}"
                    self._bench.report("reply", text, user_id)

    def acknowledged(self, account: Account, match_id: str) -> None:
        """An acknowledge was confirmed."""
        meeting = self._ledger.meetings.get(match_id)
        if meeting is not None:
            meeting.acknowledged.add(account.user_id)
        if account.match_id == match_id:
            account.acknowledged = True

    def _voted(self, account: Account, match_id: str, vote: str) -> None:
        given = account.votes.setdefault(match_id, vote)
        if given != vote:
            text = f"{account.user_id} voted {given} in {match_id}, and {vote} was accepted too"
            self._bench.report("first_vote_is_final", text, account.user_id)

    def _refused(self, account: Account, kind: str, code: str, command: dict[str, Any]) -> None:
        if kind == "enter_room":
            self._rooms.refused(account.user_id, command, code)
        elif kind == "stay_in_touch":
            answer = command["answer"]
            self._contacts.touch_refused(account.user_id, command["date_id"], answer, code)
        elif code == "room_closed":
            self._rooms.check_refusal(account, kind)
        if code in _EXPECTED.get(kind, set()):
            if kind == "vote" and code == "already_voted":
                self._bench.count("already_voted")
            return
        if code == "suspended" and account.suspended_s is not None:
            return
        if code in ("internal", "draining") and not self._weather.is_fair(30.0):
            return
        text = f"{account.user_id}: {command} is refused with {code}"
        self._bench.report("refused", text, account.user_id)
