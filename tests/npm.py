"""Programs from npm that some tests use; they are not committed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

_CACHE = Path(__file__).parents[1] / ".cache"
_PATIENCE_S = 120


def from_npm(package: str, version: str) -> Path:
    """The `node_modules` folder with a package; skips the test if it cannot be installed."""
    home = _CACHE / f"{package}-{version}"
    modules = home / "node_modules"
    if (modules / package).exists():
        return modules
    npm = shutil.which("npm")
    _CACHE.mkdir(exist_ok=True)
    # Renamed into place when complete. Another test process may be first.
    with tempfile.TemporaryDirectory(dir=_CACHE, ignore_cleanup_errors=True) as coming:
        done = npm and subprocess.run(
            [npm, "install", "--silent", "--no-save", "--prefix", coming, f"{package}@{version}"],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
        )
        if done and done.returncode == 0:
            with suppress(OSError):
                Path(coming).rename(home)
    if not (modules / package).exists():
        reason = f"{package} cannot be installed: {done.stderr if done else 'there is no npm'}"
        if "CI" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)
    return modules
