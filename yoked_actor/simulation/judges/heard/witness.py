"""The witness: follows what each person is told, and objects to what cannot be.

It knows the rulings (R7 to R22), and nothing of how the server keeps them. It hears every message
of every device in the order in which that device received it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import trio

from yoked_actor.simulation.judges.heard.accounts import Account, Ledger, Meeting
from yoked_actor.simulation.judges.heard.contacts import ContactWitness
from yoked_actor.simulation.judges.heard.endings import GRACE_S, LIVENESS_S, Endings
from yoked_actor.simulation.judges.heard.pairings import Pairings
from yoked_actor.simulation.judges.heard.returns import Returns
from yoked_actor.simulation.judges.heard.rings import RingWitness
from yoked_actor.simulation.judges.heard.rooms import RoomJudge
from yoked_actor.simulation.judges.verdict import Bench, Weather

_OLD_PLACE = ("partner_left", "partner_lost", "not_acknowledged")


class Witness:
    """Hears what people are told."""

    def __init__(
        self,
        ledger: Ledger,
        bench: Bench,
        weather: Weather,
        rooms: RoomJudge,
        contacts: ContactWitness,
        rings: RingWitness,
    ) -> None:
        self.ledger = ledger
        self._bench = bench
        self._weather = weather
        self._rooms = rooms
        self._contacts = contacts
        self._rings = rings
        self._endings = Endings(ledger, bench, weather)
        self._pairings = Pairings(ledger, bench, weather)
        self._returns = Returns(bench, weather, rooms)
        self._seqs: dict[tuple[str, int], int] = {}

    # Connections

    def connected(self, user_id: str, connection: int, welcome: dict[str, Any]) -> None:
        """A device was welcomed."""
        account, now_s = self.ledger.of(user_id), trio.current_time()
        self._bench.count("welcome")
        self._seqs[user_id, connection] = welcome["seq"]
        snapshot = welcome["snapshot"]
        self._check_suspended(account, "welcome", welcome)
        if not welcome["resumed"] or account.session != welcome["session"]:
            self._returns.compare(account, snapshot, now_s)
            self._believe(account, snapshot, now_s)
        self._rooms.connected(account, welcome["room"])
        account.session = welcome["session"]
        account.connection = connection
        account.online_s = now_s
        self.spoke(user_id)

    def disconnected(self, user_id: str, connection: int) -> None:
        """A device has no connection any more."""
        account = self.ledger.of(user_id)
        self._seqs.pop((user_id, connection), None)
        if account.connection == connection:
            account.online_s = None

    def spoke(self, user_id: str) -> None:
        """A person has sent something."""
        account = self.ledger.of(user_id)
        account.spoke_s = trio.current_time()
        account.spoken.append(account.spoke_s)

    # Events

    def told(self, user_id: str, connection: int, event: dict[str, Any]) -> None:
        """A device has received an event."""
        account, now_s, kind = self.ledger.of(user_id), trio.current_time(), event["type"]
        self._check_seq(account, connection, event)
        self._check_suspended(account, kind, event)
        if connection != account.connection:
            return  # of a device that another one has replaced: the newer one knows better
        match kind:
            case "waiting":
                self._waiting(account, event, now_s)
            case "idle":
                self._idle(account, event, now_s)
            case "matched":
                self._matched(account, event, now_s)
            case "voting":
                self._voting(account, event, now_s)
            case "outcome":
                self._outcome(account, event, now_s)
            case "match_cancelled":
                self._cancelled(account, event, now_s)
            case "date_started":
                self._date_started(account, event)
            case "date_ended":
                self._date_ended(account, event)
            case "connection":
                partner = event["partner"]["user_id"]
                account.connections[event["connection_id"]] = partner
                self._contacts.opened(user_id, partner, event["source"])
            case "call":
                self._rings.began(event["call_id"])
            case "call_ended":
                self._rings.ended(account, event)
            case "tier":
                self._object_unless(
                    account.state in ("waiting", None), "tier", account, "a tier while not waiting"
                )

    def _check_seq(self, account: Account, connection: int, event: dict[str, Any]) -> None:
        key = (account.user_id, connection)
        expected = self._seqs.get(key, 0) + 1
        self._bench.count("seq")
        if event["seq"] != expected:
            text = f"{account.user_id} got event {event['seq']} after {expected - 1}"
            self._bench.report("seq", text, account.user_id)
        self._seqs[key] = event["seq"]

    def _check_suspended(self, account: Account, kind: str, event: dict[str, Any]) -> None:
        self._bench.count("suspension")
        since_s = account.suspended_s
        if since_s is None or kind == "suspended" or account.suspension_unsure:
            return
        if trio.current_time() - since_s > 1.0 and account.freed_s < since_s:
            text = f"{account.user_id} is suspended and is told {kind}"
            self._bench.report("told_while_suspended", text, account.user_id)

    def _waiting(self, account: Account, event: dict[str, Any], now_s: float) -> None:
        """Who is left behind waits in the old place (R12, R15)."""
        if event["reason"] in _OLD_PLACE and account.since is not None:
            self._bench.count("old_place")
            has_stepped = self._weather.has_stepped_since(account.since_s)
            if event["since"] != account.since and not has_stepped:
                text = f"{account.user_id} waited since {account.since}, now {event['since']}"
                self._bench.report("place_lost", text, account.user_id)
        account.state, account.since, account.waiting_s = "waiting", event["since"], now_s
        account.since_s = now_s
        account.match_id = None

    def _idle(self, account: Account, event: dict[str, Any], now_s: float) -> None:
        if event["reason"] == "lost":
            at_s = self._weather.when_s(event["at"])
            silent_s = account.silent_before(at_s)
            is_sure = self._endings.knows_when(account, now_s) and self._weather.is_steady(
                LIVENESS_S + now_s - at_s
            )
            self._object_unless(
                silent_s >= LIVENESS_S - 0.1 or not is_sure,
                "lost_though_alive",
                account,
                f"lost after {silent_s:.1f} s of silence",
            )
        account.state, account.since, account.match_id = "idle", None, None

    def _matched(self, account: Account, event: dict[str, Any], now_s: float) -> None:
        me, partner, match_id = account.user_id, event["partner"]["user_id"], event["match_id"]
        self._bench.count("matched")
        is_new = match_id not in self.ledger.meetings
        if account.match_id not in (None, match_id) and account.state in ("matched", "voting"):
            text = f"{me} is told {match_id} while in {account.match_id}"
            self._bench.report("two_matches", text, me, partner)
        meeting = self._meeting(match_id, me, partner, now_s)
        if is_new:
            self._pairings.check(account, self.ledger.of(partner), meeting, event, now_s)
        self._rooms.matched(account, meeting, event)
        if not self._weather.has_stepped_since(now_s - 30):
            window_s = seconds(event["at"], event["acknowledge_by"])
            self._object_unless(
                0 < window_s <= 5.001, "window", account, f"{window_s} s to acknowledge {match_id}"
            )
        account.state, account.match_id, account.acknowledged = "matched", match_id, False

    def _meeting(self, match_id: str, me: str, partner: str, now_s: float) -> Meeting:
        meeting = self.ledger.meeting(match_id, me, partner, now_s)
        if set(meeting.pair) != {me, partner}:
            text = f"{me} is told {match_id} with {partner}, which is between {meeting.pair}"
            self._bench.report("sides_disagree", text, me, partner, *meeting.pair)
        meeting.told.add(me)
        self.ledger.of(me).partners[match_id] = partner
        return meeting

    def _voting(self, account: Account, event: dict[str, Any], now_s: float) -> None:
        match_id = event["match_id"]
        if account.match_id != match_id:
            text = f"{account.user_id} votes in {match_id} while in {account.match_id}"
            self._bench.report("two_matches", text, account.user_id)
        meeting = self.ledger.meetings.get(match_id)
        if meeting is not None:
            if meeting.voting_s is None:
                meeting.voting_s = now_s
                meeting.window_s = seconds(event["at"], event["vote_by"])
            self._object_unless(
                account.acknowledged or not self._weather.is_fair(GRACE_S),
                "voting_unasked",
                account,
                f"{match_id} is open for votes, and {account.user_id} has not acknowledged",
            )
        account.state, account.match_id = "voting", match_id

    def _outcome(self, account: Account, event: dict[str, Any], now_s: float) -> None:
        me, match_id, outcome = account.user_id, event["match_id"], event["outcome"]
        has_left = event.get("reason") == "you_left"
        self._bench.count("outcome")
        meeting = self.ledger.meetings.get(match_id)
        if meeting is not None:
            meeting.ended_s = self._weather.when_s(event["at"])
            (meeting.left.add(me) if has_left else meeting.outcomes.__setitem__(me, outcome))
            if has_left and outcome != "cancelled":
                meeting.outcomes[me] = outcome
            self._endings.check_agreement(meeting)
            self._endings.check_window(meeting, outcome, now_s)
        if outcome != "cancelled":
            account.outcomes[match_id] = outcome
        if not has_left:
            self._endings.check_credit(account, event)
            self._endings.check_next(account, event)
        account.credit = event["credit"]
        account.state, account.match_id, account.since = event["next"], None, None
        if event["next"] == "waiting":
            account.waiting_s = now_s

    def _cancelled(self, account: Account, event: dict[str, Any], now_s: float) -> None:
        me, match_id, reason = account.user_id, event["match_id"], event["reason"]
        self._bench.count("cancelled")
        meeting = self.ledger.meetings.get(match_id)
        if meeting is not None:
            meeting.cancelled[me] = reason
            meeting.ended_s = self._weather.when_s(event["at"])
            if reason == "you_left":
                meeting.left.add(me)
            if reason == "server_restart":
                meeting.restarted = True
            self._endings.check_agreement(meeting)
            self._endings.check_reason(account, meeting, reason, now_s)
        account.state, account.match_id = event["next"], None
        if event["next"] == "waiting":
            account.waiting_s = now_s

    def _date_started(self, account: Account, event: dict[str, Any]) -> None:
        me, date_id, partner = account.user_id, event["date_id"], event["partner"]["user_id"]
        length_s = seconds(event["at"], event["ends_at"])
        self._object_unless(0 < length_s <= 300.001, "date", account, f"{date_id}: {length_s} s")
        account.date_id = date_id
        account.dates[date_id] = partner
        sides = self.ledger.initiators.setdefault(date_id, {})
        sides[me] = event["initiator"]
        if len(sides) > 2 or (len(sides) == 2 and sum(sides.values()) != 1):
            self._bench.report("sides_disagree", f"{date_id}: initiators {sides}", *sides)

    def _date_ended(self, account: Account, event: dict[str, Any]) -> None:
        if account.date_id != event["date_id"] and account.date_id is not None:
            text = f"{account.user_id}: {event['date_id']} ends while on {account.date_id}"
            self._bench.report("two_dates", text, account.user_id)
        account.date_id = None

    # Snapshots

    def _believe(self, account: Account, snapshot: dict[str, Any], now_s: float) -> None:
        account.state, account.credit = snapshot["state"], snapshot["credit"]
        account.since, account.since_s = snapshot.get("waiting_since"), now_s
        if account.state == "waiting":
            account.waiting_s = now_s
        match = snapshot.get("match")
        account.match_id = None if match is None else match["match_id"]
        if match is not None:
            meeting = self._meeting(
                match["match_id"], account.user_id, match["partner"]["user_id"], now_s
            )
            account.acknowledged = match["acknowledged"]
            if account.acknowledged:
                meeting.acknowledged.add(account.user_id)
            if account.state == "voting" and meeting.voting_s is None:
                meeting.voting_s = now_s
        date = snapshot.get("date")
        account.date_id = None if date is None else date["date_id"]
        if date is not None:
            account.dates[date["date_id"]] = date["partner"]["user_id"]

    def _object_unless(self, holds: bool, kind: str, account: Account, text: str) -> None:
        self._bench.count(kind)
        if not holds:
            self._bench.report(kind, f"{account.user_id}: {text}", account.user_id)


def seconds(start: str, end: str) -> float:
    """From one instant of a message to another."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()
