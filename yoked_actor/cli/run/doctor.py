"""Runs the checks and shows what they found."""

from __future__ import annotations

import os

import click
from rich.console import Console
from rich.table import Table

from yoked_actor.app.doctor import Finding, examine, examine_data, examine_nodes
from yoked_actor.cli.common import Source
from yoked_actor.cli.run.common import json_text, now
from yoked_actor.settings import ServerSettings, SettingsError, load_settings

_RESULTS = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "problem": "[red]problem[/]"}


def run_doctor(source: Source, *, full: bool, dev: bool, as_json: bool) -> None:
    """Check everything; exit with 1 if there is a problem.

    With invalid settings, the data directory is still checked.
    """
    findings: list[Finding] = []
    at = now()
    flags = {"server": {"data_dir": source.data_dir}}
    try:
        settings = load_settings(source.config_file, os.environ, flags)
        origin = str(source.config_file or "no file: defaults and environment variables")
        findings.append(Finding("configuration", "ok", origin))
        findings += examine(settings, at, full=full, dev=dev)
        findings += examine_nodes(settings)
    except SettingsError as error:
        fix = "correct it, or the server does not start; docs/configuration.md has all settings"
        findings.append(Finding("configuration", "problem", str(error), fix))
        directory = ServerSettings().data_dir if source.data_dir is None else source.data_dir
        findings += examine_data(directory, at, full=full)
    problems = sum(finding.result == "problem" for finding in findings)
    if as_json:
        click.echo(json_text({"well": not problems, "findings": findings}))
    else:
        table = Table("", "check", "result", "what to do")
        for finding in findings:
            table.add_row(_RESULTS[finding.result], finding.check, finding.found, finding.fix)
        console = Console()
        console.print(table)
        console.print(f"Problems: {problems}." if problems else "No problems found.")
    if problems:
        raise SystemExit(1)
