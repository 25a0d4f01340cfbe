"""vLLM dies in the middle of a batch: what it had judged arrives, and the rest is `failed`, never 0."""

from __future__ import annotations

import time
from typing import Any

import httpx2
import pytest

from engines.material import CRITERIA, groups
from engines.service_server import DEADLINE_S, Service
from engines.vllm_server import Vllm

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]

BODY = {"groups": groups()[::2], "options": {"judging": "all", "deadline_s": DEADLINE_S}}

Row = list[dict[str, Any]]
"""The verdicts on one response."""


def score_and_kill(service: Service, vllm: Vllm) -> tuple[dict[str, Row], float]:
    """Each group's verdicts when vLLM is killed behind the first of them, and the seconds from then on."""
    rows: dict[str, Row] = {}
    killed = 0.0
    for line in service.stream(BODY):
        if "stats" in line:
            return rows, time.monotonic() - killed
        if not rows:
            vllm.kill()
            killed = time.monotonic()
        rows[line["group"]["id"]] = line["group"]["responses"][0]["rubrics"]
    raise AssertionError("the stream ended without its last line")


def test_killed_in_the_middle_the_rest_arrives_and_is_judged_when_it_is_back(
    vllm: Vllm, service: Service
) -> None:
    rows, seconds = score_and_kill(service, vllm)
    assert seconds < 30
    assert len(rows) == len(BODY["groups"])
    assert {row[0]["status"] for row in rows.values()} == {"scored"}  # the check
    judged = [verdict for row in rows.values() for verdict in row[1:]]
    failed = [verdict for verdict in judged if verdict["status"] == "failed"]
    scored = [verdict for verdict in judged if verdict["status"] == "scored"]
    assert len(failed) + len(scored) == len(judged)
    assert len(scored) >= len(CRITERIA)  # the group that came first
    assert {(verdict["score"], verdict["error"]["kind"]) for verdict in failed} == {(None, "unreachable")}

    vllm.start()
    again = httpx2.post(f"{service.url}/v1/score", json=BODY, trust_env=False, timeout=DEADLINE_S + 20).json()
    counts = again["stats"]["judge"]
    assert (counts["cached"], counts["scored"]) == (len(scored), len(judged))
    for group in again["groups"]:
        for before, now in zip(rows[group["id"]], group["responses"][0]["rubrics"], strict=True):
            assert now["status"] == "scored"
            if before["status"] == "scored":
                assert now["score"] == before["score"]
