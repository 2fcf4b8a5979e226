"""The listening sockets of a server."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from yoked_actor.edge.net import open_listeners
from yoked_actor.settings import Settings


class CannotListen(OSError):
    """The sockets cannot be opened; the message says what to do."""


def _why(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use; choose another one with --port (0 picks a free one),"
            " or stop the program that uses it"
        )
    if error.errno == errno.EACCES:
        return f"port {port} of {host} needs special rights; choose another one with --port"
    return f"cannot listen on {host}, port {port}: {error.strerror or error}; see --host and --port"


@contextmanager
def opened_listeners(settings: Settings) -> Iterator[list[socket.socket]]:
    """Open the sockets before the server starts, and close them after it has stopped."""
    host, port = settings.server.host, settings.server.port
    try:
        listeners = open_listeners(host, port)
    except OSError as error:
        raise CannotListen(_why(host, port, error)) from None
    with ExitStack() as stack:
        for listener in listeners:
            stack.callback(listener.close)
        yield listeners
