"""Judges: a witness of what people are told, readers of the database, a calendar oracle.

They share no code with what they judge.
"""

from __future__ import annotations
