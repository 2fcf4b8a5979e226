"""Signals to a real process: drain, stop immediately, reload the settings."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import trio

from tests.process.server import PATIENCE_S, ServerProcess, environment, running_server
from tests.process.witnesses import until
from yoked_actor.client import Api, CallRefused, Client, open_client
from yoked_actor.edge.auth import Tokens
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process

SECRET = "a secret of thirty-two bytes or more, for tokens"


async def log_in(server: ServerProcess, user_id: str, gender: str, seeking: str) -> str:
    profile = make_profile(user_id, gender=gender, seeking=[seeking])
    return await Api(server.url).login(user_id, profile)


async def open_voting(ana: Client, ben: Client) -> str:
    await ana.spin()
    await ben.spin()
    match_id = (await ana.wait_for("matched")).match_id
    for client in (ana, ben):
        await client.acknowledge(match_id)
    for client in (ana, ben):
        await client.wait_for("voting")
    return str(match_id)


async def readiness(server: ServerProcess) -> str:
    answer = await Api(server.url).request("GET", "/readyz")
    return f"{answer.status} {answer.json()['status']}"


async def test_a_drain_waits_for_a_vote_and_the_server_is_not_ready_meanwhile(tmp_path):
    with running_server(tmp_path / "data", server__drain_votes_s=PATIENCE_S) as server:
        hers = await log_in(server, "ana", "woman", "man")
        his = await log_in(server, "ben", "man", "woman")
        with trio.fail_after(PATIENCE_S):
            async with open_client(server.url, hers) as ana, open_client(server.url, his) as ben:
                match_id = await open_voting(ana, ben)
                await ana.vote(match_id, "yes")
                server.signal(signal.SIGTERM)
                await until(server, lambda: '"draining"' in server.log, "it drains")
                assert await readiness(server) == "503 draining"
                with pytest.raises(CallRefused) as refused:
                    await Api(server.url, hers).call("POST", "/api/spin")
                assert refused.value.code == "draining"
                await ben.vote(match_id, "yes")
                assert (await ana.wait_for("outcome")).outcome == "both_yes"
                await ana.wait_for("draining")
                assert await trio.to_thread.run_sync(server.wait) == 0


async def test_a_second_signal_stops_immediately(tmp_path):
    with running_server(tmp_path / "data", server__drain_votes_s=10 * PATIENCE_S) as server:
        hers = await log_in(server, "ana", "woman", "man")
        his = await log_in(server, "ben", "man", "woman")
        with trio.fail_after(PATIENCE_S):
            async with open_client(server.url, hers) as ana, open_client(server.url, his) as ben:
                await open_voting(ana, ben)
                server.signal(signal.SIGTERM)
                await until(server, lambda: '"draining"' in server.log, "it drains")
                await trio.sleep(1.1)
                server.signal(signal.SIGTERM)
                assert await trio.to_thread.run_sync(server.wait) == 0
        assert '"hurrying"' in server.log


async def test_an_operator_can_drain_over_http(tmp_path):
    with running_server(tmp_path / "data", auth__secret=SECRET, dev=False) as server:
        token = operators_token()
        answer = await Api(server.url, token).call("POST", "/api/admin/drain")
        assert answer["status"] == "draining"
        assert await trio.to_thread.run_sync(server.wait) == 0


def operators_token() -> str:
    return Tokens("HS256", SECRET).sign("root", time.time_ns() // 1000, 600.0, admin=True)


async def test_sighup_reloads_the_settings_and_logs_which_need_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(tmp_path / "notify"))
    manager.settimeout(PATIENCE_S)
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    file = tmp_path / "yoked.toml"
    file.write_text("[jobs]\nalert_depth = 5\n")
    with running_server(
        tmp_path / "data", "--config", str(file), dev=False, auth__secret=SECRET
    ) as server:
        assert manager.recv(1000).startswith(b"READY=1")
        file.write_text('[jobs]\nalert_depth = 6\nconcurrency = 3\n[log]\nlevel = "debug"\n')
        server.signal(signal.SIGHUP)
        assert manager.recv(1000).startswith(b"RELOADING=1\nMONOTONIC_USEC=")
        assert manager.recv(1000).startswith(b"READY=1")
        lines = {line["event"]: line for line in map(json.loads, server.log.splitlines())}
        assert lines["settings_reloaded"]["changed"] == ["jobs.alert_depth", "log.level"]
        assert lines["settings_not_reloaded"]["names"] == ["jobs.concurrency"]

        file.write_text("[jobs]\nalert_depth = 'many'\n")
        server.signal(signal.SIGHUP)
        assert manager.recv(1000).startswith(b"RELOADING=1")
        assert manager.recv(1000).startswith(b"READY=1")
        lines = {line["event"]: line for line in map(json.loads, server.log.splitlines())}
        assert "jobs.alert_depth" in lines["settings_not_usable"]["problems"][0]
        assert await readiness(server) == "200 ok"
        assert await trio.to_thread.run_sync(server.stop) == 0
    manager.close()


async def test_a_closed_terminal_ends_a_server_in_development(tmp_path):
    with running_server(tmp_path / "data") as server:
        server.signal(signal.SIGHUP)
        assert await trio.to_thread.run_sync(server.wait) == 0


PRESSED_TWICE = """
import os, signal, trio
from yoked_actor.app.process.signals import Orders, heard_signals

async def serve():
    orders = Orders()
    with heard_signals() as signals:
        async with trio.open_nursery() as beside:
            beside.start_soon(orders.hear, signals)
            print("ready", flush=True)
            await orders.stop.wait()
            beside.cancel_scope.cancel()

trio.run(serve)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    os.kill(os.getpid(), number)
print("over", flush=True)
"""


def test_a_late_signal_does_not_change_the_exit_status():
    with subprocess.Popen(
        [sys.executable, "-c", PRESSED_TWICE],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.read().endswith("over\n")
        assert process.wait(PATIENCE_S) == 0
