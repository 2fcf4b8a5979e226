"""Diagrams of the transition tables, for the documentation.

`docs/lifecycle.md` and `docs/jobs.md` contain these diagrams between markers. A test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from yoked_actor.domain.jobs import JOB_TRANSITIONS, JobStatus
from yoked_actor.domain.lobby.ballot import VERDICTS, CreditChange, Verdict, Vote
from yoked_actor.domain.lobby.lifecycle import TRANSITIONS, State
from yoked_actor.domain.lobby.machine.moves import move

S = TypeVar("S", bound=StrEnum)

_CREDIT = {
    CreditChange.KEEP: "",
    CreditChange.RAISE: ", credit rises",
    CreditChange.RESET: ", credit back to 0",
}


def lifecycle_mermaid() -> str:
    """The states of a user and their transitions, as a Mermaid state diagram."""
    return _mermaid(State.IDLE, TRANSITIONS)


def jobs_mermaid() -> str:
    """The statuses of a job and their transitions, as a Mermaid state diagram."""
    return _mermaid(JobStatus.PENDING, JOB_TRANSITIONS)


def ballot_table() -> str:
    """The verdict of every combination of votes, as a Markdown table; a row is my vote."""
    votes = list(Vote)
    lines = [
        f"| my vote | their vote: {' | '.join(votes)} |",
        f"| --- {'| --- ' * len(votes)}|",
    ]
    for mine in votes:
        cells = " | ".join(_cell(VERDICTS[mine, theirs]) for theirs in votes)
        lines.append(f"| **{mine}** | {cells} |")
    return "\n".join(lines)


def _mermaid(first: S, transitions: Mapping[tuple[S, Any], S]) -> str:
    causes: dict[tuple[S, S], list[str]] = {}
    for (state, cause), following in transitions.items():
        causes.setdefault((state, following), []).append(cause)
    arrows = [
        f"    {state} --> {following}: {', '.join(names)}"
        for (state, following), names in causes.items()
    ]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {first}", *arrows])


def _cell(verdict: Verdict) -> str:
    following = move(State.VOTING, verdict.cause)
    return f"`{verdict.outcome}`: I am {following}{_CREDIT[verdict.credit]}"
