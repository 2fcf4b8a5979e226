"""The roles of operators. Each role may do what the roles before it may do, and more."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What an operator may do, from the token's `role`."""

    VIEWER = "viewer"
    """Reads everything that operators can read."""
    MODERATOR = "moderator"
    """Also works on reports: suspends, warns, keeps two users apart, ends a match."""
    ADMIN = "admin"
    """May do everything."""

    def includes(self, needed: Role) -> bool:
        """Whether this role may do what another role is needed for."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


def role_named(name: object) -> Role | None:
    """The role with a name; None when there is none: its bearer is no operator."""
    return Role(name) if isinstance(name, str) and name in set(Role) else None
