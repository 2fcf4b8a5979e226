"""The life of a match: acknowledged, voted on, decided, or cancelled (R11, R12, R15, R16, R20)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from yoked_actor.domain.lobby.ballot import VERDICTS, CreditChange, Outcome, Vote, credit_after
from yoked_actor.domain.lobby.constants import STATUS_VOTING, WAITING
from yoked_actor.domain.lobby.lifecycle import Cause, State
from yoked_actor.domain.lobby.machine.dates import announce_date, open_date
from yoked_actor.domain.lobby.machine.moves import move
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import (
    IdleReason,
    MatchCancelled,
    Matched,
    MatchLeft,
    OutcomeReached,
    VotingOpened,
    WaitReason,
)
from yoked_actor.domain.lobby.records import CancelReason, Match, MatchStatus
from yoked_actor.domain.lobby.replies import AcknowledgeReply, Code, Done, Refusal, Reply, VoteReply
from yoked_actor.domain.time import Instant, after

_LEFT_BEHIND: Final = {
    Cause.LEFT: (Cause.PARTNER_LEFT, CancelReason.PARTNER_LEFT, WaitReason.PARTNER_LEFT),
    Cause.SPUN: (Cause.PARTNER_LEFT, CancelReason.PARTNER_LEFT, WaitReason.PARTNER_LEFT),
    Cause.LOST: (Cause.PARTNER_LOST, CancelReason.PARTNER_LOST, WaitReason.PARTNER_LOST),
}
"""How a user goes -> what that means for the partner."""

_NEXT_OF_LEAVER: Final = {Cause.LEFT: State.IDLE, Cause.SPUN: State.WAITING}
"""The next state of a user who leaves a match by their own wish."""


# A constant is read faster than a member of an enumeration.
_COMPLETED: Final = MatchStatus.COMPLETED
_NO_VOTE: Final = Vote.IDLE
_BOTH_YES: Final = Outcome.BOTH_YES
_BOTH_ACKNOWLEDGED: Final = Cause.BOTH_ACKNOWLEDGED
_REQUEUED: Final = WaitReason.REQUEUED
_KEPT: Final = CreditChange.KEEP
_NOBODY: Final[frozenset[str]] = frozenset()


def acknowledge(step: Step, user_id: str, match_id: str) -> Reply:
    """A user has seen the match; when both have, voting opens."""
    match = step.floor.open_match(user_id)
    if match is None or match.match_id != match_id:
        return _unknown_match(match_id)
    # The methods of a match are not compiled: what each command needs is read here.
    is_a = user_id == match.a
    if not (match.a_acknowledged if is_a else match.b_acknowledged):
        if is_a:
            match = replace(match, a_acknowledged=True)
        else:
            match = replace(match, b_acknowledged=True)
        if match.a_acknowledged and match.b_acknowledged and not match.awaiting:
            match = open_voting(step, match)
        else:
            step.floor.put_match(match)
    voting = match.status is STATUS_VOTING
    state = step.floor.seat(user_id).state
    return AcknowledgeReply(state, match.closes_at if voting else None)


def open_voting(step: Step, match: Match) -> Match:
    """Both have acknowledged: the vote window opens, and the two have met."""
    floor, now = step.floor, step.now
    vote_by = now + floor.vote_window
    match = replace(match, status=STATUS_VOTING, voting_at=now, closes_at=vote_by)
    floor.put_match(match)
    a, b = match.a, match.b
    floor.acquaintance.meet(a, b, now)
    notice = VotingOpened(match.match_id, vote_by)
    for user_id in (a, b):
        seat = floor.seat(user_id)
        floor.put_seat(replace(seat, state=move(seat.state, _BOTH_ACKNOWLEDGED)))
        step.tell(user_id, notice)
    return match


def vote(step: Step, user_id: str, match_id: str, choice: Vote) -> Reply:
    """A user votes. The first vote is final; when both are in, the ballot is decided."""
    match = step.floor.open_match(user_id)
    if match is None or match.match_id != match_id:
        return _vote_too_late(step, user_id, match_id, choice)
    if match.status is not STATUS_VOTING:
        return Refusal(Code.WRONG_STATE, "voting opens when both have acknowledged")
    given = match.a_vote if user_id == match.a else match.b_vote
    if given is not None:
        return VoteReply() if given is choice else _already_voted(given)
    match = _with_vote(match, user_id, choice)
    if match.a_vote is None or match.b_vote is None:
        step.floor.put_match(match)
        return VoteReply()
    return VoteReply(conclude(step, match))


def conclude(step: Step, match: Match, *, gone: str | None = None) -> Outcome:
    """Decide a ballot; a missing vote counts as idle.

    The user who is `gone` gets no notice here, and is moved by the caller.
    """
    floor = step.floor
    a_vote, b_vote = match.a_vote or _NO_VOTE, match.b_vote or _NO_VOTE
    verdicts = VERDICTS[a_vote, b_vote], VERDICTS[b_vote, a_vote]
    outcome = verdicts[0].outcome
    floor.put_match(
        replace(
            match,
            status=_COMPLETED,
            closes_at=None,
            ended_at=step.now,
            awaiting=_NOBODY,
            outcome=outcome,
        )
    )
    date = None
    a, b, match_id = match.a, match.b, match.match_id
    if outcome is _BOTH_YES:
        date = open_date(step, a, b, match_id)
    date_id = None if date is None else date.date_id
    for user_id, verdict in ((a, verdicts[0]), (b, verdicts[1])):
        if user_id == gone:
            continue
        seat = floor.seat(user_id)
        credit, change, cause = seat.credit, verdict.credit, verdict.cause
        if change is not _KEPT:
            rules = floor.rules
            credit = credit_after(credit, change, step=rules.credit_step, cap=rules.credit_cap)
        following = move(seat.state, cause)
        step.tell(user_id, OutcomeReached(match_id, outcome, following, credit, date_id))
        if following is WAITING:
            step.queue(user_id, cause, _REQUEUED, fresh=True, credit=credit)
        else:
            reason = IdleReason.DATE if date is not None else IdleReason.IDLE_VOTE
            step.rest(user_id, cause, reason, credit=credit)
    if date is not None:
        announce_date(step, date)
    return outcome


def leave_match(step: Step, match: Match, user_id: str, cause: Cause) -> None:
    """End a match that `user_id` leaves, and move the partner (R12).

    The caller then moves the user who leaves. Their vote is void. If they leave by their own wish,
    the notice of how the match ended comes before the notice of their new state.
    """
    outcome = _end_without(step, match, user_id, cause)
    following = _NEXT_OF_LEAVER.get(cause)
    if following is not None:
        credit, was_voting = step.floor.seat(user_id).credit, match.voting_at is not None
        step.tell(user_id, MatchLeft(match.match_id, following, credit, was_voting, outcome))


def _end_without(step: Step, match: Match, user_id: str, cause: Cause) -> Outcome | None:
    """End a match that `user_id` leaves, for the partner; the outcome, or None if cancelled.

    A user who did not come back after a restart has not left: the match is cancelled without a bar
    (R18).
    """
    partner = match.partner_of(user_id)
    if cause is Cause.LOST and user_id in match.awaiting:
        cancel(step, match, CancelReason.SERVER_RESTART)
        _stay_behind(
            step,
            match,
            partner,
            Cause.SERVER_RESTART,
            CancelReason.SERVER_RESTART,
            WaitReason.RESUMED,
        )
        return None
    if match.vote_of(partner) is not None:
        mine = Vote.PASS if cause is Cause.SPUN else _NO_VOTE
        return conclude(step, _with_vote(match, user_id, mine), gone=user_id)
    partner_cause, reason, wait_reason = _LEFT_BEHIND[cause]
    cancel(step, match, reason)
    _stay_behind(step, match, partner, partner_cause, reason, wait_reason)
    return None


def go(step: Step, user_id: str, cause: Cause, reason: IdleReason) -> None:
    """Move a user out of line, and out of their match."""
    match = step.floor.open_match(user_id)
    if match is not None:
        leave_match(step, match, user_id, cause)
    step.rest(user_id, cause, reason)


def acknowledge_timeout(step: Step, match: Match) -> None:
    """The window closed: a user who acknowledged waits in the old place, the other is idle."""
    cancel(step, match, CancelReason.NOT_ACKNOWLEDGED)
    for user_id in match.users:
        if match.acknowledged_by(user_id):
            _stay_behind(
                step,
                match,
                user_id,
                Cause.PARTNER_SILENT,
                CancelReason.NOT_ACKNOWLEDGED,
                WaitReason.NOT_ACKNOWLEDGED,
            )
        else:
            notice = MatchCancelled(match.match_id, CancelReason.NOT_ACKNOWLEDGED, State.IDLE)
            step.tell(user_id, notice)
            step.rest(user_id, Cause.ACKNOWLEDGE_TIMEOUT, IdleReason.NOT_ACKNOWLEDGED)


def cancel_for_block(step: Step, match: Match, blocker: str) -> None:
    """A block ends the match for both; the blocked user is notified that the partner left."""
    cancel(step, match, CancelReason.BLOCKED)
    _stay_behind(step, match, blocker, Cause.BLOCKED, CancelReason.BLOCKED, _REQUEUED)
    _stay_behind(
        step,
        match,
        match.partner_of(blocker),
        Cause.BLOCKED,
        CancelReason.PARTNER_LEFT,
        WaitReason.PARTNER_LEFT,
    )


def end_match_by_operator(step: Step, user_id: str, match_id: str) -> Reply:
    """End an open match: both users are notified that the partner left, and wait again."""
    match = step.floor.open_match(user_id)
    if match is None or match.match_id != match_id:
        return Refusal(Code.NOT_FOUND, f"there is no open match {match_id}")
    cancel(step, match, CancelReason.PARTNER_LEFT)
    for one in match.users:
        _stay_behind(
            step,
            match,
            one,
            Cause.PARTNER_LEFT,
            CancelReason.PARTNER_LEFT,
            WaitReason.PARTNER_LEFT,
        )
    return Done()


def come_back(step: Step, match: Match, user_id: str) -> None:
    """A user is back after a restart; when both are, the window opens again."""
    match = replace(match, awaiting=match.awaiting - {user_id})
    if match.awaiting:
        step.floor.put_match(match)
        return
    if match.status is STATUS_VOTING:
        vote_by = step.now + step.floor.vote_window
        step.floor.put_match(replace(match, closes_at=vote_by))
        for one in match.users:
            step.tell(one, VotingOpened(match.match_id, vote_by))
        return
    if match.both_acknowledged:
        open_voting(step, match)
        return
    acknowledge_by = step.now + step.floor.acknowledge_window
    step.floor.put_match(replace(match, closes_at=acknowledge_by))
    people, places = step.floor.people.rows, step.floor.places
    for one in match.users:
        card = places.card(people[match.partner_of(one)], people[one], step.now)
        step.tell(one, Matched(match.match_id, card, acknowledge_by))


def cancel(step: Step, match: Match, reason: CancelReason) -> None:
    """Cancel a match, and bar the pair if that applies (R18, R20)."""
    floor = step.floor
    floor.put_match(replace(_ended(match, MatchStatus.CANCELLED, step.now), cancelled_for=reason))
    if match.awaiting:
        # A restart is the cause: no bar, and an unfinished vote does not count as having met.
        floor.acquaintance.unmeet(match.a, match.b)
    elif match.voting_at is None:
        floor.bar(match.a, match.b, after(step.now, floor.rules.bar_s))


def _stay_behind(
    step: Step,
    match: Match,
    user_id: str,
    cause: Cause,
    reason: CancelReason,
    wait_reason: WaitReason,
) -> None:
    step.tell(user_id, MatchCancelled(match.match_id, reason, WAITING))
    step.queue(user_id, cause, wait_reason, fresh=False)


def _ended(match: Match, status: MatchStatus, at: Instant) -> Match:
    return replace(match, status=status, closes_at=None, ended_at=at, awaiting=_NOBODY)


def _with_vote(match: Match, user_id: str, vote: Vote) -> Match:
    if user_id == match.a:
        return replace(match, a_vote=vote)
    return replace(match, b_vote=vote)


def _vote_too_late(step: Step, user_id: str, match_id: str, choice: Vote) -> Reply:
    floor = step.floor
    match = floor.matches.get(match_id)
    if match is None or floor.seat(user_id).last_match_id != match_id or match.voting_at is None:
        return _unknown_match(match_id)
    given = match.vote_of(user_id)
    if match.outcome is None or given is None or given is _NO_VOTE:
        return Refusal(Code.VOTE_CLOSED, "the vote is over")
    return VoteReply(match.outcome) if given is choice else _already_voted(given)


def _unknown_match(match_id: str) -> Refusal:
    return Refusal(Code.UNKNOWN_MATCH, f"{match_id!r} is not your current match")


def _already_voted(given: Vote) -> Refusal:
    return Refusal(Code.ALREADY_VOTED, f"your vote was {given}, and the first vote is final")
