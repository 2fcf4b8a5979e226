"""One busy evening as a function of a seed: every byte that the server sent, in order."""

from __future__ import annotations

import hashlib
from random import Random

import trio

from tests.scenarios.meeting import MAN, WOMAN
from yoked_actor.client import CommandRefused, ConnectionLost, open_client
from yoked_actor.testing import World, open_world, run

URL = "http://world.test"
PEOPLE = 10


class Tapped(trio.abc.Stream):
    """A stream that records what it receives after the handshake, whose key is random."""

    def __init__(
        self, stream: trio.abc.Stream, name: str, transcript: list[tuple[str, bytes]]
    ) -> None:
        self._stream, self._name, self._transcript = stream, name, transcript
        self._open = False

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        data = bytes(await self._stream.receive_some(max_bytes))
        said = data
        if not self._open and b"\r\n\r\n" in data:
            self._open, said = True, data.partition(b"\r\n\r\n")[2]
        if said and self._open:
            self._transcript.append((self._name, said))
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()


def transcript(seed: int) -> list[tuple[str, bytes]]:
    """Everything that was sent to clients on that evening."""
    said: list[tuple[str, bytes]] = []

    async def evening() -> None:
        async with open_world(seed=seed) as world, trio.open_nursery() as nursery:
            for n in range(PEOPLE):
                await world.sign_up(f"p{n}", **(WOMAN if n % 2 else MAN))
            for n in range(PEOPLE):
                nursery.start_soon(live, world, f"p{n}")

    async def live(world: World, name: str) -> None:
        random = Random(f"{seed} {name}")

        async def dial() -> trio.abc.Stream:
            return Tapped(await world.dial()(), name, said)

        async with open_client(URL, world.token(name), dial=dial) as client:
            for _ in range(40):
                await trio.sleep(random.choice((0, 0.5, 1)))
                matches = [e.match_id for e in client.pending_events() if "match_id" in e.fields]
                try:
                    for match_id in matches[-1:]:
                        await client.acknowledge(match_id)
                        await client.vote(match_id, random.choice(("yes", "pass")))
                    if random.random() < 0.1:
                        await client.drop()
                    elif random.random() < 0.5:
                        await client.spin()
                except (CommandRefused, ConnectionLost):
                    pass

    run(evening, seed=seed)
    return said


def digest(seed: int) -> str:
    """The digest of the evening."""
    told = transcript(seed)
    return f"{len(told)} {hashlib.sha256(repr(told).encode()).hexdigest()}"
