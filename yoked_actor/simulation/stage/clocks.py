"""The time of the simulated world, and the clock of the machine that the server runs on."""

from __future__ import annotations

import trio

from yoked_actor.domain.time import MICROSECONDS, Instant


class Wall:
    """True time, and what the machine's clock shows. Both run with trio's clock."""

    def __init__(self, start_at: Instant) -> None:
        self._start_at = start_at
        self._trio_start = trio.current_time()
        self._error = 0

    def true(self) -> Instant:
        """The instant that people's clocks show."""
        return self._start_at + round((trio.current_time() - self._trio_start) * MICROSECONDS)

    def machine(self) -> Instant:
        """The instant that the machine's clock shows."""
        return self.true() + self._error

    async def sleep_until(self, at: Instant) -> None:
        """Sleep until an instant of true time."""
        while True:
            left = at - self.true()
            if left <= 0:
                return
            await trio.sleep(left / MICROSECONDS)

    @property
    def error_s(self) -> float:
        """How far the machine's clock is ahead of true time."""
        return self._error / MICROSECONDS

    def set_error(self, seconds: float) -> None:
        """Set the machine's clock wrong by so much; 0 corrects it."""
        self._error = round(seconds * MICROSECONDS)

    def pass_suspended(self, seconds: float) -> None:
        """Let time pass while the machine is suspended: its monotonic clock stands still."""
        self._start_at += round(seconds * MICROSECONDS)
