"""A row of the table of HTTP calls."""

from __future__ import annotations

from typing import Literal

import msgspec

from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Role

NUMBER: dict[str, object] = {"type": "integer", "minimum": 1, "maximum": (1 << 63) - 1}
"""The schema of the number of a stored row."""

Condition = Literal["always", "dev", "mock_clock"]
"""The servers that offer a call."""


class Query(msgspec.Struct, frozen=True):
    """A query parameter."""

    name: str
    schema: dict[str, object]
    meaning: str
    required: bool = False


class Call(msgspec.Struct, frozen=True):
    """One HTTP call. `answer` is an example, or None for an answer that is not JSON."""

    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    group: str
    summary: str
    answer: msgspec.Struct | None
    body: msgspec.Struct | None = None
    status: int = 200
    media: str = "application/json"
    token: bool = True
    only: Condition = "always"
    refusals: tuple[Code, ...] = ()
    query: tuple[Query, ...] = ()
    needs: Role | None = None
    """The role that an operator needs at least; None for the calls of users."""

    @property
    def is_admin(self) -> bool:
        """Whether it needs the token of an operator."""
        return self.needs is not None

    @property
    def is_api(self) -> bool:
        """Whether this is part of the JSON API, where every failure is a problem document."""
        return self.path.startswith("/api/")


PAGE = (
    Query("limit", {"type": "integer", "minimum": 1, "maximum": 1000}, "How many at most."),
    Query("before", NUMBER, "Only those with a lesser number."),
)
"""The parameters of a list that is read page by page."""
