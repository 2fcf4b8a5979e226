"""The dashboard and the alert rules: they load, and speak of metrics that the server has."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import trio
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families
from pydantic import BaseModel

from tests.scenarios.meeting import join_pair, settle
from yoked_actor.actors.jobs import JobRun
from yoked_actor.client import Api
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.ops import Alert, Limits
from yoked_actor.testing import open_world

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "config" / "grafana" / "yoked-actor.json"
RULES = ROOT / "config" / "prometheus" / "rules.yml"
SCRAPES = ROOT / "config" / "prometheus" / "prometheus.yml"
RULE_TESTS = sorted(Path(__file__).parent.glob("*_test.yml"))

_NAME = re.compile(r"\b(?:yoked|process)_\w+")
_SELECTOR = re.compile(r"\b((?:yoked|process)_\w+)\{([^}]*)\}")
_LABEL = re.compile(r"(\w+)\s*(?:=~|=|!=|!~)")
_BY = re.compile(r"by \(([^)]*)\) \([^()]*?(?:\w+\()?((?:yoked|process)_\w+)")
# What Prometheus itself adds to every sample.
_ADDED = {"job", "instance"}


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DASHBOARD.read_text("utf-8"))
    return found


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def rules() -> list[dict[str, Any]]:
    return [
        rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
    ]


def alerts() -> list[dict[str, Any]]:
    return [rule for rule in rules() if "alert" in rule]


def expressions() -> list[str]:
    """Everything that is asked of Prometheus."""
    variables = [one for one in dashboard()["templating"]["list"] if one["type"] == "query"]
    found = [target["expr"] for panel in panels() for target in panel["targets"]]
    found += [variable["query"]["query"] for variable in variables]
    return [*found, *(rule["expr"] for rule in rules())]


class Task(BaseModel):
    """A job for an evening."""


async def _fail(job: JobRun[Task]) -> None:
    raise ValueError("a dead letter, for the labels that it has")


async def exported() -> dict[str, set[str]]:
    """What a server exports after a busy evening: its sample names, with their labels."""
    found: dict[str, set[str]] = defaultdict(set)
    async with open_world() as world:
        server = world.server
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "pass"))
        server.base.dispatcher.register("task", Task, _fail)
        await server.base.dispatcher.enqueue([NewJob("task", {}, server.base.clock.now())])
        await trio.sleep(60)
        answer = await Api("http://world.test", dial=world.dial()).request("GET", "/metrics")
        for family in text_string_to_metric_families(answer.body.decode()):
            suffixes = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}
            for suffix in suffixes.get(family.type, [""]):
                found[family.name + suffix] = set()
            for sample in family.samples:
                found[sample.name].update(sample.labels)
    return found


async def test_every_metric_and_label_that_is_asked_for_is_exported(autojump_clock):
    has = await exported()
    assert len(expressions()) > 50
    for expression in expressions():
        assert set(_NAME.findall(expression)) <= set(has), expression
        for name, matchers in _SELECTOR.findall(expression):
            labels = set(_LABEL.findall(matchers)) - _ADDED
            assert not has[name] or labels <= has[name], expression
        for grouped, name in _BY.findall(expression):
            labels = {label.strip() for label in grouped.split(",")} - _ADDED
            assert not has[name] or labels <= has[name], expression


def test_the_dashboard_has_what_grafana_needs():
    board = dashboard()
    assert board["uid"] == board["title"] == "yoked-actor"
    assert board["schemaVersion"] >= 36
    assert {variable["name"] for variable in board["templating"]["list"]} == {
        "datasource",
        "instance",
        "room",
    }
    identities = [panel["id"] for panel in board["panels"]]
    assert len(set(identities)) == len(identities)
    for panel in panels():
        assert panel["datasource"]["uid"] == "${datasource}", panel["title"]
        assert panel["title"]
        assert panel["type"] in {"timeseries", "stat"}
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references) > 0


def test_what_an_alert_is_about_can_be_seen_on_the_dashboard():
    shown = {
        name
        for panel in panels()
        for target in panel["targets"]
        for name in _NAME.findall(target["expr"])
    }
    recorded = {rule["record"]: rule["expr"] for rule in rules() if "record" in rule}
    for rule in alerts():
        parts = [expr for name, expr in recorded.items() if name in rule["expr"]]
        asked = set(_NAME.findall(" ".join([rule["expr"], *parts])))
        assert not asked or asked & shown, rule["alert"]


def test_no_panel_lies_over_another():
    taken: dict[tuple[int, int], str] = {}
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert taken.setdefault((x, y), panel["title"]) == panel["title"]


def test_the_rules_have_the_limits_of_the_server():
    limits = Limits()
    by_name = {rule["alert"]: " ".join(rule["expr"].split()) for rule in alerts()}
    assert len(by_name) == len(alerts())
    assert by_name["YokedJobFailureRate"].endswith(f"> {limits.failure_rate:g}")
    assert by_name["YokedJobDuration"].endswith(f"> {limits.duration_p95_s:g}")
    assert by_name["YokedJobQueueDepth"].endswith(f"> {limits.depth:g}")
    assert by_name["YokedDuplicateOffers"].endswith(f"> {limits.duplicate_offers:g}")
    assert len(Alert) >= 4, "the server's own are in YokedOwnAlert, whatever they are"


def test_every_rule_is_driven_over_its_limit():
    driven = "".join(file.read_text("utf-8") for file in RULE_TESTS)
    for rule in alerts():
        assert f'"{rule["alert"]}"' in driven, rule["alert"]
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert rule["annotations"]["summary"]


def promtool(*arguments: str | Path) -> str:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not here; it is in Debian's package prometheus")
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_promtool_accepts_the_rules_and_the_example_of_a_configuration():
    assert f"{len(rules())} rules found" in promtool("check", "rules", RULES)
    promtool("check", "config", SCRAPES)


def test_promtool_sees_each_rule_fire_and_keep_silent():
    promtool("test", "rules", *RULE_TESTS)


def test_promtool_understands_every_expression_of_the_dashboard(tmp_path):
    asked = [target["expr"] for panel in panels() for target in panel["targets"]]
    plain = [re.sub(r"\$__(rate_)?interval", "5m", one) for one in asked]
    plain = [re.sub(r"\$(instance|room)\b", ".*", one) for one in plain]
    recording = [{"record": f"panel:{n}", "expr": one} for n, one in enumerate(plain)]
    file = tmp_path / "panels.yml"
    file.write_text(json.dumps({"groups": [{"name": "panels", "rules": recording}]}))
    assert f"{len(asked)} rules found" in promtool("check", "rules", "--lint=none", file)
