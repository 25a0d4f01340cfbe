"""The dashboard and the alerts ask for what the service exports, by its labels."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

DEPLOY = Path(__file__).parents[2] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD = DEPLOY / "grafana" / "rubricate.json"

OF_PROMETHEUS = {"job", "instance"}
SAMPLE = re.compile(r"\b(rubricate_\w+)(?:\{(.*?)\})?")
MATCHER = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
GROUPING = re.compile(r"\bby\s*\(([^)]*)\)")
SHOWN = re.compile(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}")


def expressions() -> Iterator[tuple[str, str, str]]:
    """What asks, its expression, and the text that shows its labels."""
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"], target["legendFormat"]
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"], json.dumps(rule["annotations"])


@pytest.fixture
def exported(client: TestClient) -> dict[str, set[str]]:
    """Labels of each sample after some traffic."""
    group: dict[str, Any] = {
        "prompt": "p",
        "rubrics": [{"check": "punctuation:no_comma"}, {"criterion": "It is kind."}],
        "responses": ["good", "fine"],
    }
    assert client.post("/v1/score", json={"groups": [group]}).status_code == 200
    labels: dict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for sample in family.samples:
            labels[sample.name] |= sample.labels.keys()
    return labels


def test_every_expression_asks_for_what_is_exported(exported: dict[str, set[str]]) -> None:
    asked = list(expressions())
    assert len(asked) > 40
    for title, expression, text in asked:
        samples = SAMPLE.findall(expression)
        assert samples, title
        known: set[str] = OF_PROMETHEUS.copy()
        for name, matchers in samples:
            assert name in exported, f"{title}: {name}"
            wanted = set(MATCHER.findall(re.sub(r'"[^"]*"', "", matchers)))
            assert wanted <= exported[name] | OF_PROMETHEUS, f"{title}: {name}{matchers}"
            known |= exported[name]
        grouped = {name.strip() for names in GROUPING.findall(expression) for name in names.split(",")}
        assert grouped <= known, f"{title}: by {grouped}"
        assert set(SHOWN.findall(text)) - {"value"} <= grouped, f"{title}: {text}"


def test_every_metric_is_on_the_dashboard(exported: dict[str, set[str]]) -> None:
    text = DASHBOARD.read_text()
    ours = {re.sub(r"_(bucket|sum|count)$", "", name) for name in exported if "rubricate" in name}
    assert {name for name in ours if not re.search(rf"\b{name}(_bucket|_sum|\b)", text)} == {
        "rubricate_cache_failing"  # which is an alert
    }


def test_alerts_say_what_to_do() -> None:
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        for rule in group["rules"]:
            assert rule["annotations"].keys() == {"summary", "description"}
            assert rule["labels"]["severity"] in ("critical", "warning", "info")


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool on the PATH")
def test_prometheus_reads_alerts_and_expressions(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{number}", "expr": re.sub(r"\$__rate_interval", "5m", expression)}
        for number, (_, expression, _) in enumerate(expressions())
    ]
    panels = tmp_path / "panels.yml"
    panels.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    done = subprocess.run(
        ["promtool", "check", "rules", ALERTS, panels], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
