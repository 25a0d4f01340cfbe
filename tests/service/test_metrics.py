"""`GET /metrics`: the right figures, from all processes, to those who may see them."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from rubricate_clients.testing import FakeJudge, Fault
from rubricate_service.app import create_app
from rubricate_service.http.auth import digest, new_token
from rubricate_service.http.settings import TokenSettings
from rubricate_service.settings import Settings
from rubricate_service.telemetry import metrics
from service_process import serving

COMMA = {"check": "punctuation:no_comma"}
UNKNOWN = {"check": "text:no_such_check", "hard": False}
KIND = {"criterion": "The answer is kind."}
TRUE = {"criterion": "The answer is true."}


def group(rubrics: list[Any], *responses: str) -> dict[str, Any]:
    return {"prompt": "Say something.", "rubrics": rubrics, "responses": list(responses)}


Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


def figures(client: TestClient) -> Figures:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
    }


class Growth:
    """By how much each figure grows; they are of the process, and other tests have added to them."""

    def __init__(self, before: Figures) -> None:
        self._before = before
        self.after: Figures = {}

    def __call__(self, name: str, **labels: str) -> float:
        key = (f"rubricate_{name}", frozenset(labels.items()))
        return self.after[key] - self._before.get(key, 0.0)


@contextmanager
def growing(client: TestClient) -> Iterator[Growth]:
    growth = Growth(figures(client))
    yield growth
    growth.after = figures(client)


def score(client: TestClient, *groups: dict[str, Any], **options: Any) -> dict[str, Any]:
    answer = client.post("/v1/score", json={"groups": groups, "options": options})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_a_request_counts_as_its_stats_say(client: TestClient, judge: FakeJudge) -> None:
    judge.answer = lambda call: "1" if "kind" in call.text else "2"
    asked = group([COMMA, UNKNOWN, KIND, TRUE], "first", "second", "third, which fails")
    with growing(client) as grew:
        stats = score(client, asked)["stats"]["judge"]
        again = score(client, asked)["stats"]["judge"]
    assert (stats["calls"], again["calls"], again["cached"]) == (4, 0, 4)
    assert grew("responses_total", tenant="") == 6
    assert grew("verdicts_total", source="check", status="scored") == 6
    assert grew("verdicts_total", source="check", status="failed") == 6
    assert grew("failures_total", source="check", kind="unknown_check") == 6
    assert grew("verdicts_total", source="judge", status="scored") == 8
    assert grew("verdicts_total", source="judge", status="skipped") == 4
    assert grew("judge_calls_total") == grew("judge_call_seconds_count") == 4
    assert grew("judge_saved_calls_total", how="cache") == 4
    assert grew("judge_saved_calls_total", how="gate") == 4
    assert grew("judge_halves_total") == 4
    assert grew("judge_tokens_total", type="prompt") == stats["prompt_tokens"] > 0
    assert grew("cache_lookups_total", found="memory") >= 4
    assert grew("stage_seconds_count", stage="total") == 2
    assert grew("check_seconds_total", suite="ifeval") > 0
    assert grew("http_requests_total", route="/v1/score", status="200") == 2
    assert grew.after["rubricate_judge_replicas", frozenset({("state", "ok")})] == 1
    assert grew.after["rubricate_check_workers", frozenset()] == 2


def test_label_mass_counts_where_the_judge_tells_it(client: TestClient, judge: FakeJudge) -> None:
    judge.answer = {"2": 0.6, "0": 0.2, "no": 0.2}
    with growing(client) as grew:
        score(client, group([KIND], "one", "two"), cache="off")
    assert grew("judge_label_mass_ratio_count") == 2
    assert grew("judge_label_mass_ratio_sum") == pytest.approx(1.6)


def test_failures_count_by_kind(client: TestClient, judge: FakeJudge) -> None:
    judge.fail_when(Fault.status(401), lambda call: True)
    with growing(client) as grew:
        score(client, group([KIND], "alpha", "beta"), cache="off")
    assert grew("failures_total", source="judge", kind="unauthorized") == 2
    assert grew("judge_call_failures_total", kind="unauthorized") == 2
    assert grew("verdicts_total", source="judge", status="failed") == 2


def test_names_of_clients_make_no_series(client: TestClient) -> None:
    def series() -> set[Any]:
        return {key for key in figures(client) if key[0].startswith("rubricate_")}

    score(client, group([COMMA, UNKNOWN], "x"))
    client.get("/nowhere")
    before = series()
    for number in range(30):
        client.get(f"/nowhere/{number}")
        client.get(f"/v1/checks/no:{number}")
        body = {"groups": [{**group([COMMA, {"check": f"no:{number}"}], "x"), "id": f"g{number}"}]}
        client.post("/v1/score", json=body, headers={"X-Request-Id": f"id{number}", "X-Run": f"r{number}"})
    assert {name for name, _ in series() - before} <= {
        "rubricate_http_requests_total",
        "rubricate_http_request_seconds_bucket",
        "rubricate_http_request_seconds_count",
        "rubricate_http_request_seconds_sum",
    }
    assert len(series() - before) < 25  # one route more, and its statuses


def test_tenants_beyond_the_first_hundred_share_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "_tenants", set())
    labels = [metrics.tenant_label(f"tenant{number}") for number in range(150)]
    assert len(set(labels)) == 101
    assert labels[120] == "other"
    assert metrics.tenant_label("tenant7") == "tenant7"


def test_metrics_are_for_admins(tmp_path: Path) -> None:
    tokens = {name: new_token() for name in ("read", "score", "admin")}
    tables = {name: TokenSettings(hash=digest(token), scopes=[name]) for name, token in tokens.items()}
    with TestClient(
        create_app(Settings(cache=str(tmp_path / "v.db"), check_workers=1, tokens=tables))
    ) as app:
        statuses = {
            name: app.get("/metrics", headers={"Authorization": f"Bearer {token}"}).status_code
            for name, token in tokens.items()
        }
        assert statuses == {"read": 403, "score": 403, "admin": 200}
        assert app.get("/metrics").status_code == 401


@pytest.mark.timeout(240)
def test_two_processes_add_up(tmp_path: Path) -> None:
    with FakeJudge(answer="2") as judge, serving(tmp_path, "--judge", judge.url, "--workers", "2") as service:
        service.until(lambda: service.metric("rubricate_check_workers") == 2)
        asked = [{"groups": [group([COMMA, KIND], f"a{n}", f"b{n}", f"c, {n}")]} for n in range(40)]
        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(service.score, asked))
        assert all(answer.status_code == 200 for answer in answers)
        by_process = [
            int(re.findall(r"_(\d+)\.db", file.name)[0]) for file in folder_of(service).glob("counter_*.db")
        ]
        assert sorted(by_process) == sorted(service.workers())
        assert service.metric("rubricate_responses_total") == 120
        assert service.metric("rubricate_verdicts_total", source="check") == 120
        assert service.metric("rubricate_verdicts_total", source="judge", status="scored") == 80
        assert service.metric("rubricate_judge_calls_total") == len(judge.calls) == 80
        assert service.metric("rubricate_http_requests_total", route="/v1/score") == 40
        assert service.metric("rubricate_stage_seconds_count", stage="total") == 40
        assert service.metric("rubricate_place_items") == 2 * 4096
        assert service.metric("rubricate_in_flight_items") == 0
        assert service.metric("rubricate_judge_replicas", state="ok") == 1
        folder = folder_of(service)
        shutil.rmtree(folder)  # as cleaners of temporary files do
        assert service.get("/metrics").status_code == 200
        shutil.rmtree(folder)
        left = service.workers()
        os.kill(left[0], signal.SIGKILL)
        service.until(lambda: len(service.workers()) == 2 and left[0] not in service.workers())
        service.until(lambda: service.metric("rubricate_place_items") >= 4096)
        service.terminate()
        assert service.process.wait(60) == 0
        assert not folder.exists()


def folder_of(service: Any) -> Path:
    """Where its processes share their metrics."""
    variables = Path(f"/proc/{service.workers()[0]}/environ").read_text().split("\0")
    return Path(dict(v.partition("=")[::2] for v in variables)["PROMETHEUS_MULTIPROC_DIR"])
