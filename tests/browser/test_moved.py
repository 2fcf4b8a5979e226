"""yoked.js follows to the node that serves the user's room."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest
import trio
from playwright.sync_api import Browser

from tests.client.nodes import Node, serve
from tests.process.server import ServerProcess

PROGRAM = """
async (urls) => {
  const { Api, connect } = await import("/yoked.js");
  BODY
}
"""


@pytest.fixture
def nodes() -> Iterator[list[Node]]:
    """Two nodes: the first sends clients to the second."""
    second = Node()
    first = Node(lambda: second.url)
    is_open, is_over = Event(), Event()

    async def run() -> None:
        async with serve(first, second):
            is_open.set()
            await trio.to_thread.run_sync(is_over.wait)

    thread = Thread(target=trio.run, args=(run,))
    thread.start()
    assert is_open.wait(10)
    yield [first, second]
    is_over.set()
    thread.join(10)


@pytest.fixture
def run(browser: Browser, server: ServerProcess) -> Iterator[Any]:
    """Run a program in a page of a server; the policy of the page does not apply."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(server.url)
    yield lambda body, *urls: page.evaluate(PROGRAM.replace("BODY", body), list(urls))
    context.close()


def test_a_client_follows_to_the_node_that_serves_the_room(run: Any, nodes: list[Node]) -> None:
    first, second = nodes
    snapshot, url, calls = run(
        """
        const client = connect({ url: urls[0], token: "token" });
        const snapshot = await client.welcomed();
        const reached = [client.url, client.api.url];
        client.close();
        return [snapshot, ...reached];
        """,
        first.url,
    )
    assert snapshot["state"] == "idle"
    assert url == second.url.replace("http", "ws") + "/ws"
    assert calls == second.url
    assert [hello["token"] for hello in first.hellos + second.hellos] == ["token", "token"]


def test_a_client_that_enters_a_room_of_another_node_is_there_when_the_promise_resolves(
    run: Any, nodes: list[Node]
) -> None:
    first, second = nodes
    first.to, first.other = (lambda: None), second
    reply, rooms = run(
        """
        const client = connect({ url: urls[0], token: "token" });
        await client.welcomed();
        const rooms = [client.room];
        const { room } = await client.enterRoom("friday");
        rooms.push(client.room);
        client.close();
        return [room, rooms];
        """,
        first.url,
    )
    assert reply == "friday"
    assert rooms == ["main", "friday"]
    assert (len(first.hellos), len(second.hellos)) == (1, 1)


def test_a_client_that_is_sent_in_circles_pauses(run: Any, nodes: list[Node]) -> None:
    first, second = nodes
    second.to = lambda: first.url
    hops = run(
        """
        const client = connect({ url: urls[0], token: "token" });
        const pauses = [];
        const over = new Promise((resolve) => client.addEventListener("status", ({ detail }) => {
          pauses.push(detail.retry_in_s);
          if (detail.retry_in_s > 0) resolve();
        }));
        await over;
        client.close();
        return pauses.filter((pause) => pause === 0).length;
        """,
        first.url,
    )
    assert hops == 5
    assert len(first.hellos) + len(second.hellos) == 6


def test_a_client_returns_to_the_first_node_when_the_other_is_gone(
    run: Any, nodes: list[Node]
) -> None:
    first, _ = nodes
    first.to = lambda: "http://127.0.0.1:1" if len(first.hellos) == 1 else None
    state = run(
        """
        const client = connect({ url: urls[0], token: "token" });
        const { state } = await client.welcomed();
        client.close();
        return state;
        """,
        first.url,
    )
    assert state == "idle"
    assert len(first.hellos) == 2


def test_a_client_leaves_a_node_that_hangs_and_returns_to_the_first_one(
    run: Any, nodes: list[Node]
) -> None:
    first, second = nodes
    first.to = lambda: second.url if len(first.hellos) == 1 else None
    second.hangs, second.heartbeat_every_s = True, 0.1
    url = run(
        """
        const client = connect({ url: urls[0], token: "token" });
        await client.welcomed();
        await new Promise((resolve) => client.addEventListener("welcome", resolve, { once: true }));
        const { url } = client.api;
        client.close();
        return url;
        """,
        first.url,
    )
    assert url == first.url
    assert (len(first.hellos), len(second.hellos)) == (2, 1)
