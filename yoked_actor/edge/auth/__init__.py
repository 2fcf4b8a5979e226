"""Authentication of callers: tokens, and the keys that verify them."""

from __future__ import annotations

from yoked_actor.edge.auth.tokens import BadToken, Identity, NoSigningKey, Tokens

__all__ = [
    "BadToken",
    "Identity",
    "NoSigningKey",
    "Tokens",
]
