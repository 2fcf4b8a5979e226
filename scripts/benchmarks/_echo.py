"""The reference: a bare trio TCP echo server, and the cost of one echo.

How fast a machine is today shows in this number too, so a ratio of the two carries over from one
machine to another, and from a quiet hour to a busy one.
"""

from __future__ import annotations

import select
import socket
import sys
import time
from pathlib import Path

import trio

from scripts.benchmarks._process import running

_MESSAGE = b"x" * 64


async def _echo(stream: trio.SocketStream) -> None:
    async for data in stream:
        await stream.send_all(data)


async def _serve() -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    print(f"ready on http://127.0.0.1:{port}", flush=True)
    await trio.serve_listeners(_echo, listeners)


def cpu_us_per_echo(log: Path, core: set[int] | None, clients: int, seconds: float) -> float:
    """Server CPU, in microseconds, of one echo with so many clients at full load."""
    command = [sys.executable, "-m", "scripts.benchmarks._echo"]
    with running(command, {}, log, core) as server:
        poll = select.epoll()
        socks = {}
        for _ in range(clients):
            sock = socket.create_connection(("127.0.0.1", server.port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.send(_MESSAGE)
            socks[sock.fileno()] = sock
            poll.register(sock, select.EPOLLIN)
        try:
            _run(poll, socks, 0.5)
            before = server.cpu_s()
            echoes = _run(poll, socks, seconds)
            return (server.cpu_s() - before) / echoes * 1e6
        finally:
            for sock in socks.values():
                sock.close()


def _run(poll: select.epoll, socks: dict[int, socket.socket], seconds: float) -> int:
    echoes = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for number, _ in poll.poll(0.1):
            socks[number].recv(4096)
            socks[number].send(_MESSAGE)
            echoes += 1
    return echoes


if __name__ == "__main__":
    try:
        trio.run(_serve)
    except KeyboardInterrupt:
        pass
