"""The listening sockets of a server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from yoked_actor.edge.net import open_listeners
from yoked_actor.settings import Settings


@contextmanager
def opened_listeners(settings: Settings) -> Iterator[list[socket.socket]]:
    """Open the sockets before the server starts, and close them after it has stopped."""
    listeners = open_listeners(settings.server.host, settings.server.port)
    with ExitStack() as stack:
        for listener in listeners:
            stack.callback(listener.close)
        yield listeners
