"""`yoked-actor config`."""

from __future__ import annotations

import click


@click.command()
def config() -> None:
    """Print all settings with their defaults, as TOML.

    \b
        yoked-actor config > yoked.toml
        yoked-actor serve --config yoked.toml
    """
    from yoked_actor.cli.run.settings_template import render_template

    click.echo(render_template(), nl=False)
