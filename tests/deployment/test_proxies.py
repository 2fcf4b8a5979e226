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
from tests.process.house import PATIENCE_S, open_house
from yoked_actor.client import Api, open_client
from yoked_actor.client.dialing import Address, Dial
from yoked_actor.config import load_settings
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
def house(tmp_path_factory):
    folder = tmp_path_factory.mktemp("behind")
    with open_house(folder / "data", edge__trusted_proxies='["127.0.0.1"]') as house:
        yield house


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
def public(request, house, tmp_path) -> Iterator[tuple[str, Dial]]:
    """The public address of a server behind a proxy, and a way to dial it."""
    with PROXIES[request.param](house.port, tmp_path) as found:
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


async def test_what_is_for_operators_stays_inside(public, house):
    url, dial = public
    for path in ("/metrics", "/readyz", "/healthz"):
        assert (await Api(url, dial=dial).request("GET", path)).status == 404, path
        assert (await Api(house.url).request("GET", path)).status == 200, path


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
