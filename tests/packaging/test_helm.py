"""The chart, rendered by Helm's own library and held against Kubernetes' schemas. No cluster is asked."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import REGISTRY

from rubricate_service import telemetry  # noqa: F401
from rubricate_service.app import create_app
from rubricate_service.http.exposure import refusal_to_serve
from rubricate_service.lifecycle import prestop_time_s
from rubricate_service.settings import Settings

helm = pytest.importorskip("helm_python", reason="Helm is not installed: pip install helm-python-sdk")
kubernetes = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "helm" / "rubricate"
CUSTOM = ("ScaledObject", "ServiceMonitor")
"""Kinds that others than Kubernetes define: no schema of theirs is at hand."""

HASH = "sha256:" + "0" * 64
TOKENS = {"alice": {"hash": HASH, "tenant": "team-a", "scopes": ["score"]}}
EVERYTHING: dict[str, Any] = {
    "settings": {"tokens": TOKENS, "deadline_s": 90.5, "limits": {"body_bytes": 5_000_000, "header_s": 2.5}},
    "secretName": "keys",
    "env": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4318", "FLAG": True},
    "imagePullSecrets": [{"name": "pull"}],
    "autoscaling": {"by": "keda", "prometheus": "http://prometheus:9090"},
    "nodeSelector": {"pool": "cpu"},
    "tolerations": [{"key": "cpu", "operator": "Exists"}],
    "metrics": {"serviceMonitor": True, "tokenSecret": {"name": "metrics"}, "labels": {"release": "prom"}},
    "networkPolicy": {"from": [{"namespaceSelector": {}}]},
    "redis": {"storage": "5Gi", "storageClass": "fast"},
    "judge": {
        "enabled": True,
        "replicas": 3,
        "args": ["--tensor-parallel-size=2"],
        "gpus": 2,
        "secretName": "hub",
        "env": {"HF_HUB_OFFLINE": "1"},
        "storageClass": "fast",
        "nodeSelector": {"pool": "gpu"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    },
}
SOUND: dict[str, dict[str, Any]] = {
    "tokens": {"settings": {"tokens": TOKENS}},
    "open": {"noAuth": True},
    "everything": EVERYTHING,
    "hpa": {"noAuth": True, "autoscaling": {"by": "hpa"}, "judge": {"enabled": True, "storage": ""}},
    "alone": {
        "noAuth": True,
        "replicas": 1,
        "redis": {"enabled": False},
        "settings": {"judge": "http://judge:8000", "prestop_s": 0, "drain_s": 20, "check_workers": 3},
        "networkPolicy": {"enabled": False},
        "podDisruptionBudget": {"enabled": False},
    },
    "redis elsewhere": {
        "secretName": "keys",
        "redis": {"enabled": False},
        "settings": {"cache": "rediss://redis.example:6380/1"},
    },
}

Objects = dict[tuple[str, str], dict[str, Any]]


def render(values: dict[str, Any], name: str = "rewards", namespace: str = "rl") -> Objects:
    """The objects that a release has, by kind and name."""
    with helm.Chart.load(CHART) as chart:
        files = chart.render(values, name=name, namespace=namespace)
    notes = next(text for path, text in files.items() if path.endswith("NOTES.txt"))
    assert "{{" not in notes
    documents = [
        document
        for path, text in files.items()
        if not path.endswith("NOTES.txt")
        for document in yaml.safe_load_all(text)
        if document is not None
    ]
    found = {(document["kind"], document["metadata"]["name"]): document for document in documents}
    assert len(found) == len(documents)
    return found


@pytest.fixture(params=SOUND, scope="module")
def case(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Objects]:
    values = SOUND[request.param]
    return values, render(values)


def pods(objects: Objects) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name, labels and spec of the pods of each workload."""
    for (kind, name), document in objects.items():
        if kind in ("Deployment", "StatefulSet"):
            template = document["spec"]["template"]
            assert (
                document["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
            )
            yield name, template["metadata"]["labels"], template["spec"]


def the_service(objects: Objects) -> dict[str, Any]:
    """The service's own pod."""
    spec: dict[str, Any] = objects["Deployment", "rewards-rubricate"]["spec"]["template"]["spec"]
    return spec


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


def image_variables() -> dict[str, str]:
    """What the image sets."""
    text = (ROOT / "Dockerfile").read_text()
    return dict(
        re.findall(
            r"\b(RUBRICATE_[A-Z_]+|XDG_[A-Z_]+)=(\S+)",
            text.partition(" AS runtime")[2].partition("\nFROM")[0],
        )
    )


@pytest.fixture
def started(
    case: tuple[dict[str, Any], Objects], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], Objects, Settings]:
    """The settings with which the service's container would start."""
    values, objects = case
    container = the_service(objects)["containers"][0]
    file = tmp_path / "rubricate.toml"
    file.write_text(objects["Secret", "rewards-rubricate"]["stringData"]["rubricate.toml"])
    requested = int(container["resources"]["requests"]["cpu"])
    for variable, value in image_variables().items():
        monkeypatch.setenv(variable, value)
    for entry in container["env"]:
        monkeypatch.setenv(entry["name"], entry.get("value", str(requested)))
    assert container["env"][0] == {"name": "RUBRICATE_CONFIG", "value": "/etc/rubricate/rubricate.toml"}
    monkeypatch.setenv("RUBRICATE_CONFIG", str(file))
    return values, objects, Settings()


def test_the_container_gets_the_settings(started: tuple[dict[str, Any], Objects, Settings]) -> None:
    values, objects, settings = started
    given = values.get("settings", {})
    container = the_service(objects)["containers"][0]
    assert (settings.host, settings.port) == ("0.0.0.0", container["ports"][0]["containerPort"])
    if not values.get("secretName"):
        assert refusal_to_serve(settings) is None
    assert settings.tokens.keys() == given.get("tokens", {}).keys()
    assert settings.check_workers == given.get("check_workers", 2)
    for name, value in given.get("limits", {}).items():
        assert getattr(settings.limits, name) == value
    if values.get("judge", {}).get("enabled"):
        service = objects["Service", "rewards-rubricate-judge"]
        assert service["spec"]["clusterIP"] == "None"
        assert settings.judge == f"dns+http://rewards-rubricate-judge:{service['spec']['ports'][0]['port']}"
    else:
        assert settings.judge == given.get("judge")
    if ("StatefulSet", "rewards-rubricate-redis") in objects:
        assert settings.cache == "redis://rewards-rubricate-redis:6379/0"
    else:
        assert settings.cache == given.get("cache", "/var/lib/rubricate/verdicts.db")


def test_a_pod_may_finish_what_it_took(started: tuple[dict[str, Any], Objects, Settings]) -> None:
    _, objects, settings = started
    needed = prestop_time_s(settings) + settings.drain_time_s
    granted = the_service(objects)["terminationGracePeriodSeconds"]
    assert needed + 10 <= granted <= needed + 20
    assert "preStop" not in json.dumps(the_service(objects))  # the service waits by itself


def test_probes_ask_what_the_service_answers(case: tuple[dict[str, Any], Objects], tmp_path: Path) -> None:
    document = create_app(Settings(cache=str(tmp_path / "v.db"))).openapi()
    container = the_service(case[1])["containers"][0]
    paths = {container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")}
    assert paths == {"/startupz", "/readyz", "/livez"}
    assert paths <= document["paths"].keys()
    for monitor in (d for (kind, _), d in case[1].items() if kind == "ServiceMonitor"):
        assert monitor["spec"]["endpoints"][0]["path"] in document["paths"]


def test_services_and_policies_reach_pods(case: tuple[dict[str, Any], Objects]) -> None:
    every = list(pods(case[1]))
    for (kind, name), document in case[1].items():
        spec = document.get("spec", {})
        if kind == "Service":
            wanted, ports = spec["selector"], {port["targetPort"] for port in spec["ports"]}
        elif kind == "NetworkPolicy":
            wanted = spec["podSelector"]["matchLabels"]
            ports = {port["port"] for rule in spec["ingress"] for port in rule["ports"]}
        elif kind in ("PodDisruptionBudget", "ServiceMonitor"):
            wanted, ports = spec["selector"]["matchLabels"], set()
        else:
            continue
        (chosen,) = [pod for _, labels, pod in every if wanted.items() <= labels.items()]
        offered = {port["name"] for container in chosen["containers"] for port in container["ports"]}
        assert ports <= offered, name


def test_pods_may_do_little(case: tuple[dict[str, Any], Objects]) -> None:
    for name, _, pod in pods(case[1]):
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        mounts = {volume["name"] for volume in pod.get("volumes", [])}
        for container in pod["containers"]:
            confined = container["securityContext"]
            assert confined["allowPrivilegeEscalation"] is False
            assert confined["capabilities"] == {"drop": ["ALL"]}
            if not name.endswith("-judge"):  # vLLM compiles into its home
                assert pod["securityContext"]["runAsNonRoot"] is True
                assert confined["readOnlyRootFilesystem"] is True
            claims = {"weights", "data"} if ("StatefulSet", name) in case[1] else set()
            assert {mount["name"] for mount in container["volumeMounts"]} <= mounts | claims


def test_the_variables_of_a_service_named_rubricate_are_kept_away(
    case: tuple[dict[str, Any], Objects], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubernetes sets RUBRICATE_PORT=tcp://… in pods beside such a Service, which is no port to listen on."""
    monkeypatch.setenv("RUBRICATE_PORT", "tcp://10.96.0.7:8080")
    with pytest.raises(ValueError, match="port"):
        Settings()
    assert all(pod["enableServiceLinks"] is False for _, _, pod in pods(case[1]))


def test_autoscaling_reads_metrics_that_there_are() -> None:
    objects = render(EVERYTHING)
    spec = objects["ScaledObject", "rewards-rubricate"]["spec"]
    assert spec["scaleTargetRef"]["name"] == "rewards-rubricate"
    query = spec["triggers"][0]["metadata"]["query"]
    named = set(re.findall(r"rubricate_\w+", query))
    assert named == {"rubricate_queue_items", "rubricate_in_flight_items"}
    assert named <= {metric.name for metric in REGISTRY.collect()}
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
