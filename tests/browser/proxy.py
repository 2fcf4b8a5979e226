"""A proxy that passes HTTP on and refuses every WebSocket, as some networks do."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_UPGRADE = re.compile(rb"^upgrade:", re.IGNORECASE | re.MULTILINE)
_KEEP_ALIVE = re.compile(rb"^connection:.*\r\n", re.IGNORECASE | re.MULTILINE)


@contextmanager
def proxy_without_sockets(port: int) -> Iterator[str]:
    """The address of a proxy to a port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_accept, args=(listener, port), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def _accept(listener: socket.socket, port: int) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_pass_on, args=(client, port), daemon=True).start()


def _pass_on(client: socket.socket, port: int) -> None:
    """Pass one request and its response on; the next one comes over a new connection."""
    with client:
        head = b""
        while b"\r\n\r\n" not in head:
            part = client.recv(65536)
            if not part:
                return
            head += part
        if _UPGRADE.search(head):
            client.sendall(
                b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return
        head, _, body = head.partition(b"\r\n\r\n")
        wanted = re.search(rb"^content-length: *(\d+)", head, re.IGNORECASE | re.MULTILINE)
        while wanted and len(body) < int(wanted[1]):
            body += client.recv(65536)
        with socket.create_connection(("127.0.0.1", port)) as server:
            head = _KEEP_ALIVE.sub(b"", head + b"\r\n") + b"Connection: close\r\n\r\n"
            server.sendall(head + body)
            while part := server.recv(65536):
                client.sendall(part)
