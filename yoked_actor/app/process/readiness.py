"""Notifies the service manager: ready, stopping, reloading, alive (sd_notify).

The protocol is a datagram of `KEY=value` lines to the socket that systemd names in NOTIFY_SOCKET.
Without that variable nothing is sent. The watchdog is reset only when the matchmaker has run
a round since the last time: a timer alone would also report a matchmaker that hangs.
"""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Awaitable, Callable, Mapping

import structlog
import trio

_log = structlog.get_logger()


class Notifier:
    """Sends to the service manager, if there is one. Never blocks, never raises."""

    def __init__(self, address: str | None) -> None:
        self._address = address and _socket_address(address)

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Notifier:
        """A notifier for the address in the environment."""
        return cls(environment.get("NOTIFY_SOCKET") or None)

    def ready(self, status: str) -> None:
        """Clients are served from now on (and again, after a reload)."""
        self._send("READY=1", f"STATUS={status}")

    def stopping(self) -> None:
        """The server drains."""
        self._send("STOPPING=1", "STATUS=draining")

    def reloading(self, now_s: float) -> None:
        """Settings are read again; `ready` follows. `now_s` is of the system's monotonic clock."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={int(now_s * 1_000_000)}")

    def alive(self) -> None:
        """Reset the watchdog."""
        self._send("WATCHDOG=1")

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
                sender.setblocking(False)
                sender.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            _log.warning("service_manager_not_told", error=str(error), about=lines[0])


async def feed_watchdog(
    notifier: Notifier, every_s: float, alive: Callable[[], Awaitable[None]]
) -> None:
    """Reset the watchdog each time `alive` has returned.

    While `alive` does not return, the watchdog is not reset.
    """
    if math.isinf(every_s):
        return
    while True:
        await alive()
        notifier.alive()
        await trio.sleep(every_s)


def watchdog_interval_s(environment: Mapping[str, str], pids: tuple[int, ...] = ()) -> float:
    """The interval for `feed_watchdog`: half of the time-out; infinity without a watchdog.

    The variables may be meant for another process and only inherited from it. The one-file binary
    unpacks itself in a process that waits for ours, so what names our parent is ours too.
    """
    given = environment.get("WATCHDOG_USEC", "")
    meant_for = environment.get("WATCHDOG_PID", "")
    if not given.isdigit() or int(given) == 0:
        return math.inf
    if meant_for and meant_for not in {str(pid) for pid in pids or (os.getpid(), os.getppid())}:
        return math.inf
    return int(given) / 2_000_000


def _socket_address(text: str) -> str:
    """A path, or a name in the abstract space of Linux, which systemd writes with an @."""
    return "\0" + text[1:] if text.startswith("@") else text
