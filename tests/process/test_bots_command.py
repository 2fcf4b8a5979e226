"""`yoked-actor bots` against real servers."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
import trio

from tests.process.server import PATIENCE_S, environment, run_cli, running_server
from yoked_actor.client import Api

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("bots") / "data") as server:
        yield server


def test_bots_run_for_the_given_time_and_print_a_summary(server):
    played = run_cli("bots", "--users", "20", "--seconds", "6", "--seed", "4", "--url", server.url)
    assert played.returncode == 0, played.stderr
    lines = played.stdout.splitlines()
    assert lines[0].startswith("5 s: connected ")
    assert lines[1].startswith("20 guests, 20 at a time, for ")
    assert "seed 4" in lines[1]
    assert "errors: none" in lines
    assert server.read("SELECT count(*) FROM people WHERE user_id LIKE 'bot4-%'") == [(20,)]
    [(matches,)] = server.read("SELECT count(*) FROM matches")
    assert matches


def test_rooms_are_added_to_a_running_server_and_bots_spread_over_them(server):
    token = trio.run(Api(server.url).login, "ana")

    def rooms() -> list[str]:
        listed = trio.run(Api(server.url, token).rooms)
        return [one["room"] for one in listed]

    for room in ("jazz", "rock"):
        added = run_cli("rooms", "add", room, "--data", str(server.data_dir))
        assert added.returncode == 0, added.stderr
        assert "at once" in added.stdout
    end = time.monotonic() + PATIENCE_S
    while rooms() != ["main", "jazz", "rock"]:
        assert time.monotonic() < end, "the server has not noticed the rooms"
        time.sleep(0.05)
    flags = ("--users", "20", "--seconds", "5", "--seed", "8", "--room", "jazz,rock")
    played = run_cli("bots", *flags, "--url", server.url)
    assert played.returncode == 0, played.stderr
    seats = server.read("SELECT DISTINCT room FROM seats WHERE user_id LIKE 'bot8-%' ORDER BY room")
    assert seats == [("jazz",), ("rock",)]
    [(matches,)] = server.read("SELECT count(*) FROM matches WHERE room IN ('jazz', 'rock')")
    assert matches


def test_what_is_no_id_of_a_room_is_a_usage_error():
    refused = run_cli("bots", "--room", "jazz,Rock")
    assert refused.returncode == 2
    assert "'Rock' is no id of a room" in refused.stderr


def test_ctrl_c_ends_it_with_the_summary(server):
    command = [sys.executable, "-m", "yoked_actor", "bots", "--users", "5", "--seed", "7"]
    with subprocess.Popen(
        [*command, "--url", server.url],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as bots:
        try:
            end = time.monotonic() + PATIENCE_S
            while server.read("SELECT count(*) FROM seats WHERE user_id LIKE 'bot7-%'") != [(5,)]:
                assert time.monotonic() < end, "the bots have not connected"
                time.sleep(0.05)
            bots.send_signal(signal.SIGINT)
            rest, errors = bots.communicate(timeout=PATIENCE_S)
        finally:
            bots.kill()
    assert bots.returncode == 0, errors
    assert "5 guests, 5 at a time" in rest
    assert "Traceback" not in errors


def test_a_server_without_dev_mode_is_refused(tmp_path):
    secret = "thirty-two bytes or more of a secret that is none"
    with running_server(tmp_path / "data", dev=False, auth__secret=secret) as server:
        tried = run_cli("bots", "--seconds", "1", "--url", server.url)
    assert tried.returncode == 1
    assert "does not run with --dev" in tried.stderr
    assert "Traceback" not in tried.stderr
