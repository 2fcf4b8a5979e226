"""What the witness knows: only what people did, and what they were told.

Times are those of trio's clock (`_s`), or instants as the server wrote them in its messages.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import trio

Pair = tuple[str, str]
_UNDER_WAY_S = 0.2
"""A message that was said so shortly before may not have been read."""


def pair_of(a: str, b: str) -> Pair:
    """An unordered pair."""
    return (a, b) if a < b else (b, a)


class Account:
    """One person, as the person sees it."""

    def __init__(self, user_id: str) -> None:
        self.user_id = user_id
        self.profile: dict[str, Any] | None = None
        self.profile_unsure = False
        """Whether the answer to a change of the profile was lost."""
        self.profile_s = -1.0
        """When the profile was last changed."""
        self.zone_s = -1.0
        """When the person last moved to another zone."""
        self.state: str | None = None
        """None while the person cannot know."""
        self.room: str | None = None
        """The room that the person is in; None while nobody can know."""
        self.entering = 0
        """HTTP calls for another room that were not answered yet."""
        self.match_id: str | None = None
        self.acknowledged = False
        self.since: str | None = None
        """The place in line, as told."""
        self.since_s = -1.0
        """When it was told."""
        self.waiting_s = -1.0
        """Since when the person waits."""
        self.date_id: str | None = None
        self.credit: int | None = None
        self.spoke_s = -1.0
        """When the person last said anything."""
        self.spoken: deque[float] = deque([-1.0], maxlen=64)
        """When the last messages were said."""
        self.online_s: float | None = None
        """Since when the person is connected; None when not."""
        self.connection = 0
        """The number of the newest connection that was welcomed."""
        self.session: str | None = None
        self.left_s = -1.0
        """When the person last left, spun, blocked, or was removed, by any door."""
        self.blocks: dict[str, float] = {}
        """Blocked users, and since when that is certain."""
        self.maybe_blocks: set[str] = set()
        self.unblocked_s: dict[str, float] = {}
        self.suspended_s: float | None = None
        """Since when the operator's answer says so."""
        self.suspended_until: str | None = None
        self.suspension_unsure = False
        self.freed_s = -1.0
        """When a suspension last ended, or may have ended."""
        self.erased_s: float | None = None
        self.erasing = False
        self.reports = 0
        """Reports that were confirmed."""
        self.sent_reports = 0
        self.votes: dict[str, str] = {}
        """Votes that were confirmed, by match."""
        self.sent_votes: dict[str, str] = {}
        """Votes that were sent, by match."""
        self.partners: dict[str, str] = {}
        """Matches that the person was told of, and with whom."""
        self.outcomes: dict[str, str] = {}
        self.offers: dict[str, dict[str, str]] = {}
        """By date: offer ids, and the candidates."""
        self.answers: dict[str, str] = {}
        """Answers to offers that were confirmed."""
        self.sent_accepts: set[str] = set()
        """Candidates whose offer the person has accepted, confirmed or not."""
        self.connections: dict[str, str] = {}
        self.dates: dict[str, str] = {}
        self.touches: dict[str, str] = {}
        """Answers after dates that were confirmed."""
        self.sent_touches: dict[str, set[str]] = {}

    def silent_before(self, at_s: float) -> float:
        """How long the person had said nothing, without messages that were under way."""
        earlier = (said_s for said_s in reversed(self.spoken) if said_s < at_s - _UNDER_WAY_S)
        return at_s - next(earlier, self.spoken[0])

    def note_answer(self, offer_id: str, answer: str) -> None:
        """The person answers an offer; whether it arrives is another matter."""
        if answer == "accept":
            found = (known[offer_id] for known in self.offers.values() if offer_id in known)
            self.sent_accepts.update(found)

    @property
    def is_here(self) -> bool:
        """Whether the person can be met: neither erased nor suspended."""
        return self.erased_s is None and not self.erasing and self.suspended_s is None


class Meeting:
    """A match, as its two people were told of it."""

    def __init__(self, match_id: str, pair: Pair, told_s: float) -> None:
        self.match_id = match_id
        self.pair = pair
        self.told_s = told_s
        self.told: set[str] = set()
        self.rooms: dict[str, str] = {}
        """In which room each side was when it was told."""
        self.acknowledged: set[str] = set()
        self.voting_s: float | None = None
        self.window_s = 0.0
        """How long votes are taken, as told."""
        self.outcomes: dict[str, str] = {}
        """What each side was told, without those who left."""
        self.cancelled: dict[str, str] = {}
        self.left: set[str] = set()
        """Who left it, by what they were told."""
        self.ended_s: float | None = None
        self.restarted = False
        """Whether it was called off because of a restart: then the two have not met."""


class Ledger:
    """All accounts and meetings."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.meetings: dict[str, Meeting] = {}
        self.by_pair: dict[Pair, list[Meeting]] = {}
        self.initiators: dict[str, dict[str, bool]] = {}
        """By video date: who was told to begin."""
        self.report_made = trio.Event()
        """Set when a person has made a report: the operator may look at once."""

    def of(self, user_id: str) -> Account:
        """The account of a person."""
        account = self.accounts.get(user_id)
        if account is None:
            account = self.accounts[user_id] = Account(user_id)
        return account

    def meeting(self, match_id: str, a: str, b: str, now_s: float) -> Meeting:
        """The meeting with this id."""
        meeting = self.meetings.get(match_id)
        if meeting is None:
            meeting = self.meetings[match_id] = Meeting(match_id, pair_of(a, b), now_s)
            self.by_pair.setdefault(meeting.pair, []).append(meeting)
        return meeting

    def have_met(self, a: str, b: str, before_s: float) -> bool:
        """Whether voting was open between two, told before an instant, and not called off."""
        return any(
            one.voting_s is not None and one.voting_s < before_s and not one.restarted
            for one in self.by_pair.get(pair_of(a, b), ())
        )

    def may_have_met(self, a: str, b: str) -> bool:
        """Whether a match of the two may have come to voting without anybody being told."""
        return any(
            one.voting_s is not None or one.ended_s is None or one.restarted or not one.cancelled
            for one in self.by_pair.get(pair_of(a, b), ())
        )

    def last_cancelled_s(self, a: str, b: str) -> float:
        """When a match of the two was last cancelled, as told."""
        return max(
            (one.ended_s for one in self.by_pair.get(pair_of(a, b), ()) if one.ended_s is not None),
            default=-1e9,
        )
