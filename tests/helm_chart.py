"""The Helm chart for tests: values that it takes, and the objects that Helm makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

helm = pytest.importorskip("helm_python", reason="Helm is not installed: pip install helm-python-sdk")
yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
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
