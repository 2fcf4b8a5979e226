"""The examples for reverse proxies, with real proxies in front of a real server."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio
import trustme

from tests.edge.raw_client import upgrade_request
from tests.process.server import PATIENCE_S, running_server
from yoked_actor.client import Api, open_client
from yoked_actor.client.dialing import Address, Dial
from yoked_actor.settings import load_settings
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
NGINX = ROOT / "config" / "nginx" / "yoked-actor.conf"
CADDY = ROOT / "config" / "caddy" / "Caddyfile"
NAME = "dating.example.org"


def program(name: str, package: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip(f"{name} is not here; it is in Debian's package {package}")
    return found


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextmanager
def running(port: int, log: Path, *command: str | Path, **environment: str) -> Iterator[None]:
    """A proxy that listens while the block runs."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env={"PATH": "", **environment}, stdout=output, stderr=output
        )
    try:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1.0).close()
                break
            except OSError:
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.02)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("behind")
    with running_server(folder / "data", edge__trusted_proxies='["127.0.0.1"]') as server:
        yield server


@contextmanager
def behind_nginx(server_port: int, folder: Path) -> Iterator[tuple[str, Dial]]:
    nginx = program("nginx", "nginx")
    port, plain_port = free_port(), free_port()
    authority = trustme.CA()
    certificate = authority.issue_cert(NAME, "127.0.0.1")
    certificate.private_key_pem.write_to_path(folder / "privkey.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "fullchain.pem")
    site = NGINX.read_text("utf-8")
    for example, here in (
        (f"/etc/ssl/{NAME}", str(folder)),
        ("server 127.0.0.1:8080;", f"server 127.0.0.1:{server_port};"),
        ("listen 443 ", f"listen 127.0.0.1:{port} "),
        ("listen 80;", f"listen 127.0.0.1:{plain_port};"),
    ):
        assert example in site
        site = site.replace(example, here)
    site = re.sub(r"listen \[::\].*", "", site)
    (folder / "site.conf").write_text(site)
    (folder / "nginx.conf").write_text(
        f"""daemon off; pid {folder}/pid; error_log stderr warn;
        events {{}}
        http {{
            access_log off;
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
            include {folder}/site.conf;
        }}"""
    )
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    url = f"https://127.0.0.1:{port}"
    with running(port, folder / "log", nginx, "-p", folder, "-c", folder / "nginx.conf"):
        yield url, Address.parse(url).dial(trusting)
    assert (folder / "log").read_text() == ""


@contextmanager
def behind_caddy(server_port: int, folder: Path) -> Iterator[tuple[str, Dial]]:
    caddy = program("caddy", "caddy")
    port = free_port()
    site = CADDY.read_text("utf-8")
    # Without a name of its own in the world it gets no certificate: plain HTTP has to do.
    for example, here in (
        (f"{NAME} {{", f"http://127.0.0.1:{port} {{"),
        ("127.0.0.1:8080", f"127.0.0.1:{server_port}"),
    ):
        assert example in site
        site = site.replace(example, here)
    file = folder / "Caddyfile"
    file.write_text("{\n\tadmin off\n}\n" + site)
    url = f"http://127.0.0.1:{port}"
    command = (caddy, "run", "--config", file, "--adapter", "caddyfile")
    home = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with running(port, folder / "log", *command, **home):
        yield url, Address.parse(url).dial()


PROXIES = {"nginx": behind_nginx, "caddy": behind_caddy}


@pytest.fixture(params=PROXIES)
def public(request, server, tmp_path) -> Iterator[tuple[str, Dial]]:
    """The public address of a server behind a proxy, and a way to dial it."""
    with PROXIES[request.param](server.port, tmp_path) as found:
        yield found


async def test_two_meet_through_a_proxy(public, request):
    url, dial = public
    number = abs(hash(request.node.name)) % 1000
    names = {"her": f"ana{number}", "him": f"ben{number}"}
    with trio.fail_after(PATIENCE_S):
        ana, ben = Api(url, dial=dial), Api(url, dial=dial)
        hers = await ana.login(names["her"], make_profile("Ana", gender="woman", seeking=["man"]))
        his = await ben.login(names["him"], make_profile("Ben", gender="man", seeking=["woman"]))
        async with (
            open_client(url, hers, dial=dial) as her,
            open_client(url, his, dial=dial) as him,
        ):
            await her.spin()
            await him.spin()
            matched = await her.wait_for("matched")
            assert matched.partner["user_id"] == names["him"]
            for one in (her, him):
                await one.acknowledge(matched.match_id)
            for one in (her, him):
                await one.wait_for("voting")
                await one.vote(matched.match_id, "pass")
            assert (await her.wait_for("outcome")).outcome == "pass_pass"
            for one in (her, him):
                await one.leave()


async def test_what_is_for_operators_stays_inside(public, server):
    url, dial = public
    for path in ("/metrics", "/readyz", "/healthz"):
        assert (await Api(url, dial=dial).request("GET", path)).status == 404, path
        assert (await Api(server.url).request("GET", path)).status == 200, path


async def test_a_page_of_the_public_name_may_connect(public):
    """The Origin is compared with the Host that the proxy passes on."""
    url, dial = public
    host = url.partition("://")[2]
    stream = await dial()
    try:
        with trio.fail_after(PATIENCE_S):
            await stream.send_all(upgrade_request(host=host, origin=url))
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 101 ")
    finally:
        await trio.aclose_forcefully(stream)


@pytest.mark.parametrize("path", ["/api/profile", "/ws"])
@pytest.mark.parametrize("proxy", PROXIES)
async def test_a_client_cannot_say_who_it_is(proxy, path, tmp_path):
    heads: list[bytes] = []

    async def answer(stream: trio.SocketStream) -> None:
        heads.append(bytes(await stream.receive_some()))
        await stream.send_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, answer, [listener])
        with PROXIES[proxy](listener.socket.getsockname()[1], tmp_path) as (url, dial):
            host = url.partition("://")[2]
            request = upgrade_request(path, host=host, x_forwarded_for="203.0.113.9")
            stream = await dial()
            try:
                with trio.fail_after(PATIENCE_S):
                    await stream.send_all(request)
                    assert b" 403 " in await stream.receive_some()
            finally:
                await trio.aclose_forcefully(stream)
        nursery.cancel_scope.cancel()
    [head] = heads
    assert re.findall(rb"(?i)^x-forwarded-for: *(.*)\r$", head, re.MULTILINE) == [b"127.0.0.1"]


@pytest.mark.parametrize("proxy", PROXIES)
async def test_clients_do_not_share_a_connection_to_the_server(proxy, tmp_path):
    """The address and the scheme of the client are read from the first request only."""
    requests: list[int] = []

    async def answer(stream: trio.SocketStream) -> None:
        requests.append(0)
        number = len(requests) - 1
        while await stream.receive_some():
            requests[number] += 1
            await stream.send_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, answer, [listener])
        with PROXIES[proxy](listener.socket.getsockname()[1], tmp_path) as (url, dial):
            host = url.partition("://")[2]
            for _ in range(3):
                assert b" 403 " in await exchange(dial, request_head("/api/profile", host))
        nursery.cancel_scope.cancel()
    assert requests == [1, 1, 1]


SETTINGS = "HTTP2-Settings: AAMAAABkAAQAAP__"
FOREIGN_UPGRADES = {
    "h2c": ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", SETTINGS),
    "H2C": ("connection: UPGRADE, HTTP2-SETTINGS", "upgrade: H2C", SETTINGS),
    "h2c, then websocket": ("Connection: Upgrade", "Upgrade: h2c", "Upgrade: websocket", SETTINGS),
    "websocket, then h2c": ("Connection: Upgrade", "Upgrade: websocket", "Upgrade: h2c", SETTINGS),
    "a list": ("Connection: Upgrade", "Upgrade: websocket, h2c", SETTINGS),
    "anything": ("Connection: Upgrade", "Upgrade: tunnel"),
}
OTHER_SPELLINGS = ("/%77s", "//ws", "/./ws", "/x/../ws", "/WS", "/ws/", "/%2fws", "/ws%3F", "/ws;a")


def request_head(target: str, host: str, *lines: str, method: str = "GET") -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", f"Host: {host}", *lines, "", ""]).encode()


async def exchange(dial: Dial, request: bytes) -> bytes:
    """The beginning of what is answered to some bytes."""
    stream = await dial()
    try:
        with trio.fail_after(PATIENCE_S):
            await stream.send_all(request)
            return bytes(await stream.receive_some())
    finally:
        await trio.aclose_forcefully(stream)


@pytest.mark.parametrize("proxy", PROXIES)
async def test_a_proxy_passes_on_only_upgrades_to_websocket_at_the_exact_path(proxy, tmp_path):
    """The server here takes every upgrade: it is the proxy that must not ask for one."""
    upgrades: list[tuple[bytes, bytes]] = []

    async def agree(stream: trio.SocketStream) -> None:
        while head := bytes(await stream.receive_some()):
            found = re.findall(rb"(?im)^upgrade: *(.*)\r$", head)
            upgrades.extend((head.split(b" ")[1], value) for value in found)
            if found:
                await stream.send_all(
                    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
                    b"Upgrade: " + found[0] + b"\r\n\r\n"
                )
            else:
                await stream.send_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, agree, [listener])
        with PROXIES[proxy](listener.socket.getsockname()[1], tmp_path) as (url, dial):
            host = url.partition("://")[2]
            for lines in FOREIGN_UPGRADES.values():
                for target in ("/", "/ws", "/ws?x=1", "/api/profile", *OTHER_SPELLINGS):
                    answer = await exchange(dial, request_head(target, host, *lines))
                    # Where both are offered, the proxy may settle for the WebSocket.
                    if b" 101 " in answer:
                        assert target in ("/ws", "/ws?x=1"), (target, lines)
                        assert b"h2c" not in answer.lower(), (target, lines)
            for target in ("/", "/api/profile", *OTHER_SPELLINGS):
                answer = await exchange(dial, upgrade_request(target, host=host))
                assert b" 101 " not in answer, target
            assert {value for _, value in upgrades} <= {b"websocket"}
            assert {target for target, _ in upgrades} <= {b"/ws", b"/ws?x=1"}
            upgrades.clear()
            for name in ("websocket", "WebSocket"):
                answer = await exchange(dial, upgrade_request(host=host, upgrade=name))
                assert b" 101 " in answer
            assert upgrades == [(b"/ws", b"websocket")] * 2
        nursery.cancel_scope.cancel()


async def test_no_tunnel_leads_through_a_proxy(public):
    url, dial = public
    host = url.partition("://")[2]
    for name, lines in FOREIGN_UPGRADES.items():
        for target in ("/", "/ws", "/api/profile", *OTHER_SPELLINGS):
            # Without what the WebSocket's handshake needs, no offer of one is good either.
            answer = await exchange(dial, request_head(target, host, *lines))
            assert b" 101 " not in answer, (name, target)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"
    stream = await dial()
    try:
        with trio.fail_after(PATIENCE_S):
            await stream.send_all(request_head("/api/profile", host))
            assert b" 401 " in await stream.receive_some()
            await stream.send_all(preface)
            answer = b""
            while more := await stream.receive_some():
                answer += more
    except trio.BrokenResourceError:
        pass
    finally:
        await trio.aclose_forcefully(stream)
    # An HTTP/2 server would begin with a frame of settings.
    assert b"\0\x04\0\0\0\0\0" not in answer


async def test_no_spelling_of_a_path_leads_to_what_is_inside(public):
    url, dial = public
    host = url.partition("://")[2]
    spellings = (
        *("/%6detrics", "//metrics", "/./metrics", "/x/../metrics", "/metrics?x", "/metrics/"),
        *("/%2fmetrics", "/ws/../metrics", "/%2e/metrics", "/metrics;x", "/METRICS", "/metrics%3f"),
        *("/metrics#x", f"{url}/metrics", "///metrics", "/.//metrics", "/x/..%2fmetrics"),
    )
    for target in spellings:
        for lines in ((), FOREIGN_UPGRADES["h2c"]):
            answer = await exchange(dial, request_head(target, host, "Connection: close", *lines))
            assert re.match(rb"HTTP/1\.[01] (400|404) ", answer), (target, lines, answer[:200])
            assert b"yoked_" not in answer, target


def test_a_silent_websocket_is_left_to_the_pings_of_the_server():
    edge = load_settings(None, {}, {}).edge
    [socket_part] = re.findall(r"location = /ws \{(.*?)\n    \}", NGINX.read_text(), re.DOTALL)
    for seconds in re.findall(r"proxy_(?:read|send)_timeout (\d+)s;", socket_part):
        assert int(seconds) > edge.ping_interval_s + edge.ping_timeout_s
    [whole] = re.findall(r"proxy_read_timeout (\d+)s;", NGINX.read_text().replace(socket_part, ""))
    assert int(whole) > edge.request_timeout_s


def test_caddy_likes_the_form_of_its_file():
    done = subprocess.run(
        [program("caddy", "caddy"), "fmt", CADDY], capture_output=True, text=True, check=True
    )
    assert done.stdout == CADDY.read_text("utf-8")
