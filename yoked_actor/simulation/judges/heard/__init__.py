"""Judges of what people do, are told and are answered."""

from __future__ import annotations
