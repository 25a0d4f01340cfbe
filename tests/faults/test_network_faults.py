"""What networks do between the service and its judge: each is told as what it is, in time, and is over."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from faults.fault_proxy import OK, FaultProxy, Mode, corrupt, fault_proxy, hang, latency, limit, reset, slices
from rubricate_clients.testing import FakeJudge
from rubricate_service.app import create_app
from rubricate_service.settings import Settings

DEADLINE_S = 1.0
LATE_S = 1.0  # by which a verdict may come after its deadline

GROUP = {
    "prompt": "Say something.",
    "rubrics": [{"check": "punctuation:no_comma"}, {"criterion": "The answer is kind."}],
    "responses": ["good", "bad, very"],
}


@pytest.fixture
def judge() -> Iterator[FakeJudge]:
    with FakeJudge(answer="2") as judge:
        yield judge


@pytest.fixture
def way(judge: FakeJudge) -> Iterator[tuple[FaultProxy, str]]:
    with fault_proxy(judge.url) as way:
        yield way


@pytest.fixture
def client(way: tuple[FaultProxy, str], tmp_path: Path) -> Iterator[TestClient]:
    settings = Settings(judge=way[1], cache=str(tmp_path / "v.db"), check_workers=1)
    with TestClient(create_app(settings)) as client:
        yield client


def score(client: TestClient, deadline_s: float) -> list[dict[str, Any]]:
    """What is said of both responses."""
    answer = client.post("/v1/score", json={"groups": [GROUP], "options": {"deadline_s": deadline_s}})
    assert answer.status_code == 200, answer.text
    responses: list[dict[str, Any]] = answer.json()["groups"][0]["responses"]
    return responses


@pytest.mark.parametrize(
    ("mode", "kind"),
    [
        pytest.param(latency(1.5), "timeout", id="F2-slow"),
        pytest.param(hang(), "timeout", id="F3-half-open"),
        pytest.param(slices(5, 0.1), "timeout", id="F4-drip-feed"),
        pytest.param(corrupt(), "unreadable", id="F5-corrupt"),
        pytest.param(limit(0), "unreachable", id="F10-dies-before-its-answer"),
        pytest.param(limit(300), "unreachable", id="F10-dies-in-its-answer"),
        pytest.param(reset(), "unreachable", id="F10-reset"),
    ],
)
def test_a_fault_on_the_way_to_the_judge(
    client: TestClient, way: tuple[FaultProxy, str], judge: FakeJudge, mode: Mode, kind: str
) -> None:
    proxy, _ = way
    proxy.mode = mode
    # connections that the start has opened were made in the mode before
    judge.stop()
    judge.start()
    began = time.monotonic()
    good, bad = score(client, DEADLINE_S)
    assert time.monotonic() - began < DEADLINE_S + LATE_S
    assert [v["status"] for v in good["rubrics"]] == ["scored", "failed"]
    assert good["rubrics"][1]["score"] is None
    assert good["rubrics"][1]["error"]["kind"] == kind
    assert (good["outcome"], good["quality"], good["reward"]) == (1.0, None, None)
    if kind == "timeout":
        assert len(judge.calls) == 1  # and no second one beside it
    # what the judge is not needed for is there
    assert [v["score"] for v in bad["rubrics"]] == [0.0, None]
    assert (bad["outcome"], bad["reward"]) == (0.0, 0.0)
    # a connection that has failed is not used again, and nothing of the fault was kept
    proxy.mode, before = OK, proxy.connections
    assert score(client, 30.0)[0]["rubrics"][1]["score"] == 1.0
    assert proxy.connections > before


def test_f27_the_environments_proxies_get_none_of_the_judges_traffic(
    way: tuple[FaultProxy, str], judge: FakeJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    settings = Settings(judge=way[1], cache=str(tmp_path / "v.db"), check_workers=1)
    with TestClient(create_app(settings)) as client:
        assert score(client, 30.0)[0]["rubrics"][1]["score"] == 1.0
