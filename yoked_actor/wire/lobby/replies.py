"""Replies of the lobby, as replies of the protocol.

A table names the function that makes the reply of each type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from yoked_actor.domain.lobby import replies
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.wire.lobby.rendering import moment_or_none
from yoked_actor.wire.lobby.reply_messages import (
    Error,
    Ok,
    OkDone,
    OkMessage,
    OkOutcome,
    OkState,
    OkVoteBy,
)


def ok_reply(re: str, reply: replies.Reply) -> OkMessage | Error:
    """The wire form of the lobby's reply to a command."""
    make = _REPLIES.get(type(reply))
    return OkDone(re) if make is None else make(re, reply)


def _refusal(re: str, reply: replies.Refusal) -> Error:
    return Error(re=re, code=reply.code, message=reply.message)


def _spin_reply(re: str, reply: replies.SpinReply) -> OkMessage:
    return OkState(re, reply.state, reply.match_id)


def _leave_reply(re: str, reply: replies.LeaveReply) -> OkMessage:
    return OkState(re, reply.state)


def _acknowledge_reply(re: str, reply: replies.AcknowledgeReply) -> OkMessage:
    return OkVoteBy(re, moment_or_none(reply.vote_by))


def _vote_reply(re: str, reply: replies.VoteReply) -> OkMessage:
    return OkOutcome(re, reply.outcome)


def _offer_answered(re: str, reply: replies.OfferAnswered | replies.TouchAnswered) -> OkMessage:
    return Ok(re=re, connection_id=reply.connection_id)


def _call_placed(re: str, reply: replies.CallPlaced) -> OkMessage:
    return Ok(re=re, call_id=reply.call_id, ring_until=to_datetime(reply.ring_until))


def _date_opened(re: str, reply: replies.DateOpened) -> OkMessage:
    return Ok(re=re, date_id=reply.date_id)


def _renewed(re: str, reply: replies.Renewed) -> OkMessage:
    return Ok(re=re, expires_at=to_datetime(reply.expires_at))


def _room_entered(re: str, reply: replies.RoomEntered) -> OkMessage:
    return Ok(re=re, room=reply.room)


def _explanation(re: str, reply: replies.Explanation) -> OkMessage:
    return Ok(
        re=re,
        waiting_s=reply.waiting_s,
        tier=reply.tier,
        next_tier_in_s=reply.next_tier_in_s,
        pool=reply.pool,
        rejected_by=reply.rejected_by,
        nearest=reply.nearest,
        strict=reply.strict,
    )


_REPLIES: Final[dict[type[replies.Reply], Callable[[str, Any], OkMessage | Error]]] = {
    replies.Refusal: _refusal,
    replies.SpinReply: _spin_reply,
    replies.LeaveReply: _leave_reply,
    replies.AcknowledgeReply: _acknowledge_reply,
    replies.VoteReply: _vote_reply,
    replies.OfferAnswered: _offer_answered,
    replies.TouchAnswered: _offer_answered,
    replies.CallPlaced: _call_placed,
    replies.DateOpened: _date_opened,
    replies.Renewed: _renewed,
    replies.RoomEntered: _room_entered,
    replies.Explanation: _explanation,
}


def refusal_error(re: str, refusal: replies.Refusal) -> Error:
    """The refusal of a hello."""
    return _refusal(re, refusal)


def suspended_error(re: str, message: str, reason: str, until: Instant | None) -> Error:
    """The refusal of a hello of a suspended user."""
    code = replies.Code.SUSPENDED
    return Error(re=re, code=code, message=message, reason=reason, until=moment_or_none(until))


def moved_error(re: str | None, message: str, url: str) -> Error:
    """Another node serves the user's room: the client has to connect to that one."""
    return Error(re=re, code=replies.Code.MOVED, message=message, url=url)
