"""What HTTP calls tell: profiles, offers, connections, suspensions, exports, erasures."""

from __future__ import annotations

from typing import Any

import trio

from yoked_actor.simulation.judges.heard.accounts import Account, Ledger
from yoked_actor.simulation.judges.heard.contacts import ContactWitness
from yoked_actor.simulation.judges.stored.appeals import AppealJudge
from yoked_actor.simulation.judges.verdict import Bench


class CallWitness:
    """Hears the answers of HTTP calls."""

    def __init__(
        self, ledger: Ledger, bench: Bench, contacts: ContactWitness, appeals: AppealJudge
    ) -> None:
        self._ledger = ledger
        self._bench = bench
        self._contacts = contacts
        self._appeals = appeals

    # Profiles

    def changing_profile(self, user_id: str) -> None:
        """A person sends a profile; until it is confirmed nobody knows which one holds."""
        self._ledger.of(user_id).profile_unsure = True

    def changed_profile(self, user_id: str, profile: dict[str, Any]) -> None:
        """The profile was confirmed."""
        account, now_s = self._ledger.of(user_id), trio.current_time()
        if account.profile is None or account.profile["time_zone"] != profile["time_zone"]:
            account.zone_s = now_s
        account.profile, account.profile_s = profile, now_s
        account.profile_unsure = False

    def unblocked(self, user_id: str, other: str) -> None:
        """A block was taken back."""
        account = self._ledger.of(user_id)
        account.blocks.pop(other, None)
        account.maybe_blocks.discard(other)
        account.unblocked_s[other] = trio.current_time()

    # Offers

    def saw_offers(self, user_id: str, day: str | None, offers: list[dict[str, Any]]) -> None:
        """A person was shown the offers of a day, by either door."""
        if day is None:
            return
        account, now_s = self._ledger.of(user_id), trio.current_time()
        self._bench.count("offers_shown")
        known = account.offers.setdefault(day, {})
        for offer in offers:
            candidate = offer["candidate"]["user_id"]
            if known.setdefault(offer["offer_id"], candidate) != candidate:
                text = f"{user_id}: offer {offer['offer_id']} of {day} is somebody else now"
                self._bench.report("offers_changed", text, user_id, candidate)
            self._check_shown(account, candidate, now_s)
        people = list(known.values())
        if len(set(people)) != len(people) or len(people) > 5:
            self._bench.report("offers_changed", f"{user_id} has two sets for {day}", user_id)

    def _check_shown(self, account: Account, candidate: str, now_s: float) -> None:
        """Nobody sees a suspended, erased or blocked person."""
        theirs, me = self._ledger.of(candidate), account.user_id
        since_s = theirs.suspended_s
        if since_s is not None and since_s < now_s - 2.0 and not theirs.suspension_unsure:
            text = f"{me} is shown {candidate}, who is suspended"
            self._bench.report("suspended_shown", text, me, candidate)
        if theirs.erased_s is not None and theirs.erased_s < now_s - 2.0:
            self._bench.report("erased_shown", f"{me} is shown {candidate}", me, candidate)
        for one, other in ((account, theirs), (theirs, account)):
            blocked_s = one.blocks.get(other.user_id)
            if blocked_s is not None and blocked_s < now_s - 2.0:
                text = f"{me} is shown {candidate}, and one has blocked the other"
                self._bench.report("blocked_shown", text, me, candidate)

    def answering_offer(self, user_id: str, offer_id: str, answer: str) -> None:
        """A person answers an offer."""
        self._ledger.of(user_id).note_answer(offer_id, answer)

    def answered_offer(self, user_id: str, offer_id: str, answer: str) -> None:
        """An answer to an offer was confirmed."""
        self._ledger.of(user_id).answers[offer_id] = answer

    def saw_connections(self, user_id: str, connections: list[dict[str, Any]]) -> None:
        """A person was shown their connections."""
        account = self._ledger.of(user_id)
        for one in connections:
            partner = one["partner"]["user_id"]
            account.connections[one["connection_id"]] = partner
            self._contacts.opened(user_id, partner, one["source"])
            self._check_shown(account, partner, trio.current_time())

    def saw_met(self, user_id: str, met: list[dict[str, Any]], asked_s: float) -> None:
        """A person was shown whom they have met."""
        self._contacts.saw_met(user_id, met, asked_s)
        for one in met:
            self._check_shown(
                self._ledger.of(user_id), one["partner"]["user_id"], trio.current_time()
            )

    # Suspension and erasure

    def suspending(self, user_id: str) -> None:
        """The operator asks for a suspension; until it is confirmed nobody knows."""
        account = self._ledger.of(user_id)
        account.suspension_unsure = True
        account.left_s = trio.current_time()

    def suspended(self, user_id: str, until: str | None) -> None:
        """It was confirmed."""
        account = self._ledger.of(user_id)
        account.suspended_s, account.suspended_until = trio.current_time(), until
        account.left_s = trio.current_time()
        account.suspension_unsure = False
        account.state = None

    def freeing(self, user_id: str) -> None:
        """A suspension may end from now on."""
        account = self._ledger.of(user_id)
        account.suspension_unsure = True
        account.freed_s = trio.current_time()

    def freed(self, user_id: str) -> None:
        """It has ended."""
        account = self._ledger.of(user_id)
        account.suspended_s, account.suspension_unsure = None, False
        account.freed_s = trio.current_time()

    def erasing(self, user_id: str) -> None:
        """A person asks to be erased."""
        account = self._ledger.of(user_id)
        account.erasing = True
        account.left_s = trio.current_time()

    def erased(self, user_id: str) -> None:
        """It was confirmed."""
        account = self._ledger.of(user_id)
        account.erased_s, account.state, account.online_s = trio.current_time(), None, None

    # Export

    def exported(self, user_id: str, data: dict[str, Any]) -> None:
        """Compare a person's own data with what the person did and was told."""
        account = self._ledger.of(user_id)
        self._bench.count("export")
        missing = set(self._appeals.of(user_id)) - {one["text"] for one in data["appeals"]}
        if missing:
            self._bench.report("export", f"{user_id}: {missing} is missing", user_id)
        for problem in _differences(account, data, self._ledger):
            self._bench.report("export", f"{user_id}: {problem}", user_id)


def _differences(account: Account, data: dict[str, Any], ledger: Ledger) -> list[str]:
    found = []
    profile = account.profile
    if profile is not None and not account.profile_unsure:
        shown = data["profile"] or {}
        for key in ("display_name", "birth_date", "gender", "time_zone", "interests"):
            if shown.get(key) != profile[key]:
                found.append(f"{key} is {shown.get(key)!r}, not {profile[key]!r}")
        strict = profile["preferences"]["strict"]
        if sorted(shown.get("strict", ())) != sorted(strict):
            found.append(f"strict is {shown.get('strict')}, not {strict}")
    exported = {one["match_id"]: one for one in data["matches"]}
    for match_id, partner in account.partners.items():
        match = exported.get(match_id)
        if match is None:
            found.append(f"{match_id} is missing")
            continue
        if match["partner"] != partner and not ledger.of(partner).erasing:
            found.append(f"{match_id} is with {match['partner']}, not {partner}")
        outcome = account.outcomes.get(match_id)
        if outcome is not None and match["outcome"] != outcome:
            found.append(f"{match_id} ended {match['outcome']}, not {outcome}")
        meeting = ledger.meetings[match_id]
        vote = account.votes.get(match_id)
        if vote is not None and account.user_id not in meeting.left and match["vote"] != vote:
            if match["outcome"] is not None and not meeting.cancelled:
                found.append(f"the vote in {match_id} is {match['vote']}, not {vote}")
    blocks = {one["user_id"] for one in data["blocks"]}
    for other in account.blocks:
        if other not in blocks and not ledger.of(other).erasing:
            found.append(f"the block of {other} is missing")
    for other in blocks - account.maybe_blocks:
        found.append(f"a block of {other} that was never made")
    if len(data["reports"]) < account.reports:
        found.append(f"{len(data['reports'])} of {account.reports} reports")
    if len(data["reports"]) > account.sent_reports:
        found.append(f"{len(data['reports'])} reports, and {account.sent_reports} were sent")
    offers = {one["date"]: one["offers"] for one in data["offers"]}
    for day, known in account.offers.items():
        ids = {one["offer_id"]: one for one in offers.get(day, ())}
        for offer_id, candidate in known.items():
            if offer_id not in ids and not ledger.of(candidate).erasing:
                found.append(f"the offer of {candidate} on {day} is missing")
            answer = account.answers.get(offer_id)
            if offer_id in ids and answer is not None and ids[offer_id]["answer"] != answer:
                found.append(f"the answer to {offer_id} is {ids[offer_id]['answer']}, not {answer}")
    dates = {one["date_id"]: one.get("stay_in_touch") for one in data["dates"]}
    found += [f"the video date {one} is missing" for one in account.dates if one not in dates]
    for date_id, answer in account.touches.items():
        if dates.get(date_id) != answer:
            found.append(f"the answer after {date_id} is {dates.get(date_id)}, not {answer}")
    return found
