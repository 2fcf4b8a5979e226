"""The output of the lobby for one event."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.lobby.notices import Notice
from yoked_actor.domain.lobby.replies import Reply


class Effects(msgspec.Struct, gc=False):
    """What follows from one event: the reply, then the notices, in this order."""

    reply: Reply
    notices: list[tuple[str, Notice]]
