"""Faults of machine, disk, network and clock, drawn from the seed."""

from __future__ import annotations
