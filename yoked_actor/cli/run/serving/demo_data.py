"""Keeps demo data and real data apart.

The data directory of a demo has a marker file. A demo does not use a database without the marker,
and a server without --dev does not start on a directory that has it.
"""

from __future__ import annotations

from pathlib import Path

import click

from yoked_actor.app.base import DATABASE

MARKER = "DEMO"
_MARKER_TEXT = """\
The database in this directory was created by `yoked-actor demo` and holds made-up people.
Because of this file, a server without --dev does not start on this directory.
"""


def claim_demo_data(data_dir: Path) -> None:
    """Mark a directory as a demo's, unless it holds another database."""
    marker = data_dir / MARKER
    if marker.exists():
        return
    if (data_dir / DATABASE).exists():
        raise click.ClickException(
            f"{data_dir} holds a database that does not belong to a demo; the demo would add"
            f" made-up people to it. Choose another directory with --data, or start a server on"
            f" this one: yoked-actor serve --dev --data {data_dir}"
        )
    data_dir.mkdir(parents=True, exist_ok=True)
    marker.write_text(_MARKER_TEXT, "utf-8")


def refuse_demo_data(data_dir: Path) -> None:
    """Refuse to start a server with real users on a demo's directory."""
    if (data_dir / MARKER).exists():
        raise click.ClickException(
            f"{data_dir} holds demo data (it contains a file {MARKER}), with made-up people."
            " Choose another directory with --data, or use --dev."
        )
