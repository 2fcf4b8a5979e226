from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from yoked_actor.domain.jobs import RetryPolicy
from yoked_actor.domain.matching import MOST_CREDIT
from yoked_actor.domain.rules import Rules
from yoked_actor.settings import (
    MatchingSettings,
    Settings,
    SettingsError,
    load_settings,
    policy_for,
    sections,
)

SECRET = "0123456789abcdef0123456789abcdef"


def problems(
    file: Path | None = None,
    environ: dict[str, str] | None = None,
    overrides: dict[str, dict[str, object]] | None = None,
) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load_settings(file, environ or {}, overrides or {})
    assert str(caught.value).splitlines() == list(caught.value.problems)
    return list(caught.value.problems)


def from_environ(**environ: str) -> Settings:
    return load_settings(None, {f"YOKED_{name}": value for name, value in environ.items()}, {})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.toml"


def test_without_input_the_defaults_are_used() -> None:
    assert load_settings(None, {}, {}) == Settings()


def test_the_environment_overrides_the_file_and_flags_override_both(file: Path) -> None:
    file.write_text('[server]\nhost = "::1"\nport = 1\ndrain_s = 1\n')
    environ = {"YOKED_SERVER__PORT": "2", "YOKED_SERVER__HOST": "10.0.0.1", "PATH": "/bin"}
    server = load_settings(file, environ, {"server": {"port": 3}}).server
    assert (server.port, server.host, server.drain_s) == (3, "10.0.0.1", 1.0)


def test_a_flag_that_was_not_given_changes_nothing() -> None:
    settings = load_settings(None, {"YOKED_SERVER__PORT": "2"}, {"server": {"port": None}})
    assert settings.server.port == 2


def test_variables_are_read_as_the_type_of_their_setting() -> None:
    settings = from_environ(
        MATCHING__GENDERS='["woman", "man"]',
        MATCHING__REMATCH_AFTER_DAYS="30",
        MATCHING__LIVENESS_S="12",
        SERVER__DATA_DIR="/var/lib/yoked",
        AUTH__SECRET="1" * 32,
    )
    assert settings.matching.genders == ("woman", "man")
    assert settings.matching.rematch_after_days == 30
    assert settings.matching.liveness_s == 12.0
    assert settings.server.data_dir == Path("/var/lib/yoked")
    assert settings.auth.secret.get_secret_value() == "1" * 32


def test_an_empty_variable_unsets_an_optional_setting(file: Path) -> None:
    file.write_text("[matching]\nrematch_after_days = 30\n")
    environ = {"YOKED_MATCHING__REMATCH_AFTER_DAYS": ""}
    assert load_settings(file, environ, {}).matching.rematch_after_days is None


def test_all_problems_are_reported_with_place_value_and_rule(file: Path) -> None:
    file.write_text(
        '[server]\nprt = 1\nhost = ""\n[matching]\ncredit_step = 60\nvote_window_s = 0\n[x]\n'
    )
    environ = {"YOKED_LOG__LEVEL": "loud", "YOKED_EDGE__TLS_KEY": "key.pem"}
    assert problems(file, environ, {"server": {"port": 70000}}) == [
        f"{file}: server.prt: is not a setting; did you mean port?",
        f"{file}: [x]: there is no section x; there are {', '.join(sections())}",
        f'{file}: server.host = "": must be a text, not empty',
        "--port: server.port = 70000: must be a whole number from 0 to 65535",
        f"{file}: matching.vote_window_s = 0: must be a number over 0, up to 31622400",
        f"{file}: matching.credit_step = 60: must be at most matching.credit_cap (50)",
        'YOKED_EDGE__TLS_KEY: edge.tls_certificate = "": must be set with edge.tls_key',
        'YOKED_LOG__LEVEL: log.level = "loud": must be one of debug, info, warning, error',
    ]


def test_an_unknown_key_is_reported_with_the_known_keys(file: Path) -> None:
    file.write_text("[log]\ncolour = true\n")
    assert problems(file) == [
        f"{file}: log.colour: is not a setting; [log] has level, format, sentry_dsn"
    ]


@pytest.mark.parametrize(
    ("variable", "complaint"),
    [
        ("YOKED_SERVER__PRT", "server.prt: is not a setting; did you mean port?"),
        ("YOKED_SERVE__PORT", "there is no section serve; there are server, auth"),
        (
            "YOKED_SERVER_PORT",
            "must have the form YOKED_SECTION__KEY; did you mean YOKED_SERVER__PORT?",
        ),
        ("YOKED_", "must have the form YOKED_SECTION__KEY"),
    ],
)
def test_a_misspelt_variable_is_reported(variable: str, complaint: str) -> None:
    [line] = problems(environ={variable: "1"})
    assert line.startswith(f"{variable}: {complaint}")


def test_the_value_of_a_secret_is_never_printed(file: Path) -> None:
    file.write_text('[auth]\nsecret = ["hunter2"]\nsecrets = "hunter2"\n')
    assert problems(file) == [
        f"{file}: auth.secrets: is not a setting; did you mean secret?",
        f"{file}: auth.secret = (hidden): must be a text",
    ]
    assert problems(environ={"YOKED_AUTH__SECRET": "hunter2", "YOKED_AUTH": "hunter2"}) == [
        "YOKED_AUTH: must have the form YOKED_SECTION__KEY",
        "YOKED_AUTH__SECRET: auth.secret = (hidden): must be at least 32 bytes long, or empty",
    ]
    assert SECRET not in repr(from_environ(AUTH__SECRET=SECRET))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"[server", "is not valid TOML: "),
        (b"\xff", "is not valid TOML: "),
        (b"server = 3", "server: must be a section, [server]"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    file: Path, content: bytes | None, complaint: str
) -> None:
    if content is not None:
        file.write_bytes(content)
    [line] = problems(file)
    assert line.startswith(f"{file}: {complaint}")


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("MATCHING__HEARTBEAT_EVERY_S", "10", "must be less than matching.liveness_s (10.0)"),
        ("MATCHING__GENDERS", "[]", "must be a list of lower-case words, not empty"),
        ("MATCHING__GENDERS", '["a", "a"]', "must name each gender once"),
        ("MATCHING__RESUME_GRACE_S", "-1", "must be a number from 0 to 31622400"),
        ("MATCHING__LIVENESS_S", "nan", "must be a number over 0, up to 31622400"),
        ("MATCHING__LIVENESS_S", "1\nx = 2", "must be a number over 0, up to 31622400"),
        ("MATCHING__POLICY", "lottery", "must be one of fair_queue, weighted"),
        ("MATCHING__REMATCH_AFTER_DAYS", "0", "must be a whole number from 1 to 36500, or unset"),
        ("EDGE__ALLOWED_ORIGINS", '["example.org"]', "must be a list of origins"),
        ("EDGE__ALLOWED_ORIGINS", "https://example.org", "must be a list of origins"),
        ("EDGE__MAX_MESSAGE_BYTES", "300000", "must be at most edge.max_buffered_bytes (262144)"),
        ("EDGE__TLS_CERTIFICATE", "a.pem", "must be set with edge.tls_certificate"),
        ("AUTH__ALGORITHM", "none", "must be one of HS256, EdDSA, RS256"),
        ("AUTH__ALGORITHM", "EdDSA", "must name a file when auth.algorithm is EdDSA"),
        ("AUTH__PUBLIC_KEY_FILE", "a.pem", "must be empty when auth.algorithm is HS256"),
        ("STORE__RETRY_FIRST_S", "3", "must be at most store.retry_cap_s (2.0)"),
        ("SERVER__PORT", "true", "must be a whole number from 0 to 65535"),
        ("SERVER__PORT", "80.0", "must be a whole number from 0 to 65535"),
        ("SESSION__FORGET_AFTER_S", "9", "must be at least matching.liveness_s (10.0)"),
    ],
)
def test_a_refused_value_is_reported_with_the_allowed_ones(
    name: str, value: str, rule: str
) -> None:
    [line] = problems(environ={f"YOKED_{name}": value})
    assert line.startswith(f"YOKED_{name}: ")
    assert line.endswith(f": {rule}")


def test_a_conflict_with_an_invalid_value_is_not_reported_twice() -> None:
    environ = {"YOKED_MATCHING__LIVENESS_S": "none", "YOKED_MATCHING__HEARTBEAT_EVERY_S": "30"}
    [line] = problems(environ=environ)
    assert line.startswith("YOKED_MATCHING__LIVENESS_S: ")


def test_a_rule_between_sections_is_checked_when_both_sections_are_valid() -> None:
    environ = {"YOKED_SESSION__FORGET_AFTER_S": "5", "YOKED_MATCHING__LIVENESS_S": "2"}
    [line] = problems(environ=environ)
    assert "matching.heartbeat_every_s = 3.0: must be less than matching.liveness_s (2.0)" in line


def test_a_long_value_is_truncated() -> None:
    [line] = problems(environ={"YOKED_LOG__LEVEL": "x" * 5000})
    assert len(line) < 200


@given(
    st.sampled_from([(s, k) for s, model in sections().items() for k in model.model_fields]),
    st.text(st.characters(exclude_categories=["Cs"])),
)
def test_any_text_in_a_variable_gives_settings_or_a_problem_with_its_name(
    setting: tuple[str, str], text: str
) -> None:
    variable = "__".join(setting).upper()
    found: tuple[str, ...] = ()
    try:
        from_environ(**{variable: text})
    except SettingsError as error:
        found = error.problems
    assert all(line.startswith(f"YOKED_{variable}: ") for line in found)


def test_settings_are_frozen_and_refuse_unknown_keys() -> None:
    frozen: Any = Settings().server
    with pytest.raises(ValidationError, match="frozen"):
        frozen.port = 1
    unknown: Any = {"livness_s": 1.0}
    with pytest.raises(ValidationError, match="livness_s"):
        MatchingSettings(**unknown)
    with pytest.raises(ValidationError, match="heartbeat_every_s must be less than"):
        MatchingSettings(liveness_s=2.0)


def test_every_setting_is_described() -> None:
    for section, model in sections().items():
        assert model.__doc__, section
        for key, field in model.model_fields.items():
            assert field.description, f"{section}.{key}"
            assert field.description.endswith("."), f"{section}.{key}"


def test_settings_can_be_read_without_an_event_loop() -> None:
    program = "import sys, yoked_actor.settings.loading; sys.exit('trio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_template_without_comments_gives_the_defaults(file: Path) -> None:
    template = Path(__file__).parents[1] / "config" / "yoked.toml"
    assert load_settings(template, {}, {}) == Settings()
    file.write_text(re.sub(r"^#(?=\w+ = )", "", template.read_text("utf-8"), flags=re.MULTILINE))
    keys = {(s, k) for s, values in tomllib.loads(file.read_text()).items() for k in values}
    assert keys == {(s, k) for s, model in sections().items() for k in model.model_fields}
    environ = {"YOKED_MATCHING__REMATCH_AFTER_DAYS": ""}  # TOML has no word for unset
    # The values are compared, and not where they come from.
    assert load_settings(file, environ, {}).model_dump() == Settings().model_dump()


def test_the_settings_and_the_rules_of_the_lobby_have_the_same_defaults() -> None:
    assert MatchingSettings().rules() == Settings().rules() == Rules()


def test_every_setting_of_the_rules_reaches_the_lobby() -> None:
    changed: dict[str, Any] = {
        "policy": "weighted",
        "starvation_after_s": 61.0,
        "tier2_after_s": 3.0,
        "tier2_years": 3,
        "tier2_distance": 1.3,
        "tier3_after_s": 11.0,
        "tier3_years": 6,
        "tier3_distance": 1.6,
        "forced_after_s": 12.0,
        "nudge_every_s": 601.0,
        "nudge_good_for_s": 61.0,
        "liveness_s": 12.0,
        "acknowledge_window_s": 6.0,
        "vote_window_s": 11.0,
        "date_length_s": 301.0,
        "resume_grace_s": 61.0,
        "bar_s": 61.0,
        "rematch_after_days": 90,
        "credit_step": 11,
        "credit_cap": 51,
        "max_blocks": 4,
    }
    of_dates: dict[str, Any] = {
        "ring_s": 16.0,
        "calls_per_pair": 6,
        "calls_within_s": 601.0,
        "touch_after_s": 11.0,
        "touch_for_s": 86_401.0,
        "max_kept_signals": 7,
    }
    assert {*changed, *of_dates} == set(Rules.__struct_fields__)
    settings = load_settings(None, {}, {"matching": changed, "date": of_dates})
    assert settings.rules() == Rules(**changed, **of_dates)


def test_signals_are_at_most_half_of_the_stored_events() -> None:
    settings = load_settings(None, {}, {"session": {"kept_events": 11}})
    assert settings.rules().max_kept_signals == 5


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"tier2_after_s": 11.0},
            "matching.tier3_after_s = 10.0: must be at least matching.tier2_after_s (11.0)",
        ),
        (
            {"tier3_after_s": 10.5},
            "matching.forced_after_s = 10.0: must be at least matching.tier3_after_s (10.5)",
        ),
        ({"tier3_years": 1}, "matching.tier3_years = 1: must be at least matching.tier2_years (2)"),
        (
            {"tier3_distance": 1.1},
            "matching.tier3_distance = 1.1: must be at least matching.tier2_distance (1.2)",
        ),
        ({"tier2_after_s": -1.0}, "matching.tier2_after_s = -1.0: must be"),
        ({"tier2_years": -1}, "matching.tier2_years = -1: must be"),
        ({"tier2_distance": 0.9}, "matching.tier2_distance = 0.9: must be"),
        ({"nudge_every_s": 0.0}, "matching.nudge_every_s = 0.0: must be"),
        ({"policy": "lottery"}, 'matching.policy = "lottery": must be one of'),
        ({"credit_cap": MOST_CREDIT + 1}, "matching.credit_cap = 1024: must be"),
    ],
)
def test_tiers_out_of_order_and_limits_that_would_narrow_are_refused(
    given: dict[str, object], problem: str
) -> None:
    found = problems(overrides={"matching": given})
    assert any(problem in line for line in found), found


def test_tiers_that_open_at_the_same_instant_are_in_order() -> None:
    edges = {"tier2_after_s": 0.0, "tier3_after_s": 0.0, "forced_after_s": 0.0}
    assert load_settings(None, {}, {"matching": edges}).matching.forced_after_s == 0.0


def test_retry_policies_are_tables_by_the_type_of_job(file: Path) -> None:
    file.write_text(
        "[jobs.retry.default]\nbase_s = 5.0\n"
        '[jobs.retry."offers.user"]\nattempts = 6\njitter = 0.5\n'
    )
    retry = load_settings(file, {}, {}).jobs.retry
    default = policy_for(retry, "jobs.prune", None)
    assert (default.base_s, default.cap_s, default.max_runs) == (5.0, 3600.0, 5)
    offers = RetryPolicy(delays_s=(30.0, 120.0, 300.0))
    user = policy_for(retry, "offers.user", offers)
    assert (user.delays_s, user.max_runs, user.jitter) == (offers.delays_s, 6, 0.5)
    assert user.delay_s(1, 5) >= 300.0, "the last pause is repeated"
    assert policy_for(retry, "offers.check", offers) == offers, "the default is for those without"


def test_the_environment_changes_single_keys_of_a_retry_policy(file: Path) -> None:
    file.write_text('[jobs.retry."offers.zone_run"]\nattempts = 6\njitter = 0.5\n')
    environ = {
        "YOKED_JOBS__RETRY__OFFERS_ZONE_RUN__ATTEMPTS": "7",
        "YOKED_JOBS__RETRY__DEFAULT__DELAYS_S": "[1, 2.5]",
    }
    retry = load_settings(file, environ, {}).jobs.retry
    assert (retry["offers.zone_run"].attempts, retry["offers.zone_run"].jitter) == (7, 0.5)
    assert policy_for(retry, "users.erase", None).max_runs == 3
    whole = {"YOKED_JOBS__RETRY": '{"offers.user" = {base_s = 4, cap_s = 9}}'}
    user = policy_for(load_settings(None, whole, {}).jobs.retry, "offers.user", RetryPolicy((1.0,)))
    assert [user.delay_s(1, n) for n in (1, 2, 3)] == [4.0, 8.0, 9.0]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[jobs.retry."offers.usr"]\nattempts = 2',
            'jobs.retry."offers.usr": is not a type of job; did you mean offers.user?',
        ),
        ("[jobs.retry.default]\nruns = 2", "jobs.retry.default.runs: is not a setting"),
        (
            '[jobs.retry."offers.user"]\nattempts = 0',
            'jobs.retry."offers.user".attempts = 0: must be a whole number from 1 to 1000',
        ),
        (
            "[jobs.retry.default]\nbase_s = 9.0\ncap_s = 3.0",
            "jobs.retry.default.base_s = 9.0: must be at most cap_s (3.0)",
        ),
        (
            "[jobs.retry.default]\nbase_s = 9.0\ndelays_s = [3.0]",
            "jobs.retry.default.delays_s = [3.0]: must not be given together with base_s or cap_s",
        ),
        (
            "[jobs.retry.default]\ndelays_s = [0]",
            "jobs.retry.default.delays_s = [0]: must be a list",
        ),
        ("[jobs]\nretry = 3", "jobs.retry: must be tables, [jobs.retry.NAME]"),
        ("[jobs.retry]\ndefault = 3", "jobs.retry.default: must be a table, [jobs.retry.default]"),
    ],
)
def test_an_invalid_retry_policy_is_refused_with_its_key(
    file: Path, text: str, problem: str
) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError) as refused:
        load_settings(file, {}, {})
    [found] = refused.value.problems
    assert found.startswith(f"{file}: {problem}")


def test_a_variable_for_an_unknown_job_type_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"__ODD__ATTEMPTS: jobs\.retry\.odd: is not a type"):
        load_settings(None, {"YOKED_JOBS__RETRY__ODD__ATTEMPTS": "3"}, {})


def test_a_node_needs_a_shared_database_and_a_url() -> None:
    url: dict[str, object] = {"url": "postgresql:///yoked"}
    node: dict[str, object] = {"id": "a", "url": "https://a.example.org"}
    assert load_settings(None, {}, {"store": url, "node": node}).node.is_set
    assert not Settings().node.is_set
    [problem] = problems(overrides={"node": node})
    assert problem.startswith('flag: node.id = "a": needs store.url')
    [problem] = problems(overrides={"store": url, "node": {"id": "a"}})
    assert "must be set, because node.id is" in problem
    for bad in ("https://a.example.org/path", "a.example.org", "ftp://a", "https://a?b"):
        assert problems(overrides={"store": url, "node": {**node, "url": bad}})
    for bad in ("A", "-a", "a b", "a" * 33):
        assert problems(overrides={"store": url, "node": {**node, "id": bad}})
