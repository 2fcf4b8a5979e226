"""Commands that have been sent and have no reply yet."""

from __future__ import annotations

from typing import Any

import trio


class PendingCommand:
    """One command, until its reply has come."""

    __slots__ = ("_done", "reply", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.reply: dict[str, Any] | None = None
        self._done = trio.Event()

    async def wait(self) -> dict[str, Any] | None:
        """The reply; None when there will be none."""
        await self._done.wait()
        return self.reply

    def finish(self, reply: dict[str, Any] | None) -> None:
        """Wake the task that waits."""
        self.reply = reply
        self._done.set()


class PendingCommands:
    """Pending commands by id."""

    def __init__(self) -> None:
        self._by_id: dict[str, PendingCommand] = {}

    def __bool__(self) -> bool:
        return bool(self._by_id)

    def add(self, id: str, text: str) -> PendingCommand:
        """A command that is about to be sent; the pending one if the id is in use."""
        return self._by_id.setdefault(id, PendingCommand(text))

    def resolve(self, reply: dict[str, Any]) -> None:
        """A reply has come."""
        pending = self._by_id.pop(reply["re"], None)
        if pending is not None:
            pending.finish(reply)

    def texts(self) -> list[str]:
        """What to send again on a new socket."""
        return [pending.text for pending in self._by_id.values()]

    def abandon(self) -> None:
        """No reply will come any more."""
        for pending in self._by_id.values():
            pending.finish(None)
