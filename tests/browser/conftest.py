"""A real browser, Debian's Chromium, and a real server for each file of tests.

The browser lives no longer than its file: Playwright's event loop must not be there any more when
tests under trio come next.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests.browser.camera import write_camera_file
from tests.browser.pages import PATIENT, Person, new_context
from tests.npm import from_npm
from tests.process.server import ServerProcess, running_server

AXE_VERSION = "4.14.0"
CHROMIUM = ("chromium", "chromium-browser")
HEADLESS_SHELL = "chromium-headless-shell"
"""The same engine without windows: it needs half of the CPU."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    # Otherwise ICE candidates are mDNS names, which need multicast to resolve.
    # A spare renderer would be started for each of the many contexts, and not be used.
    "--disable-features=WebRtcHideLocalIpsWithMdns,SpareRendererForSitePerProcess",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]
_numbers = count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests in this folder as browser tests."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def camera(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The video file that Chromium uses as its camera."""
    path = tmp_path_factory.mktemp("camera") / "somebody.y4m"
    write_camera_file(path)
    return path


@pytest.fixture(scope="module")
def programs() -> tuple[str, ...]:
    """The browsers that the tests of a file can use, best first; a file may override them."""
    return HEADLESS_SHELL, *CHROMIUM


@pytest.fixture(scope="module")
def browser(camera: Path, programs: tuple[str, ...]) -> Iterator[Browser]:
    """Chromium, with a fake camera."""
    path = next(filter(None, map(shutil.which, programs)), None)
    if path is None:
        pytest.skip("there is no Chromium here: install Debian's package chromium")
    with sync_playwright() as playwright:
        flags = [*FLAGS, f"--use-file-for-fake-video-capture={camera}"]
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """Settings of the server of a test file; a file may override them."""
    return PATIENT | {"matching__vote_window_s": 30}


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any]
) -> Iterator[ServerProcess]:
    """The server of a test file."""
    with running_server(tmp_path_factory.mktemp("server") / "data", **settings) as server:
        yield server


@pytest.fixture(scope="module")
def motion() -> str:
    """Whether pages may move; a file may override it."""
    return "reduce"


@pytest.fixture
def contexts(browser: Browser, motion: str) -> Iterator[Callable[..., BrowserContext]]:
    """Opens separate browser contexts, and closes them after the test."""
    opened: list[BrowserContext] = []

    def open_context(**options: Any) -> BrowserContext:
        opened.append(new_context(browser, **({"reduced_motion": motion} | options)))
        return opened[-1]

    yield open_context
    for context in opened:
        context.close()


@pytest.fixture
def new_person(
    contexts: Callable[..., BrowserContext], server: ServerProcess
) -> Iterator[Callable[..., Person]]:
    """Creates people, each in a separate browser context; their pages must not log errors."""
    people: list[Person] = []

    def make(name: str, **options: Any) -> Person:
        person = Person(contexts(**options), server, f"{name}-{next(_numbers)}")
        people.append(person)
        return person

    yield make
    assert [problem for person in people for problem in person.problems] == []


@pytest.fixture
def couple(new_person: Callable[..., Person]) -> tuple[Person, Person]:
    """A woman and a man who are compatible, signed in."""
    ana, ben = new_person("ana"), new_person("ben")
    ana.has_profile(interests=["jazz", "climbing", "old maps"])
    ben.has_profile(gender="man", seeking=["woman"], interests=["jazz", "night trains"])
    for person in (ana, ben):
        person.sign_in_by_token()
    for person in (ana, ben):
        person.at_home()
    return ana, ben


@pytest.fixture(scope="session")
def axe() -> Path:
    """The accessibility checker axe-core."""
    return from_npm("axe-core", AXE_VERSION) / "axe-core" / "axe.min.js"
