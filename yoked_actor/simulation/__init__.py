"""Simulation: weeks of the whole server in minutes, and evenings of the lobby alone."""

from __future__ import annotations
