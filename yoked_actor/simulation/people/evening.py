"""An evening in the lobby: spins, matches, votes, and all that goes wrong."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import trio

from yoked_actor.simulation.judges.heard.guarantee import FORCED_S, SLACK_S
from yoked_actor.simulation.people.company import Company
from yoked_actor.simulation.people.profiles import Habits
from yoked_actor.simulation.people.roaming import Roaming
from yoked_actor.simulation.tally import Wait

_LATE_S = 3.0
"""How late a deadline may be noticed in fair weather."""
_LAST_S = 20.0


class Evening(Roaming):
    """A person who wants to meet others."""

    def __init__(
        self,
        company: Company,
        user_id: str,
        random: Random,
        habits: Habits,
        ends_s: float,
        room: str | None = None,
    ) -> None:
        """`room`: where the person wants to go first; None for wherever they are."""
        super().__init__(company, user_id, random, habits, ends_s, room)
        self._tier = 1
        self._waits_since_s: float | None = None
        """Since when this page shows that the person waits."""

    # What the page is told

    async def on_welcome(self, snapshot: dict[str, Any]) -> None:
        """Go on from where the snapshot says, or spin."""
        state = snapshot["state"]
        if state == "idle" and "date" not in snapshot:
            self.soon(self.random.uniform(0.2, 4.0), self._spin)
        elif state == "matched" and not snapshot["match"]["acknowledged"]:
            self._see_match(snapshot["match"]["match_id"])
        elif state == "voting" and not snapshot["match"]["voted"]:
            self._think(snapshot["match"]["match_id"], 8.0)
        elif "date" in snapshot:
            self.talk(snapshot["date"]["date_id"])
        self._waits_since_s = None
        if state == "waiting":
            self._waits_since_s = trio.current_time()
            self._look_later()

    async def on_event(self, event: dict[str, Any]) -> None:
        """React, after a moment."""
        self._have_mishaps()
        match event["type"]:
            case "waiting":
                self._tier = 1
                self._waits_since_s = trio.current_time()
                self._look_later()
                if self.happens(0.05):
                    self.soon(self.random.uniform(1, 9), partial(self.say, "explain"))
                if self.happens(self.habits.leaves / 2):
                    self.soon(
                        self.random.uniform(0.5, 15), partial(self.say_perhaps_twice, "leave")
                    )
            case "tier":
                self._tier = event["tier"]
            case "matched":
                self._note_wait(matched=True)
                self.company.tally.count("matched")
                self._see_match(event["match_id"])
                self._watch_deadline("matched", event["match_id"], 5.0)
            case "voting":
                self._think(event["match_id"], 8.0)
                self._watch_deadline("voting", event["match_id"], 10.0)
                if self.happens(self.habits.leaves):
                    self.soon(self.random.uniform(0.2, 8), self._leave_match)
                elif self.happens(self.habits.spins_on):
                    self.soon(self.random.uniform(0.2, 8), self._spin)
            case "outcome":
                self.company.tally.count(event["outcome"])
                self._after_match(event["match_id"], event["next"])
            case "match_cancelled":
                self.company.tally.count(f"cancelled: {event['reason']}")
                self._after_match(event["match_id"], event["next"])
            case "idle":
                if event["reason"] != "date":
                    self._note_wait(matched=False)
                    self.soon(self.random.uniform(1, 25), self._spin)
                if event["reason"] == "room_closed":
                    self.soon(self.random.uniform(0.2, 6), self.go_home)
                elif self.happens(self.habits.roams):
                    self.soon(self.random.uniform(0.2, 1), self.roam)
            case "date_started":
                self.talk(event["date_id"])
            case "date_ended":
                self.after_date(event)
                self.soon(self.random.uniform(1, 15), self._spin)
            case "call":
                self.ring(event["call_id"])
            case "room_closing":
                if self.happens(0.2):
                    self.soon(self.random.uniform(1, 50), self.go_home)
            case "nudge":
                self.soon(self.random.uniform(1, 5), self._spin)
            case "offers":
                self.company.calls.saw_offers(self.user_id, event["date"], event["offers"])

    def _have_mishaps(self) -> None:
        habits = self.habits
        if self.happens(habits.drops):
            self.soon(self.random.uniform(0, 3), self._lose_network)
        elif self.happens(habits.reloads):
            self.soon(self.random.uniform(0, 3), self.reload)
        elif self.happens(habits.second_device):
            join = self._use_two_devices if self.happens(0.4) else self.connect
            self.soon(self.random.uniform(0, 3), join)
        elif self.happens(habits.goes_silent):
            self.silent_until_s = trio.current_time() + self.random.uniform(5, 14)

    async def _use_two_devices(self) -> None:
        """Two devices connect, and the hello of the first arrives after that of the second."""
        await self.connect(late_s=self.random.uniform(0.1, 1.5))
        await self.connect()

    async def _lose_network(self) -> None:
        self.drop(self.random.choice((0.5, 2.0, 6.0, 13.0)))

    # Waiting

    async def _spin(self) -> None:
        if self.account.state != "idle" and not self.happens(self.habits.spins_on):
            if self.account.state != "waiting":
                return
        if self.account.date_id is None and trio.current_time() < self.ends_s - _LAST_S:
            if not self.has_called and self.happens(self.habits.calls):
                await self.call_connection()
            await self.command("spin", "/api/spin", {})

    def _look_later(self) -> None:
        """Look whether the guarantee holds, when this wait has grown old."""
        for seconds in (FORCED_S + SLACK_S + 0.5, 30.0, 75.0):
            self.soon(seconds, self._look)
        self.look_when_closed()

    async def _look(self) -> None:
        if self.is_connected and self.account.state == "waiting":
            if trio.current_time() - self.account.spoke_s > 5.0:
                await self.say("heartbeat")
            self.company.guarantee.check(self.user_id)
            self.company.rooms.check_waiting(self.user_id)

    def _note_wait(self, *, matched: bool) -> None:
        """Note a wait that has ended; a person who is matched at once has waited for 0 s."""
        profile, now_s, since_s = self.account.profile, trio.current_time(), self._waits_since_s
        self._waits_since_s = None
        if profile is not None and (matched or since_s is not None):
            seeking = " or ".join(profile["preferences"]["seeking"])
            group = f"{profile['gender']} seeking {seeking}"
            waited_s = 0.0 if since_s is None else now_s - since_s
            wait = Wait(self.user_id, group, waited_s, self._tier, matched)
            self.company.tally.waits.append(wait)

    # Matches

    def _see_match(self, match_id: str) -> None:
        habits = self.habits
        if self.happens(habits.leaves):
            self.soon(self.random.uniform(0.1, 4), self._leave_match)
        elif self.happens(habits.blocks / 2):
            self.soon(self.random.uniform(0.1, 4), partial(self._get_away, match_id))
        elif not self.happens(habits.forgets):
            delay_s = min(4.6, self.random.expovariate(1 / habits.reaction_s))
            self.soon(delay_s, partial(self._acknowledge, match_id))

    async def _get_away(self, match_id: str) -> None:
        """Block somebody at first sight, and go to another room; they may be there too."""
        if self.account.match_id == match_id:
            await self.say_perhaps_twice("block", user_id=self.account.partners[match_id])
            self.soon(self.random.uniform(0.5, 2), partial(self.say_perhaps_twice, "leave"))
            self.soon(self.random.uniform(2.5, 4), self.roam)

    async def _acknowledge(self, match_id: str) -> None:
        if self.account.match_id == match_id:
            body = {"match_id": match_id}
            await self.command("acknowledge", "/api/match/acknowledge", body)
            if self.happens(self.habits.spins_on):
                self.soon(self.random.uniform(0.1, 2), self._spin)

    def _think(self, match_id: str, window_s: float) -> None:
        habits = self.habits
        if self.happens(habits.never_votes):
            return
        vote = "yes" if self.happens(habits.says_yes) else "pass"
        delay_s = min(window_s, self.random.expovariate(1 / (1.5 * habits.reaction_s)))
        if self.happens(habits.votes_late):
            delay_s = 10.5
        self.soon(delay_s, partial(self._vote, match_id, vote))

    async def _vote(self, match_id: str, vote: str) -> None:
        body = {"match_id": match_id, "vote": vote}
        await self.command("vote", "/api/vote", body)
        if self.happens(self.habits.repeats):
            other = "pass" if vote == "yes" else "yes"
            self.soon(0.3, partial(self.say, "vote", match_id=match_id, vote=other))

    async def _leave_match(self) -> None:
        if self.account.match_id is not None:
            await self.command("leave", "/api/leave", {})

    def _after_match(self, match_id: str, state: str) -> None:
        partner = self.account.partners.get(match_id)
        if state == "waiting":
            self._look_later()
        else:
            self.soon(self.random.uniform(1, 20), self._spin)
            if self.happens(self.habits.roams):
                self.soon(self.random.uniform(0.2, 1), self.roam)
        if partner is not None and self.happens(self.habits.blocks):
            self.soon(
                self.random.uniform(0, 5), partial(self.say_perhaps_twice, "block", user_id=partner)
            )
        if partner is not None and self.happens(self.habits.reports):
            fields = {"user_id": partner, "reason": "rude", "match_id": match_id}
            self.soon(
                self.random.uniform(0, 5), partial(self.say_perhaps_twice, "report", **fields)
            )

    def _watch_deadline(self, state: str, match_id: str, window_s: float) -> None:
        """A state with a deadline must be over soon after it."""

        async def look() -> None:
            account, weather = self.account, self.company.weather
            is_stuck = account.state == state and account.match_id == match_id
            if is_stuck and self.is_connected and weather.is_steady(window_s + _LATE_S):
                text = f"{self.user_id} is still {state} in {match_id} after its deadline"
                self.company.bench.report("overdue", text, *self._both(match_id))

        self.soon(window_s + _LATE_S, look)

    def _both(self, match_id: str) -> tuple[str, ...]:
        return (self.user_id, self.account.partners.get(match_id, self.user_id))

    # The end

    async def leave_page(self) -> None:
        """Say goodbye, or just go."""
        if self.is_connected and not self.happens(self.habits.vanishes):
            if self.account.state != "idle":
                await self.say("leave")
                await trio.sleep(1.0)
        await super().leave_page()
