"""Judges of the process: its event loop and its memory."""

from __future__ import annotations
