"""The Helm chart as a whole, held against Kubernetes' schemas. No cluster is asked."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest

from helm_chart import (
    CHART,
    CUSTOM,
    EVERYTHING,
    HASH,
    ROOT,
    SOUND,
    TOKENS,
    Objects,
    helm,
    render,
    the_service,
    yaml,
)
from rubricate_service.telemetry import metrics

kubernetes = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")


@pytest.fixture(params=SOUND, scope="module")
def case(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Objects]:
    values = SOUND[request.param]
    return values, render(values)


def test_lint_finds_nothing(case: tuple[dict[str, Any], Objects]) -> None:
    report = helm.lint(CHART, case[0], strict=True)
    assert not report["errors"]
    assert [m["error"] for m in report["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize("version", ["1.27", kubernetes.latest_version()])
def test_objects_are_what_kubernetes_takes(case: tuple[dict[str, Any], Objects], version: str) -> None:
    checked = [kind for kind, _ in case[1] if kind not in CUSTOM]
    assert {"Deployment", "Service", "Secret"} <= set(checked)
    for (kind, _), document in case[1].items():
        if kind not in CUSTOM:
            kubernetes.validate(document, version, strict=True)


@pytest.mark.parametrize(
    ("path", "wrong"), [(("replicas",), "two"), (("template", "spec", "terminationGraceSeconds"), 5)]
)
def test_the_schemas_would_refuse_a_mistake(path: tuple[str, ...], wrong: object) -> None:
    deployment = render(SOUND["open"])["Deployment", "rewards-rubricate"]
    place = deployment["spec"]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = wrong
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(deployment, "1.27", strict=True)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({}, "nobody may ask.*rubricate token new"),
        ({"noAuth": True, "settings": {"tokens": TOKENS}}, "leave one of them out"),
        ({"noAuth": True, "redis": {"enabled": False}}, "several replicas need a Redis"),
        (
            {"noAuth": True, "replicas": 1, "redis": {"enabled": False}, "autoscaling": {"by": "hpa"}},
            "several replicas need a Redis",
        ),
        ({"noAuth": True, "autoscaling": {"by": "hpa", "minReplicas": 9}}, "minReplicas is more than"),
        ({"noAuth": True, "autoscaling": {"by": "keda"}}, "prometheus"),
        (
            {"noAuth": True, "judge": {"enabled": True}, "settings": {"judge": "http://j"}},
            "judge.enabled starts",
        ),
        ({"settings": {"tokens": TOKENS}, "metrics": {"serviceMonitor": True}}, "tokenSecret.name"),
        ({"noAuth": True, "replicas": "two"}, "replicas"),
        ({"noAuth": True, "replicas": 0}, "replicas"),
        ({"noAuth": True, "replica": 3}, "replica"),
        ({"noAuth": True, "judge": {"gpu": 1}}, "gpu"),
        ({"noAuth": True, "judge": {"storage": "50 GB"}}, "storage"),
        ({"noAuth": True, "resources": {"requests": {"cpu": None}}}, "cpu"),
        ({"noAuth": True, "env": {"RUBRICATE_PORT": 1}}, "RUBRICATE_PORT"),
        ({"noAuth": True, "settings": {"port": 9000}}, "settings"),
        ({"settings": {"tokens": {"alice": {"hash": "secret"}}}}, "hash"),
        ({"settings": {"tokens": {"alice": {"hash": HASH, "scopes": ["all"]}}}}, "scopes"),
    ],
)
def test_a_bad_value_is_told(values: dict[str, Any], told: str) -> None:
    with pytest.raises(helm.HelmError) as caught:
        render(values)
    assert re.search(told, str(caught.value)), str(caught.value)


def test_autoscaling_reads_metrics_that_there_are() -> None:
    objects = render(EVERYTHING)
    spec = objects["ScaledObject", "rewards-rubricate"]["spec"]
    assert spec["scaleTargetRef"]["name"] == "rewards-rubricate"
    query = spec["triggers"][0]["metadata"]["query"]
    named = set(re.findall(r"rubricate_\w+", query))
    assert named == {"rubricate_queue_items", "rubricate_in_flight_items"}
    assert named == {next(iter(g.collect())).name for g in (metrics.QUEUE_ITEMS, metrics.IN_FLIGHT_ITEMS)}
    assert query.count('{namespace="rl",service="rewards-rubricate"}') == 2
    assert (
        "replicas" not in objects["Deployment", "rewards-rubricate"]["spec"]
    )  # else each upgrade resets them


def test_other_settings_roll_the_pods() -> None:
    def checksum(values: dict[str, Any]) -> str:
        template = render(values)["Deployment", "rewards-rubricate"]["spec"]["template"]
        return str(template["metadata"]["annotations"]["checksum/settings"])

    assert checksum({"noAuth": True}) == checksum({"noAuth": True, "replicas": 3})
    assert checksum({"noAuth": True}) != checksum({"noAuth": True, "settings": {"deadline_s": 30}})


def test_names_fit_whatever_the_release_is_called() -> None:
    values = {**EVERYTHING, "nameOverride": "rubric-" * 9}
    objects = render(values, name="r" * 53)
    assert all(len(name) <= 52 for _, name in objects)
    assert ("Deployment", "my-rubricate") in render({"noAuth": True}, name="my-rubricate")


def test_the_chart_is_of_this_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert chart["appVersion"] == project["version"]
    container = the_service(render({"noAuth": True}))["containers"][0]
    assert container["image"] == f"rubricate:{project['version']}"


def test_every_value_has_a_schema_and_a_default() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    for name, value in values.items():
        described = schema["properties"][name]
        if isinstance(value, dict) and described.get("additionalProperties") is False:
            assert value.keys() == described["properties"].keys(), name
    assert schema["properties"].keys() - values.keys() == {"global", "nameOverride"}
