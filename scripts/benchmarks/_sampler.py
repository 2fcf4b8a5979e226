"""Runs the server and samples its event loop: `python -m scripts.benchmarks._sampler FILE serve`.

The profiling timer interrupts the process every millisecond of CPU time. Each sample is weighted by
the CPU time of the event loop's thread since the last one, so a sleeping loop counts nothing; what
the other threads used is the SQL. Compiled functions have no frames, so the sources run. At the end
FILE has the CPU seconds of each part, as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

EVERY_S = 0.001
CONNECTING = "starting and connecting"
SQL = "SQL, in the writer's thread"
LOOP = "event loop (trio)"
# The innermost frame that is named here tells the part.
_FUNCTIONS = {
    "hub_connection.py:_send_now": "system calls: send",
    "hub_connection.py:on_readable": "system calls: receive",
    "hub.py:_turn": "system calls: epoll",
    "session.py:receive": "commands: decode, limits, mailbox",
}
_FOLDERS = (
    ("yoked_actor/domain/matching/", "lobby: search for a partner"),
    ("yoked_actor/domain/lobby/machine/pairing.py", "lobby: make a match"),
    ("yoked_actor/domain/lobby/floor/auditor.py", "lobby: audit"),
    ("yoked_actor/domain/lobby/", "lobby: states, deadlines, changes"),
    ("yoked_actor/domain/ops/", "metrics and log lines"),
    ("yoked_actor/domain/", "lobby: make a match"),
    ("yoked_actor/store/", "rows to JSON, commit"),
    ("yoked_actor/wire/lobby/commands.py", "commands: decode, limits, mailbox"),
    ("yoked_actor/wire/", "replies and events: render, keep"),
    ("yoked_actor/telemetry/", "metrics and log lines"),
    ("yoked_actor/actors/lobby/round_report.py", "metrics and log lines"),
    ("yoked_actor/actors/lobby/sessions/output.py", "replies and events: render, keep"),
    ("yoked_actor/actors/lobby/sessions/sessions.py", "replies and events: render, keep"),
    ("yoked_actor/actors/lobby/matchmaker.py", "round of the matchmaker"),
    ("yoked_actor/actors/lobby/", "commands: decode, limits, mailbox"),
    ("yoked_actor/edge/ws/hand", CONNECTING),
    ("yoked_actor/edge/ws/", "WebSocket frames"),
    ("yoked_actor/edge/", CONNECTING),
    ("trio/_core/", LOOP),
)


def part_of(frame: FrameType | None) -> str:
    """The part of the server that a stack is in."""
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if code.co_name == "<module>" or "importlib" in file:
            return CONNECTING
        found = _FUNCTIONS.get(f"{os.path.basename(file)}:{code.co_name}")
        if found is not None:
            return found
        for folder, part in _FOLDERS:
            if folder in file:
                return part
        frame = frame.f_back
    return CONNECTING


class Sampler:
    """Adds up the CPU time of the event loop's thread by part."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last_s = time.thread_time()

    def start(self) -> None:
        """Sample from now on."""
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)

    def stop(self) -> None:
        """Stop, and count what other threads used."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.seconds[SQL] = time.process_time() - time.thread_time()

    def _sample(self, number: int, frame: FrameType | None) -> None:
        now_s = time.thread_time()
        part = part_of(frame)
        self.seconds[part] = self.seconds.get(part, 0.0) + now_s - self._last_s
        self._last_s = now_s


def main() -> None:
    file = Path(sys.argv.pop(1))
    os.environ["YOKED_PURE_PYTHON"] = "1"
    from yoked_actor.cli.main import main as run

    sys.argv[0] = "yoked-actor"
    sampler = Sampler()
    sampler.start()
    try:
        run()
    finally:
        sampler.stop()
        file.write_text(json.dumps(sampler.seconds))


if __name__ == "__main__":
    main()
