"""A speed-dating server: people spin, meet, vote and date, on one process, one port, one file."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

__all__ = ["__version__"]

try:
    __version__ = version("yoked-actor")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"
