"""Signals to the process: stop, stop at once, reload the settings."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import structlog
import trio

_log = structlog.get_logger()

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# One press may arrive twice: Ctrl-C reaches both processes of the one-file binary, and the first
# forwards it.
SAME_PRESS_S = 1.0


@contextmanager
def heard_signals() -> Iterator[AsyncIterator[int]]:
    """Receives signals. A signal that arrives after the block is ignored.

    The second half of a press may be that late, and the process has done as it was told.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # in force again after the block
    with trio.open_signal_receiver(*SIGNALS) as signals:
        yield signals


class Orders:
    """Acts on signals.

    All are taken in, to the end: what is not would be delivered once more then, and kill.
    """

    def __init__(self, reload: Callable[[], object] | None = None) -> None:
        self.stop = trio.Event()
        """Set when the process has to drain and exit."""
        self.hurry: Callable[[], None] | None = None
        """Called for a second signal to stop."""
        self.reload = reload
        """Called for SIGHUP. Without it SIGHUP stops the process, as a closed terminal should."""
        self._told_at: float | None = None

    async def hear(self, signals: AsyncIterator[int]) -> None:
        """Handle signals until cancelled."""
        async for number in signals:
            if number == signal.SIGHUP and self.reload is not None:
                if not self.stop.is_set():
                    self.reload()
            else:
                self._stop(signal.Signals(number).name)

    def _stop(self, name: str) -> None:
        now = trio.current_time()
        if self._told_at is None:
            self._told_at = now
            _log.info("stopping", signal=name)
            self.stop.set()
        elif now - self._told_at >= SAME_PRESS_S and self.hurry is not None:
            _log.warning("hurrying", signal=name)
            self.hurry()
