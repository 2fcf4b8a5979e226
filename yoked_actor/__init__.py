"""A speed-dating server: people spin, meet, vote and date, on one process, one port, one file."""

from __future__ import annotations

from yoked_actor import compiled

__all__ = ["__version__"]

compiled.install()


def __getattr__(name: str) -> str:
    # On first use: importlib.metadata would double the time of `yoked-actor --help`.
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        found = version("yoked-actor")
    except PackageNotFoundError:  # run from a source tree that was never installed
        found = "0+unknown"
    globals()["__version__"] = found
    return found
