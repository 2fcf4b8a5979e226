"""Which file is at a path, asked without its times."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from yoked_actor.store.engine.sqlite import file_identity
from yoked_actor.store.engine.sqlite.file_identity import identity_at


@pytest.fixture(params=["statx", "stat"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test as on Linux, and as on a system without `statx`."""
    if request.param == "stat":
        monkeypatch.setattr(file_identity, "_statx", None)


@pytest.mark.usefixtures("either_way")
def test_a_file_is_recognised_under_another_name(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"")
    identity = identity_at(os.fsencode(first))
    first.rename(second)
    assert identity is not None
    assert identity_at(os.fsencode(second)) == identity
    assert identity_at(os.fsencode(first)) is None


@pytest.mark.usefixtures("either_way")
def test_a_file_that_replaces_another_one_is_not_taken_for_it(tmp_path: Path) -> None:
    path, other = tmp_path / "file", tmp_path / "other"
    path.write_bytes(b"the same")
    other.write_bytes(b"the same")
    identity = identity_at(os.fsencode(path))
    other.rename(path)
    assert identity_at(os.fsencode(path)) not in (identity, None)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has exact times on demand")
def test_the_write_after_a_question_gets_no_exact_time(tmp_path: Path) -> None:
    """An exact time would change the inode with every write, which a sync has to wait for."""
    exact = 0
    for number in range(20):
        file = os.open(tmp_path / f"{number}", os.O_RDWR | os.O_CREAT)
        try:
            os.write(file, b"before")
            identity_at(os.fsencode(tmp_path / f"{number}"))
            now = time.time_ns()
            os.write(file, b"after")
            exact += os.fstat(file).st_mtime_ns >= now
        finally:
            os.close(file)
    # Otherwise it is the time of the last clock tick, which may just have come.
    assert exact < 10
