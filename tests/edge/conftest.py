"""Fixtures of the tests of the edge."""

from __future__ import annotations

from tests.edge.raw_client import both_paths

__all__ = ["both_paths"]
