"""Which build the tests run: the sources, or the compiled modules."""

from __future__ import annotations

import pytest

from yoked_actor import compiled

sources_only = pytest.mark.skipif(
    compiled.FINDER.folder() is not None,
    reason="replaces a method, which compiled modules call without a lookup",
)
