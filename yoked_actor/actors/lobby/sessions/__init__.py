"""Sessions: one for each user in memory, between the connections and the matchmaker."""

from __future__ import annotations
