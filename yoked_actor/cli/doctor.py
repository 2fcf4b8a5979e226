"""`yoked-actor doctor`."""

from __future__ import annotations

import click

from yoked_actor.cli.common import Source, json_option, source_options


@click.command()
@click.option("--full", is_flag=True, help="Check every page and index; slow on a large database.")
@click.option("--dev", is_flag=True, help="Check for a server that runs with --dev.")
@source_options
@json_option
def doctor(full: bool, dev: bool, source: Source, as_json: bool) -> None:
    """Check the configuration, the system and the database.

    The checks cover the settings, the signing key, the certificate, the data directory, the disk,
    the clock, and the database: its integrity, its schema, the consistency of its rows and its
    jobs. This changes nothing, and also works while a server is running.

    \b
    Exit status:
      0  if no problem was found (notes are not problems)
      1  if there is a problem
      2  on a usage error

    \b
        yoked-actor doctor --config /etc/yoked.toml
        yoked-actor doctor --json | jq '.findings[] | select(.result == "problem")'
    """
    from yoked_actor.cli.run.doctor import run_doctor

    run_doctor(source, full=full, dev=dev, as_json=as_json)
