"""Signs access tokens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from yoked_actor.app.process.starting import explained, settings_of
from yoked_actor.cli.run.common import now
from yoked_actor.domain.ops import role_named
from yoked_actor.edge.auth import Tokens


def signed_token(
    user_id: str,
    config_file: Path | None,
    flags: Mapping[str, Mapping[str, object]],
    *,
    ttl_s: float,
    role: str | None,
    dev: bool,
) -> str:
    """A token that a server with the same settings accepts."""
    settings = settings_of(config_file, flags)
    with explained():
        directory = settings.server.data_dir if dev else None
        tokens = Tokens.from_settings(settings.auth, dev_data_dir=directory)
        if not tokens.can_sign:
            raise click.ClickException(
                f"{settings.auth.algorithm} tokens are signed with a private key, which this"
                " server does not have; only HS256 tokens can be created here"
            )
        return tokens.sign(user_id, now(), ttl_s, role=role_named(role))
