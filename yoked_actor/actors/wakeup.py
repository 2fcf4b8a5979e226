"""A wakeup: has a task look for work now."""

from __future__ import annotations

import trio


class Wakeup:
    """Wakes the one task that waits for it. A wake that comes early is kept until the next wait."""

    def __init__(self) -> None:
        self._event = trio.Event()

    def wake(self) -> None:
        """Let the task run. Does not checkpoint."""
        self._event.set()

    async def wait(self) -> None:
        """Wait for a wake, and take it. A checkpoint; when cancelled, no wake is lost."""
        await self._event.wait()
        self._event = trio.Event()
