"""`yoked-actor serve`: one process, one port, one data directory."""

from __future__ import annotations

import signal
import ssl
import time
from datetime import datetime, timedelta

import pytest
import trio
import trustme

from tests.edge.raw_client import CLOSE, frame
from tests.process.server import PATIENCE_S, run_cli, running_server
from tests.process.visitors import receive, welcomed
from yoked_actor.client import Api, CallRefused, open_client
from yoked_actor.client.dialing import Address
from yoked_actor.settings import Settings
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process


@pytest.fixture
def server(tmp_path):
    with running_server(tmp_path / "data") as server:
        yield server


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server that several tests share."""
    with running_server(tmp_path_factory.mktemp("shared") / "data") as server:
        yield server


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains_notifies_clients_and_exits_with_0(server, number):
    async with welcomed(server, "ana") as raw:
        with trio.fail_after(PATIENCE_S):
            server.signal(number)
            draining = await receive(raw)
            assert draining["type"] == "draining"
            assert draining["reconnect_after_s"] > 0
            opcode, payload = await raw.receive()
            assert opcode == CLOSE
            assert int.from_bytes(payload[:2]) == 4010
            await raw.stream.send_all(frame(CLOSE, payload[:2]))
            assert await trio.to_thread.run_sync(server.wait) == 0


async def test_a_drained_client_keeps_its_place_on_the_next_server(server):
    token = await Api(server.url).login("ana", make_profile("Ana"))
    async with open_client(server.url, token) as ana:
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        assert await trio.to_thread.run_sync(server.stop) == 0
        await trio.to_thread.run_sync(server.start)
        with trio.fail_after(PATIENCE_S):
            assert (await ana.wait_for("draining")).reconnect_after_s > 0
            welcome = await ana.wait_for("welcome")
        assert welcome.snapshot["state"] == "waiting"
        assert welcome.snapshot["waiting_since"] == since
    profile = await Api(server.url, token).call("GET", "/api/profile")
    assert profile["display_name"] == "Ana", "the token is still valid"


async def test_port_0_takes_a_free_port_and_says_which(tmp_path):
    with running_server(tmp_path / "data", port=0) as server:
        assert server.url == f"http://127.0.0.1:{server.port}"
        assert server.port > 0
        assert await Api(server.url).call("GET", "/readyz") == {"status": "ok"}


def test_the_wal_has_its_length_after_the_first_jobs(shared):
    """They truncate the WAL, so that deleted rows are not in it."""
    until = time.monotonic() + PATIENCE_S
    while not any(
        line["event"] == "job_completed" and line["type"] == "store.prune"
        for line in shared.log_lines()
    ):
        assert time.monotonic() < until
        time.sleep(0.05)
    length = (shared.data_dir / "yoked.db-wal").stat().st_size
    pages = Settings().store.checkpoint_pages
    assert pages * 4096 < length < pages * 4096 * 1.1


def test_a_second_server_on_the_same_data_directory_is_refused(shared):
    second = run_cli("serve", "--dev", "--port", "0", "--data", str(shared.data_dir))
    assert second.returncode == 1
    assert f"{shared.data_dir} is in use by another server" in second.stderr
    assert "Traceback" not in second.stderr
    assert second.stdout == ""
    assert shared.is_running()


def test_a_taken_port_is_refused(shared, tmp_path):
    second = run_cli(
        "serve", "--dev", "--port", str(shared.port), "--data", str(tmp_path / "another")
    )
    assert second.returncode == 1
    assert str(shared.port) in second.stderr
    assert "in use" in second.stderr
    assert "Traceback" not in second.stderr


async def test_a_token_of_the_command_line_is_accepted(shared):
    printed = run_cli("token", "ana", "--dev", "--data", str(shared.data_dir), "--ttl", "5m")
    assert printed.returncode == 0
    ana = Api(shared.url, printed.stdout.strip())
    assert (await ana.call("GET", "/api/match/status"))["state"] == "idle"
    stranger = Api(shared.url, printed.stdout.strip()[:-3] + "xyz")
    with pytest.raises(CallRefused) as refused:
        await stranger.call("GET", "/api/match/status")
    assert refused.value.code == "unauthorized"


async def test_on_a_mock_clock_a_client_without_heartbeats_is_lost_after_ten_seconds(
    tmp_path,
):
    with running_server(
        tmp_path / "data", "--mock-clock", "--mock-clock-start", "2027-03-01T00:00:00Z"
    ) as server:
        api = Api(server.url)

        async def advance(seconds: float) -> datetime:
            answer = await api.call("POST", "/api/dev/clock/advance", {"seconds": seconds})
            return datetime.fromisoformat(answer["at"])

        ana_token = await Api(server.url).login("ana", make_profile("Ana"))
        eva_token = await Api(server.url).login("eva", make_profile("Eva"))
        async with (
            open_client(server.url, ana_token) as ana,
            open_client(server.url, eva_token) as eva,
        ):
            ana.beating = eva.beating = False
            await ana.spin()
            await eva.spin()
            start = datetime.fromisoformat((await ana.wait_for("waiting")).since)
            assert start.isoformat() == "2027-03-01T00:00:00+00:00"
            assert await advance(7) == start + timedelta(seconds=7)
            assert datetime.fromisoformat((await eva.heartbeat()).at) == start + timedelta(
                seconds=7
            )
            assert await advance(9.5) == start + timedelta(seconds=16.5)
            with trio.fail_after(PATIENCE_S):
                idle = await ana.wait_for("idle")
            assert idle.reason == "lost"
            assert datetime.fromisoformat(idle.at) == start + timedelta(seconds=10)
            assert (await eva.spin()).state == "waiting"
            told = [(event.type, event.fields.get("tier")) for event in eva.pending_events()]
            assert told == [("waiting", None), ("tier", 2), ("tier", 99)]

            await advance(3600)
            with trio.fail_after(PATIENCE_S):
                assert (await eva.wait_for("idle")).reason == "lost"
                await ana.heartbeat()
                await eva.heartbeat()
            assert (ana.welcomes, eva.welcomes) == (1, 1), "frozen time does not close connections"


async def test_moving_the_mock_clock_cuts_no_request_and_no_kept_connection(tmp_path):
    """Browsers open connections in advance, keep used ones, and send bodies slowly."""
    request = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    body = b'{"user_id": "ana"}'
    login = (
        b"POST /api/dev/login HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    )
    with running_server(tmp_path / "data", "--mock-clock") as server:
        with trio.fail_after(PATIENCE_S):
            opened_ahead, kept, half_sent = [
                await trio.open_tcp_stream("127.0.0.1", server.port) for _ in range(3)
            ]
            async with opened_ahead, kept, half_sent:
                await kept.send_all(request)
                answer = b""
                while not answer.endswith(b"}"):
                    answer += await kept.receive_some()
                assert answer.startswith(b"HTTP/1.1 200")
                await half_sent.send_all(login)
                await Api(server.url).call("POST", "/api/dev/clock/advance", {"seconds": 3600})
                await half_sent.send_all(body)
                for stream in (opened_ahead, kept):
                    await stream.send_all(request)
                for stream in (opened_ahead, kept, half_sent):
                    assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")


async def test_a_server_on_a_mock_clock_stops_although_a_client_stays_connected(tmp_path):
    with running_server(tmp_path / "data", "--mock-clock", server__drain_s=1) as server:
        async with welcomed(server, "ana"):
            assert await trio.to_thread.run_sync(server.stop) == 0


async def test_tls_by_certificate_settings(tmp_path):
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "certificate.pem")
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with running_server(
        tmp_path / "data",
        edge__tls_certificate=tmp_path / "certificate.pem",
        edge__tls_key=tmp_path / "key.pem",
    ) as server:
        assert server.url.startswith("https://127.0.0.1:")
        dial = Address.parse(server.url).dial(trusting)
        with trio.fail_after(PATIENCE_S):
            ana = Api(server.url, dial=dial)
            ben = Api(server.url, dial=dial)
            await ana.login("ana", make_profile("Ana", gender="woman", seeking=["man"]))
            await ben.login("ben", make_profile("Ben", gender="man", seeking=["woman"]))
            assert ana.token is not None
            async with open_client(server.url, ana.token, dial=dial) as client:
                await client.spin()
                spun = await ben.call("POST", "/api/spin")
                assert (await client.wait_for("matched")).match_id == spun["match_id"]
        assert await trio.to_thread.run_sync(server.stop) == 0
