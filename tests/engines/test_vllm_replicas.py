"""Two real replicas: they share the work, responses stay whole, and one of them alone carries on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.material import CRITERIA, groups
from engines.service_server import DEADLINE_S, Service
from engines.vllm_server import Vllm

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]

Replicas = tuple[Vllm, Vllm]

NEEDED_GIB = 12
SHARED = groups()[::2]
SURVIVED = groups()[1::2]


@pytest.fixture(scope="module")
def replicas(
    vllm_home: Path, started_vllm: Vllm, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Replicas]:
    (line,) = (x for x in Path("/proc/meminfo").read_text().splitlines() if x.startswith("MemAvailable"))
    if int(line.split()[1]) >> 20 < NEEDED_GIB:
        pytest.skip(f"two replicas need {NEEDED_GIB} GiB of free memory")
    started_vllm.start()
    second = Vllm(vllm_home, tmp_path_factory.mktemp("second") / "log")
    second.start()
    yield started_vllm, second
    second.stop()


@pytest.fixture(scope="module")
def service_of_both(replicas: Replicas, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("service"), *(replica.url for replica in replicas))
    service.start()
    yield service
    service.stop()


def body(groups: list[dict[str, Any]]) -> dict[str, Any]:
    return {"groups": groups, "options": {"judging": "all", "deadline_s": DEADLINE_S}}


def test_both_replicas_work_and_neither_splits_a_response(
    replicas: Replicas, service_of_both: Service
) -> None:
    before = [replica.answered() for replica in replicas]
    *_, last = service_of_both.stream(body(SHARED))
    counts = last["stats"]["judge"]
    calls = [replica.answered() - count for replica, count in zip(replicas, before, strict=True)]
    assert counts["scored"] == counts["calls"] == len(SHARED) * len(CRITERIA)
    assert min(calls) >= len(CRITERIA)
    assert counts["cached_prompt_tokens"] >= 0.7 * counts["prompt_tokens"]


def test_when_one_is_killed_the_other_takes_over_and_nothing_fails(
    replicas: Replicas, service_of_both: Service
) -> None:
    lines: list[dict[str, Any]] = []
    for line in service_of_both.stream(body(SURVIVED)):
        if not lines:
            replicas[1].kill()
        lines.append(line)
    assert len(lines) == len(SURVIVED) + 1
    counts = lines[-1]["stats"]["judge"]
    assert (counts["scored"], counts["failed"]) == (len(SURVIVED) * len(CRITERIA), 0)
