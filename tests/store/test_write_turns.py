"""Processes that share a database take turns at writing."""

from __future__ import annotations

import fcntl
import threading
import time
from pathlib import Path

from yoked_actor.store.engine import WriteTurns
from yoked_actor.store.engine.sqlite.write_turns import QUEUE_NAME


def wait_until_locked(path: Path) -> None:
    """Wait until another open file holds the lock."""
    with path.open() as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(file, fcntl.LOCK_UN)
            time.sleep(0.001)


def test_a_process_that_has_just_written_does_not_overtake_one_that_waits(tmp_path: Path) -> None:
    order: list[str] = []
    busy, patient = (WriteTurns(tmp_path, patience_s=30) for _ in range(2))
    has_turn, waits = threading.Event(), threading.Event()

    def write_once() -> None:
        has_turn.wait()
        waits.set()
        with patient.turn():
            order.append("patient")

    other = threading.Thread(target=write_once)
    other.start()
    with busy.turn():
        order.append("busy")
        has_turn.set()
        waits.wait()
        wait_until_locked(tmp_path / QUEUE_NAME)
    for _ in range(3):
        with busy.turn():
            order.append("busy")
    other.join()
    assert order.index("patient") == 1
    busy.close()
    patient.close()


def test_a_turn_is_not_waited_for_without_end(tmp_path: Path) -> None:
    stuck, other = WriteTurns(tmp_path, patience_s=30), WriteTurns(tmp_path, patience_s=0.05)
    with stuck.turn(), other.turn():
        pass  # SQLite's own lock decides now
    stuck.close()
    other.close()
