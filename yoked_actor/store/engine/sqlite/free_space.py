"""Copies of rows in the free space of pages, which `secure_delete` does not overwrite.

SQLite overwrites a row that is deleted or changed. But when it balances a tree it moves rows to
other pages and builds the old page anew, and what was in it stays in the space between the cell
pointers and the cells (seen with SQLite 3.40.1). Another row in that place overwrites it, and so
does VACUUM. The format of a page: https://sqlite.org/fileformat2.html#b_tree_pages
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_HEADER = 100
_INNER, _LEAVES = (2, 5), (10, 13)
_AT_ONCE = 256

_held: dict[tuple[int, int], int] = {}
"""Open files by identity. To close one would drop the locks that SQLite has on it."""


def is_in_free_space(path: Path, text: bytes) -> bool:
    """Whether a text is in the free space of a page of the file. Blocks; the WAL is not read."""
    found = os.stat(path)
    identity = (found.st_dev, found.st_ino)
    file = _held.get(identity)
    if file is None:
        file = _held[identity] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return any(text in gap for gap in _gaps(file))


def _gaps(file: int) -> Iterator[bytes]:
    """The free space of each page of a tree."""
    head = os.pread(file, _HEADER, 0)
    if len(head) < _HEADER:
        return
    size = int.from_bytes(head[16:18], "big")
    size = 65_536 if size == 1 else size
    at = 0
    while pages := os.pread(file, _AT_ONCE * size, at):
        for start in range(0, len(pages), size):
            begin = _HEADER if at + start == 0 else 0
            page = pages[start : start + size]
            if page[begin] in _LEAVES or page[begin] in _INNER:
                cells = int.from_bytes(page[begin + 3 : begin + 5], "big")
                content = int.from_bytes(page[begin + 5 : begin + 7], "big") or 65_536
                pointers = begin + (8 if page[begin] in _LEAVES else 12)
                yield page[pointers + 2 * cells : content]
        at += len(pages)
