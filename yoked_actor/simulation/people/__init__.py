"""Simulated people with habits, and the operator. They use the public protocol and nothing else."""

from __future__ import annotations
