"""A call through a real TURN server, Debian's coturn, with credentials from our server."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.pages import PATIENT, Person, start_date
from tests.browser.test_video_date import sees_moving_video
from tests.process.server import PATIENCE_S

SECRET = "a secret that two servers share"
UNAUTHORIZED = 401

# Simulates a network in which only relayed connections work.
ONLY_RELAYED = """
window.calls = [];
window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(configuration) {
    super({ ...configuration, iceTransportPolicy: "relay" });
    window.calls.push(this);
  }
};
"""

# The candidate types of both ends of the selected pair.
SELECTED_PAIR = """
async () => {
  const stats = await calls.at(-1).getStats();
  const transport = [...stats.values()].find(({ type }) => type === "transport");
  const { localCandidateId, remoteCandidateId } = stats.get(transport.selectedCandidatePairId);
  return [localCandidateId, remoteCandidateId].map((id) => stats.get(id).candidateType);
}
"""

# Asks the relay with these credentials: returns candidate types, or error codes.
ASKED = """
(iceServers) => new Promise((resolve) => {
  const pc = new RTCPeerConnection({ iceServers });
  const answers = new Set();
  pc.onicecandidate = ({ candidate }) => {
    if (candidate) answers.add(candidate.type);
    else resolve([...answers]);
  };
  pc.onicecandidateerror = ({ errorCode }) => answers.add(errorCode);
  pc.createDataChannel("any");
  pc.setLocalDescription();
})
"""


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a TURN server that relays on this machine only."""
    program = shutil.which("turnserver")
    if program is None:
        pytest.skip("there is no TURN server here: install Debian's package coturn")
    folder = tmp_path_factory.mktemp("relay")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            *(program, "-n", "--listening-ip=127.0.0.1", f"--listening-port={port}"),
            *("--relay-ip=127.0.0.1", "--allow-loopback-peers", "--realm=turn.test"),
            *("--use-auth-secret", f"--static-auth-secret={SECRET}"),
            *("--no-tls", "--no-dtls", "--no-cli", "--fingerprint"),
            *(f"--userdb={folder / 'turndb'}", f"--pidfile={folder / 'pid'}", "--log-file=stdout"),
        ],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"turn:127.0.0.1:{port}?transport=udp"
    finally:
        process.kill()
        process.wait(PATIENCE_S)


@pytest.fixture(scope="module")
def settings(relay: str) -> dict[str, Any]:
    return PATIENT | {
        "matching__vote_window_s": 30,
        "date__turn_urls": json.dumps([relay]),
        "date__turn_secret": SECRET,
    }


def test_users_without_a_direct_connection_are_connected_by_the_relay(
    couple: tuple[Person, Person],
) -> None:
    for person in couple:
        person.page.add_init_script(ONLY_RELAYED)
        person.reload()
    start_date(*couple)
    for person in couple:
        sees_moving_video(person)
        assert person.page.evaluate(SELECTED_PAIR) == ["relay", "relay"]


def test_the_relay_refuses_forged_credentials(couple: tuple[Person, Person]) -> None:
    ana, ben = couple
    ana.page.add_init_script(ONLY_RELAYED)
    ana.reload()
    start_date(ana, ben)
    ana.sees_video()
    (turn,) = ana.page.evaluate("calls.at(-1).getConfiguration().iceServers")
    assert "relay" in ana.page.evaluate(ASKED, [turn])
    later = str(int(turn["username"].split(":")[0]) + 1)
    forged = turn | {"username": f"{later}:{ana.user_id}"}
    assert ana.page.evaluate(ASKED, [forged]) == [UNAUTHORIZED]
