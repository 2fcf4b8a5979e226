"""Counts and logs what a round of the matchmaker has brought about, and what the auditor found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
import structlog
import trio

from yoked_actor.actors.lobby.log_lines import MatchEnded, MatchMade
from yoked_actor.actors.lobby.messages import Message
from yoked_actor.domain.lobby import (
    Changes,
    DateEnd,
    DateEnded,
    Effects,
    IdleReason,
    Notice,
    NowIdle,
    Spin,
    SpinReply,
    State,
    replies,
)
from yoked_actor.domain.ops import Objective
from yoked_actor.telemetry import LobbyCounts, Metrics, write_lines

_log = structlog.get_logger()
NOTHING: Final = Effects(replies.Done(), [])
"""Stands for the effects of a message that the lobby does not decide about."""


# A constant is read faster than a member of an enumeration, or an imported name.
_WAITING: Final = State.WAITING
_SPIN: Final = Spin
_SPIN_REPLY: Final = SpinReply


class AuditFailed(Exception):
    """The lobby is in a forbidden state."""


def report_violations(
    counts: LobbyCounts, room: str, found: Sequence[str], *, is_fatal: bool
) -> None:
    """Count and log what the auditor found; raises `AuditFailed` instead of logging if fatal."""
    counts.count_violations(len(found))
    if is_fatal:
        raise AuditFailed(f"room {room}: {'; '.join(found)}")
    _log.error("audit_violation", room=room, found=found)


def count_spins(
    counts: LobbyCounts, messages: Sequence[Message], decided: Sequence[Effects]
) -> None:
    """Count the spins of a round by their result."""
    waiting = matched = refused = 0
    for message, effects in zip(messages, decided, strict=True):
        if type(message.event) is _SPIN:
            reply = effects.reply
            if type(reply) is not _SPIN_REPLY:
                refused += 1
            elif reply.state is _WAITING:
                waiting += 1
            else:
                matched += 1
    if waiting or matched or refused:
        counts.count_spins({"waiting": waiting, "matched": matched, "refused": refused})


def count_losses(counts: LobbyCounts, notices: Sequence[tuple[str, Notice]]) -> None:
    """Count the users who were silent for too long."""
    lost = sum(1 for _, notice in notices if _is_loss(notice)) if notices else 0
    if lost:
        counts.count_losses(lost)


def judge_latency(metrics: Metrics, messages: Sequence[Message]) -> None:
    """Judge how long spins and votes took, from the mailbox until their replies were sent."""
    now_s = trio.current_time()
    spins: list[float] = []
    votes: list[float] = []
    for message in messages:
        if message.posted_s >= 0:
            taken = spins if type(message.event) is _SPIN else votes
            taken.append(now_s - message.posted_s)
    if spins:
        metrics.objectives.judge(Objective.SPINS, spins, now_s)
    if votes:
        metrics.objectives.judge(Objective.VOTES, votes, now_s)


def log_matches(changes: Changes) -> None:
    """Log the matches that a round has made and ended."""
    at = datetime.now(UTC)
    lines: list[MatchMade | MatchEnded] = [
        MatchMade(
            at=at,
            match_id=quality.match_id,
            room=changes.room,
            policy=quality.policy,
            tiers=[quality.a_tier, quality.b_tier],
            waits_s=[quality.a_wait_s, quality.b_wait_s],
            distance_km=quality.distance_km,
            priority=quality.priority,
            preference_match=quality.preference_match,
        )
        for quality in changes.quality
    ]
    lines += [
        MatchEnded(
            at=at,
            match_id=match.match_id,
            room=changes.room,
            status=match.status,
            outcome=match.outcome,
            reason=match.cancelled_for,
        )
        for match in changes.matches
        if match.ended_at is not None
    ]
    if lines and not write_lines(lines):
        for line in lines:
            facts = msgspec.to_builtins(line)
            del facts["at"], facts["level"]
            _log.info(facts.pop("event"), **facts)


def _is_loss(notice: Notice) -> bool:
    """Whether it follows from a user's silence; each loss has one such notice."""
    if type(notice) is NowIdle:
        return notice.reason is IdleReason.LOST
    return type(notice) is DateEnded and notice.reason is DateEnd.PARTNER_LOST
