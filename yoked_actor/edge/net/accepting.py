"""Accepts connections on listening sockets."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Sequence

import structlog
import trio

from yoked_actor.edge.net.limits import EdgeLimits

_OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}

_log = structlog.get_logger()

Peer = tuple[str, int]
"""The address and port of a client."""


def prepare_listener(listener: socket.socket, limits: EdgeLimits) -> None:
    """Set the options that accepted sockets inherit, which saves two system calls for each."""
    listener.setblocking(False)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.send_buffer_bytes)
    if listener.family in (socket.AF_INET, socket.AF_INET6):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


async def accept_connections(
    listener: socket.socket,
    limits: EdgeLimits,
    admit: Callable[[socket.socket, Peer], None],
    count_open: Callable[[], int],
) -> None:
    """Pass each new connection to `admit`, until the listener is closed."""
    while True:
        try:
            await trio.lowlevel.wait_readable(listener)
            for _ in range(limits.accept_batch):
                sock, address = listener.accept()
                admit(sock, (str(address[0]), int(address[1])))
        except (BlockingIOError, InterruptedError):
            continue
        except (trio.ClosedResourceError, ValueError):
            return
        except OSError as error:
            if error.errno in _OUT_OF_RESOURCES:
                _log.error("accept_failed", error=str(error), open=count_open())
                await trio.sleep(limits.accept_pause_s)
            elif error.errno in (errno.EBADF, errno.EINVAL):
                return


def close_listeners(listeners: Sequence[socket.socket]) -> None:
    """Close listening sockets; `accept_connections` returns. Does nothing when they are closed."""
    for listener in listeners:
        if listener.fileno() >= 0:
            trio.lowlevel.notify_closing(listener)
            listener.close()
