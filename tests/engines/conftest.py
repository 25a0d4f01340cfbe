"""One vLLM for all tests on a real engine, and a service of its own for each module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.service_server import DEADLINE_S, Service
from engines.trainer_program import home_of
from engines.vllm_server import Vllm
from rubricate_clients import RewardClient


@pytest.fixture(scope="session")
def vllm_home() -> Path:
    """The folder that ``scripts/engines/vllm.sh`` made."""
    return home_of("vllm")


@pytest.fixture(scope="session")
def started_vllm(vllm_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vllm]:
    vllm = Vllm(vllm_home, tmp_path_factory.mktemp("vllm") / "log")
    vllm.start()
    yield vllm
    vllm.stop()


@pytest.fixture
def vllm(started_vllm: Vllm) -> Vllm:
    """A vLLM that runs, even if the test before has killed it."""
    started_vllm.start()
    return started_vllm


@pytest.fixture(scope="module")
def service(started_vllm: Vllm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    started_vllm.start()
    service = Service(tmp_path_factory.mktemp("service"), started_vllm.url)
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[RewardClient]:
    with RewardClient(service.url, timeout_s=DEADLINE_S + 60) as client:
        yield client
