"""A worker copies the WAL before it is so long that a commit, of whatever process, has to."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from yoked_actor.store.engine import Checkpoints, WriteTurns, connect_for_writing

PAGES = 200
_PAGE = 4096 + 24
"""A page of the database, and its header in the WAL."""


def _write(path: Path, commits: int, pages: int, *, with_checkpoints: bool) -> int:
    """Commit so often, about so many pages each; returns the length of the WAL in pages."""
    turns = WriteTurns(path.parent, patience_s=1.0)
    # SQLite itself would copy it only when it is far too long.
    with closing(connect_for_writing(path, busy_timeout_s=1.0, checkpoint_pages=10**6)) as db:
        checkpoints = Checkpoints(db, turns, PAGES)
        db.execute("CREATE TABLE IF NOT EXISTS things (content BLOB)")
        for _ in range(commits):
            db.execute("INSERT INTO things VALUES (zeroblob(?))", (pages * 4096,))
            if with_checkpoints:
                checkpoints.after_commit()
        length = Path(f"{path}-wal").stat().st_size // _PAGE
    turns.close()
    return length


def test_the_wal_stays_short(tmp_path: Path) -> None:
    assert _write(tmp_path / "a.db", 400, 1, with_checkpoints=False) > 2 * PAGES
    assert _write(tmp_path / "b.db", 400, 1, with_checkpoints=True) < PAGES


def test_commits_that_become_larger_are_copied_in_time(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    turns = WriteTurns(tmp_path, patience_s=1.0)
    with closing(connect_for_writing(path, busy_timeout_s=1.0, checkpoint_pages=10**6)) as db:
        checkpoints = Checkpoints(db, turns, PAGES)
        db.execute("CREATE TABLE things (content BLOB)")
        for pages, commits in ((1, 200), (2, 200), (4, 200)):
            for _ in range(commits):
                db.execute("INSERT INTO things VALUES (zeroblob(?))", (pages * 4096,))
                checkpoints.after_commit()
        assert Path(f"{path}-wal").stat().st_size // _PAGE < 4 * PAGES
        assert db.execute("SELECT count(*) FROM things").fetchone() == (600,)
    turns.close()


def test_a_reader_only_delays_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    turns = WriteTurns(tmp_path, patience_s=1.0)
    with closing(connect_for_writing(path, busy_timeout_s=1.0, checkpoint_pages=10**6)) as db:
        checkpoints = Checkpoints(db, turns, PAGES)
        db.execute("CREATE TABLE things (content BLOB)")

        def write(commits: int) -> int:
            for _ in range(commits):
                db.execute("INSERT INTO things VALUES (zeroblob(4096))")
                checkpoints.after_commit()
            return Path(f"{path}-wal").stat().st_size // _PAGE

        with closing(connect_for_writing(path, busy_timeout_s=1.0, checkpoint_pages=1)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM things").fetchone()
            while_read = write(300)
            assert while_read > PAGES
            reader.execute("COMMIT")
        assert write(600) <= while_read + PAGES
    turns.close()
