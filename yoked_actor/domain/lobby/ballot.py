"""Votes and what they lead to (R11).

A ballot has two sides; each is `yes`, `pass` or `idle` (no vote in time). The table gives one
side's verdict for every combination; the other side's verdict is the mirrored entry.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from yoked_actor.domain.lobby.lifecycle import Cause


class Vote(StrEnum):
    """One side of a ballot."""

    YES = "yes"
    PASS = "pass"
    IDLE = "idle"


class Outcome(StrEnum):
    """How a ballot ends."""

    BOTH_YES = "both_yes"
    YES_PASS = "yes_pass"
    PASS_PASS = "pass_pass"
    YES_IDLE = "yes_idle"
    PASS_IDLE = "pass_idle"
    IDLE_IDLE = "idle_idle"


class CreditChange(StrEnum):
    """What a verdict does to the voter's fairness credit."""

    KEEP = "keep"
    RAISE = "raise"
    RESET = "reset"


class Verdict(msgspec.Struct, frozen=True):
    """What a ballot means for one voter."""

    outcome: Outcome
    cause: Cause
    credit: CreditChange


def _requeues(outcome: Outcome, credit: CreditChange = CreditChange.KEEP) -> Verdict:
    return Verdict(outcome, Cause.OUTCOME_REQUEUES, credit)


def _rests(outcome: Outcome, credit: CreditChange = CreditChange.KEEP) -> Verdict:
    return Verdict(outcome, Cause.OUTCOME_RESTS, credit)


VERDICTS: dict[tuple[Vote, Vote], Verdict] = {
    (Vote.YES, Vote.YES): _rests(Outcome.BOTH_YES, CreditChange.RESET),
    (Vote.YES, Vote.PASS): _requeues(Outcome.YES_PASS, CreditChange.RAISE),
    (Vote.YES, Vote.IDLE): _requeues(Outcome.YES_IDLE, CreditChange.RAISE),
    (Vote.PASS, Vote.YES): _requeues(Outcome.YES_PASS),
    (Vote.PASS, Vote.PASS): _requeues(Outcome.PASS_PASS),
    (Vote.PASS, Vote.IDLE): _requeues(Outcome.PASS_IDLE),
    (Vote.IDLE, Vote.YES): _rests(Outcome.YES_IDLE),
    (Vote.IDLE, Vote.PASS): _rests(Outcome.PASS_IDLE),
    (Vote.IDLE, Vote.IDLE): _rests(Outcome.IDLE_IDLE),
}
"""(my vote, their vote) -> my verdict."""


def credit_after(credit: int, change: CreditChange, *, step: int, cap: int) -> int:
    """The credit after a verdict."""
    if change is CreditChange.RESET:
        return 0
    if change is CreditChange.RAISE:
        return min(credit + step, cap)
    return credit
