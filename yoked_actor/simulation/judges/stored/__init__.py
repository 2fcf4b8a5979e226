"""Judges of what the server has stored: they read the database and the files."""

from __future__ import annotations
