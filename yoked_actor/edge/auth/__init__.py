"""Who a caller is: tokens and the keys that sign them."""

from __future__ import annotations

from yoked_actor.edge.auth.tokens import BadToken, Identity, NoSigningKey, Tokens

__all__ = [
    "BadToken",
    "Identity",
    "NoSigningKey",
    "Tokens",
]
