"""`yoked-actor demo`, as a first-time user runs it."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio

from tests.process.server import PATIENCE_S, environment, run_cli, running_server
from yoked_actor.client import Api, open_client
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process

SECRET = "thirty-two bytes or more of a secret that is none"
READY = "yoked-actor ready on "


@contextmanager
def running_demo(data_dir: Path, *flags: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a demo; yields the process and its address."""
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "yoked_actor", "demo"),
            *("--port", "0", "--data", str(data_dir), *flags),
        ],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            assert first.startswith(f"{READY}http://127.0.0.1:"), first
            yield process, first.removeprefix(READY).strip()
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_single_visitor_is_matched_and_a_signal_ends_the_demo_with_0(tmp_path, number):
    with running_demo(tmp_path / "demo", "--people", "6") as (process, url):
        token = await Api(url).login("vera", make_profile("Vera"))
        with trio.fail_after(PATIENCE_S):
            async with open_client(url, token) as vera:
                await vera.spin()
                matched = await vera.wait_for("matched")
                assert matched.partner["user_id"].startswith("demo-")
                assert matched.partner["display_name"].endswith(" (demo)")
                # The simulated person has moved into the visitor's distance limit.
                assert matched.partner["distance_km"] <= 100
                await vera.acknowledge(matched.match_id)
                await vera.wait_for("voting")
                await vera.vote(matched.match_id, "yes")
                date = await vera.wait_for("date_started")
                assert (await vera.wait_for("signal")).data["kind"] == "demo"
                # During a date, with all clients connected.
                process.send_signal(number)
                told = await vera.wait_for("draining", "date_ended")
                assert told.type == "draining", date
        code = await trio.to_thread.run_sync(process.wait, 20)
        assert process.stdout is not None
        assert process.stderr is not None
        rest, errors = process.stdout.read(), process.stderr.read()
    assert code == 0, errors
    assert "Open that address" in rest
    assert "6 simulated people" in rest
    assert errors == ""


def test_a_demo_continues_on_its_own_data_and_refuses_other_data(tmp_path):
    own, other = tmp_path / "demo", tmp_path / "real"
    for _ in range(2):
        with running_demo(own, "--people", "1"):
            assert "made-up people" in (own / "DEMO").read_text()
    with running_server(other):
        pass
    refused = run_cli("demo", "--port", "0", "--data", str(other))
    assert refused.returncode == 1
    assert "holds a database that does not belong to a demo" in refused.stderr
    assert not (other / "DEMO").exists()
    assert "Traceback" not in refused.stderr


def test_a_server_without_dev_refuses_the_data_of_a_demo(tmp_path):
    with running_demo(tmp_path / "demo", "--people", "1"):
        pass
    flags = ("serve", "--port", "0", "--data", str(tmp_path / "demo"))
    refused = run_cli(*flags, auth__secret=SECRET)
    assert refused.returncode == 1
    assert "holds demo data" in refused.stderr
    with running_server(tmp_path / "demo", port=0) as server:
        assert server.is_running()
