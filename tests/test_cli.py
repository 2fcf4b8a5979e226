"""The command line: help, lazy imports, usage errors, tokens."""

from __future__ import annotations

import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from yoked_actor import __version__
from yoked_actor.actors.clock import Clock
from yoked_actor.cli.main import COMMANDS, main
from yoked_actor.domain.ops import Role
from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.edge.auth import BadToken, Tokens

SECRET = "thirty-two bytes or more of a secret that is none"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty directory, without a secret from the environment."""
    monkeypatch.chdir(tmp_path)
    runner = CliRunner(env={"YOKED_AUTH__SECRET": None})

    def invoke(*arguments: str, **settings: str):
        env = {f"YOKED_{name.upper()}": value for name, value in settings.items()}
        return runner.invoke(main, arguments, env=env)

    return invoke


def test_the_help_shows_how_to_begin(run):
    for flag in ("--help", "-h"):
        shown = run(flag)
        assert shown.exit_code == 0
        assert "yoked-actor demo" in shown.output
        assert "yoked-actor serve --dev" in shown.output
        for command in ("serve", "token", "bots"):
            assert command in shown.output


def test_the_version_is_shown(run):
    shown = run("--version").output.strip()
    assert shown.startswith(f"yoked-actor, version {__version__} (")
    assert ("(compiled)" in shown) != ("(pure Python: " in shown)


def imported_by(*arguments: str) -> set[str]:
    """The modules that a command line imports."""
    program = (
        "import sys\n"
        "from yoked_actor.cli.main import main\n"
        f"main({list(arguments)}, standalone_mode=False)\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
    return set(ran.stderr.split())


def test_help_of_serve_imports_neither_the_server_nor_another_command():
    found = imported_by("serve", "--help")
    ours = {name for name in found if name.startswith("yoked_actor.")}
    cli = {f"yoked_actor.cli{name}" for name in ("", ".main", ".common", ".serve")}
    assert ours == cli | {"yoked_actor.compiled"}
    heavy = {"trio", "quart", "numpy", "pydantic", "sqlite3", "msgspec", "rich", "structlog"}
    assert heavy & found == set()


def test_the_list_of_commands_imports_no_command():
    found = {name for name in imported_by("--help") if name.startswith("yoked_actor.")}
    assert found == {"yoked_actor.cli", "yoked_actor.cli.main", "yoked_actor.compiled"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_in_the_table_is_that_of_the_command(name):
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.name == name
    assert command.get_short_help_str(limit=64) == COMMANDS[name].summary


def test_a_shell_completes_commands_and_options():
    def complete(*words: str) -> str:
        env = {
            "_YOKED_ACTOR_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("yoked-actor", *words)),
            "COMP_CWORD": str(len(words)),
        }
        return CliRunner().invoke(main, prog_name="yoked-actor", env=env).stdout

    assert complete("se") == "plain,serve\n"
    assert complete("jobs", "re") == "plain,requeue\nplain,retry\n"
    assert "plain,--mock-clock\n" in complete("serve", "--mock")


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("serve", "--config --host --port --data --dev --mock-clock --mock-clock-start"),
        ("demo", "--host --port --data --people --open data/demo"),
        ("token", "USER --admin --ttl --config --data --dev"),
        ("bots", "--users --url --persona --seconds --seed --ramp mix slow_reader"),
    ],
)
def test_every_command_explains_its_options(run, command, options):
    shown = run(command, "--help")
    assert shown.exit_code == 0
    for option in options.split():
        assert option in shown.output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["serve", "--mock-clock"], "--mock-clock needs --dev"),
        (["serve", "--dev", "--host", "0.0.0.0"], "loopback only"),
        (["serve", "--dev", "--host", "example.org"], "loopback only"),
        (
            ["serve", "--dev", "--mock-clock-start", "noon"],
            "noon is not an ISO 8601 date and time",
        ),
        (["serve", "--port", "many"], "--port"),
        (["serve", "--config", "nowhere.toml"], "nowhere.toml"),
        (["serve", "--fast"], "--fast"),
        (["demo", "--host", "0.0.0.0"], "loopback only"),
        (["demo", "--people", "0"], "not in the range"),
        (["token"], "USER"),
        (["token", "no such id!"], "a user ID has 1 to 64 characters"),
        (["token", "ana", "--dev", "--ttl", "soon"], "a duration such as 90s, 15m, 1h or 7d"),
        (["token", "ana", "--dev", "--ttl", "0s"], "a duration such as 90s, 15m, 1h or 7d"),
        (["bots", "--users", "5001"], "5001 is not in the range 1<=x<=5000"),
        (["bots", "--users", "0"], "not in the range"),
        (["bots", "--persona", "rude"], "rude"),
        (["bots", "--url", "nonsense"], "nonsense is not an address such as"),
        (["bots", "--seconds", "0"], "--seconds"),
        (["dance"], "No such command 'dance'"),
    ],
)
def test_usage_errors_are_explained(run, arguments, complaint):
    used = run(*arguments)
    assert used.exit_code == 2
    assert complaint in used.stderr
    assert used.stdout == ""


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"edge__bogus": "1"}, "bogus"),
        ({"server__port": "70000"}, "server.port"),
        ({"auth__secret": "short"}, "auth.secret"),
        ({}, "no key to verify tokens with"),
    ],
)
def test_invalid_settings_are_named(run, settings, complaint):
    started = run("serve", **settings)
    assert started.exit_code == 1
    assert complaint in started.stderr.lower()
    assert "Traceback" not in started.stderr


def test_a_file_with_an_unknown_key_is_named(run, tmp_path):
    (tmp_path / "mine.toml").write_text("[matching]\nlivenes_s = 3\n")
    started = run("serve", "--dev", "--config", "mine.toml")
    assert started.exit_code == 1
    assert "livenes_s" in started.stderr


def test_a_newer_database_is_refused(run, tmp_path):
    with closing(sqlite3.connect(tmp_path / "yoked.db")) as database:
        database.execute("PRAGMA user_version = 9999")
    started = run("serve", "--dev", "--port", "0", "--data", str(tmp_path))
    assert started.exit_code == 1
    assert "was written by a newer version (schema 9999" in started.stderr
    assert "Traceback" not in started.stderr


def test_a_file_that_is_not_a_database_is_refused(run, tmp_path):
    (tmp_path / "yoked.db").write_bytes(b"this is not a database at all " * 100)
    started = run("serve", "--dev", "--port", "0", "--data", str(tmp_path))
    assert started.exit_code == 1
    assert "not a database" in started.stderr
    assert "Traceback" not in started.stderr


async def test_a_token_is_valid_for_its_user_until_it_expires(run):
    printed = run("token", "ana", "--ttl", "90s", auth__secret=SECRET)
    assert printed.exit_code == 0
    tokens, now = Tokens("HS256", SECRET), Clock.real().now()
    who = tokens.identify(printed.stdout.strip(), now)
    assert (who.user_id, who.role) == ("ana", None)
    with pytest.raises(BadToken, match="expired"):
        tokens.identify(printed.stdout.strip(), now + 91 * MICROSECONDS)


async def test_a_token_can_have_the_admin_role(run):
    printed = run("token", "root", "--admin", auth__secret=SECRET)
    who = Tokens("HS256", SECRET).identify(printed.stdout.strip(), Clock.real().now())
    assert (who.user_id, who.role) == ("root", Role.ADMIN)


async def test_dev_tokens_are_signed_with_the_secret_of_the_data_directory(run, tmp_path):
    printed = run("token", "ana", "--dev", "--data", "here")
    secret = (tmp_path / "here" / "dev-secret").read_text()
    again = run("token", "ben", "--dev", "--data", "here")
    tokens, now = Tokens("HS256", secret), Clock.real().now()
    assert tokens.identify(printed.stdout.strip(), now).user_id == "ana"
    assert tokens.identify(again.stdout.strip(), now).user_id == "ben"


def test_a_token_without_a_secret_is_refused(run):
    printed = run("token", "ana")
    assert printed.exit_code == 1
    assert "no key to verify tokens with" in printed.stderr


def test_a_server_with_a_public_key_cannot_sign(run, tmp_path):
    (tmp_path / "public.pem").write_text("not looked at")
    printed = run("token", "ana", auth__algorithm="EdDSA", auth__public_key_file="public.pem")
    assert printed.exit_code == 1
    assert "only HS256 tokens can be created here" in printed.stderr


def test_bots_report_an_unreachable_server(run):
    # Port 1 is reserved: nothing listens there.
    tried = run("bots", "--url", "http://127.0.0.1:1", "--seconds", "1")
    assert tried.exit_code == 1
    assert "cannot be reached" in tried.stderr


@pytest.mark.parametrize("port", ["-1", "65536", "99999", "x", "80.5"])
@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_wrong_port_is_a_usage_error(command: str, port: str) -> None:
    done = CliRunner().invoke(main, [command, "--port", port])
    assert (done.exit_code, "--port" in done.output) == (2, True)


def test_a_port_that_is_taken_names_the_option(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = ["serve", "--dev", "--port", str(port), "--data", str(tmp_path)]
        done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert f"port {port} of 127.0.0.1 is in use; choose another one with --port" in done.output
    assert "Errno" not in done.output


def test_a_token_has_the_role_that_was_asked_for(tmp_path: Path) -> None:
    words = ["token", "olga", "--dev", "--data", str(tmp_path)]
    made = CliRunner().invoke(main, [*words, "--role", "moderator"])
    secret = (tmp_path / "dev-secret").read_text()
    identity = Tokens("HS256", secret).identify(made.output.strip(), time.time_ns() // 1000)
    assert identity.role is Role.MODERATOR
    assert CliRunner().invoke(main, [*words, "--role", "king"]).exit_code == 2
    assert CliRunner().invoke(main, [*words, "--admin", "--role", "viewer"]).exit_code == 2
