"""The files for service managers and containers: well-formed, hardened, and true to the program."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from yoked_actor.cli.main import main
from yoked_actor.settings import load_settings, sections

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "config" / "systemd" / "yoked-actor.service"
DOCKERFILE = ROOT / "config" / "Dockerfile"
BINARY = "/usr/local/bin/yoked-actor"
# Of ten; a service without any hardening has 9.6.
MOST_EXPOSURE = 2.0


def entries(section: str) -> list[tuple[str, str]]:
    text = UNIT.read_text("utf-8")
    body = text.partition(f"[{section}]\n")[2].partition("\n[")[0]
    return [(key, value) for key, _, value in (re.findall(r"^(\w+)(=)(.*)$", body, re.MULTILINE))]


def entry(key: str, section: str = "Service") -> str:
    [found] = [value for name, value in entries(section) if name == key]
    return found


@pytest.fixture
def unit(tmp_path):
    """The unit, with a program that exists."""
    program = tmp_path / "yoked-actor"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / "yoked-actor.service"
    unit.write_text(UNIT.read_text("utf-8").replace(BINARY, str(program)))
    return unit


def analyze(*arguments: str | Path) -> str:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not here")
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_systemd_finds_nothing_wrong_with_the_unit(unit):
    assert analyze("verify", unit) == ""


def test_systemd_finds_the_service_little_exposed(unit):
    report = analyze("security", "--offline=true", "--no-pager", unit)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", report)
    assert found is not None, report
    assert float(found[1]) <= MOST_EXPOSURE


def test_the_unit_starts_the_program_as_it_is():
    program, command, *words = shlex.split(entry("ExecStart"))
    assert program == BINARY
    serve = main.get_command(click.Context(main), command)
    assert isinstance(serve, click.Command)
    known = {option for param in serve.params for option in param.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_unit_waits_longer_than_the_server_takes_to_stop():
    settings = load_settings(None, {}, {})
    jobs_s = 2 * settings.jobs.drain_s
    longest_s = settings.server.drain_s + jobs_s + settings.edge.last_words_s
    assert int(entry("TimeoutStopSec")) > longest_s
    assert int(entry("LimitNOFILE")) > settings.edge.max_connections


def test_the_service_keeps_its_word_with_the_service_manager():
    assert entry("Type") == "notify"
    assert entry("NotifyAccess") == "all", "of the one-file binary it is the child that speaks"
    assert int(entry("WatchdogSec")) > 0
    assert entry("Restart") == "on-failure"
    assert entry("RestartPreventExitStatus") == "2"


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, with continued lines joined."""
    text = re.sub(r"\\\n", " ", DOCKERFILE.read_text("utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines]


def test_the_image_is_built_in_two_stages_from_the_same_pinned_base():
    bases = [rest.split()[0] for word, rest in steps() if word == "FROM"]
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert not any(base.endswith(":latest") or ":" not in base for base in bases)


def test_what_the_image_copies_is_there_and_not_ignored():
    allowed = (DOCKERFILE.parent / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    for word, rest in steps():
        if word == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in allowed, source


def test_the_container_runs_as_nobody_special_and_can_be_watched():
    last_stage = steps()[max(i for i, (word, _) in enumerate(steps()) if word == "FROM") :]
    said = dict(last_stage)
    assert int(said["USER"]) > 999
    assert said["STOPSIGNAL"] == "SIGTERM"
    assert said["VOLUME"] in said["ENV"]
    assert "/healthz" in said["HEALTHCHECK"]
    assert said["ENTRYPOINT"] == '["yoked-actor"]'


def test_every_setting_that_the_files_name_exists():
    known = {
        f"YOKED_{section.upper()}__{key.upper()}"
        for section, model in sections().items()
        for key in model.model_fields
    }
    named = set()
    for file in (ROOT / "config").rglob("*"):
        if file.is_file():
            named |= set(re.findall(r"YOKED_[A-Z]+__[A-Z_]+", file.read_text("utf-8")))
    assert named <= known
    assert "YOKED_AUTH__SECRET" in named
