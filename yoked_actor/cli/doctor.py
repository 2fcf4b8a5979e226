"""`yoked-actor doctor`: is all well, and if not, what is to be done?"""

from __future__ import annotations

import os
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from yoked_actor.app.doctor import Finding, examine, examine_data
from yoked_actor.cli.common import json_option, json_text, now, place
from yoked_actor.settings import ServerSettings, SettingsError, load_settings

_MARKS = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "problem": "[red]problem[/]"}


@click.command()
@click.option("--full", is_flag=True, help="Check every page and index; slow for a large database.")
@click.option("--dev", is_flag=True, help="For a server that is run with --dev.")
@place
@json_option
def doctor(
    full: bool, dev: bool, config_file: Path | None, data_dir: Path | None, as_json: bool
) -> None:
    """Examine all that a server stands on, and say what to mend.

    Looks at the configuration, the signing key, the certificate, the data directory, the disk, the
    clock, and the database: its integrity, its version, the rules between its rows, its jobs. It
    changes nothing, and may run beside a server.

    \b
    Exits with 0 when all is well, notes included,
               1 when there is a problem,
               2 on a wrong call.

    \b
        yoked-actor doctor --config /etc/yoked.toml
        yoked-actor doctor --json | jq '.findings[] | select(.result == "problem")'
    """
    findings: list[Finding] = []
    at = now()
    try:
        settings = load_settings(config_file, os.environ, {"server": {"data_dir": data_dir}})
        source = str(config_file or "no file: defaults and the environment")
        findings.append(Finding("configuration", "ok", source))
        findings += examine(settings, at, full=full, dev=dev)
    except SettingsError as error:
        fix = "docs/configuration.md has every setting; a server would not start with this"
        findings.append(Finding("configuration", "problem", str(error), fix))
        directory = ServerSettings().data_dir if data_dir is None else data_dir
        findings += examine_data(directory, at, full=full)
    is_well = all(finding.result != "problem" for finding in findings)
    if as_json:
        click.echo(json_text({"well": is_well, "findings": findings}))
    else:
        _show(findings, is_well)
    if not is_well:
        raise SystemExit(1)


def _show(findings: list[Finding], is_well: bool) -> None:
    table = Table("", "check", "found", "what to do")
    for finding in findings:
        table.add_row(_MARKS[finding.result], finding.check, finding.found, finding.fix)
    console = Console()
    console.print(table)
    problems = sum(finding.result == "problem" for finding in findings)
    console.print("All is well." if is_well else f"Problems: {problems}.")
