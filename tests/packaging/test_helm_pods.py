"""The pods of the Helm chart: with what they start, when they stop, what they may do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from helm_chart import ROOT, SOUND, Objects, pods, render, the_service
from rubricate_service.app import create_app
from rubricate_service.http.exposure import refusal_to_serve
from rubricate_service.lifecycle import prestop_time_s
from rubricate_service.settings import Settings


@pytest.fixture(params=SOUND, scope="module")
def case(request: pytest.FixtureRequest) -> tuple[dict[str, Any], Objects]:
    values = SOUND[request.param]
    return values, render(values)


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
