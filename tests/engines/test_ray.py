"""What `deploy/ray` has, on a Ray of one machine, with a scripted judge."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from engines.process import free_port
from engines.trainer_program import environment, run_program
from reward_service import ADVANTAGES, PROMPT, RESPONSES, RUBRICS, vividness
from rubricate_clients.testing import FakeJudge
from rubricate_service.http.auth import digest, new_token
from rubricate_service.settings import Settings

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

DEPLOY = Path(__file__).parents[2] / "deploy" / "ray"
GROUP = {"id": "fox", "prompt": PROMPT, "rubrics": RUBRICS, "responses": RESPONSES}
OPTIONS = {"advantages": {"method": "rdan"}}


def test_the_service_scores_on_ray_serve(tmp_path: Path) -> None:
    environment("ray")
    token = new_token()
    job = {
        "groups": [GROUP],
        "options": OPTIONS,
        "prefix": "/rewards",
        "port": free_port(),
        "cache": str(tmp_path / "v.db"),
        "token": token,
        "hash": digest(token),
    }
    with FakeJudge(vividness) as judge:
        found = run_program("ray", job, judge.url)
    (group,) = found["answer"]["groups"]
    assert [r["advantage"] for r in group["responses"]] == pytest.approx(ADVANTAGES)
    # the route's prefix stays on the path, and what is open is open all the same
    assert found["statuses"] == {"/readyz": 200, "/docs": 200, "/openapi.json": 200, "/v1/checks": 401}


def score_dataset(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [environment("ray") / "python", DEPLOY / "score_dataset.py", *arguments],
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RUBRICATE_JUDGE_CANARIES": "false"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_ray_data_scores_every_line_and_tells_those_that_are_none(tmp_path: Path) -> None:
    environment("ray")
    source, scored = tmp_path / "groups.jsonl", tmp_path / "scored"
    groups = [{**GROUP, "id": f"fox-{n}", "prompt": f"{PROMPT} ({n})"} for n in range(20)]
    lines = [*map(json.dumps, groups), "no group", '{"prompt": "p", "rubrics": [], "responses": ["r"]}']
    source.write_text("\n".join(lines) + "\n")
    with FakeJudge(vividness) as judge:
        done = score_dataset(
            str(source), str(scored), "--judge", judge.url, "--cache", str(tmp_path / "v.db"),
            "--cpus", "1", "--options", json.dumps(OPTIONS),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    rows: list[dict[str, Any]] = [
        json.loads(line) for file in scored.iterdir() for line in file.read_text().splitlines()
    ]
    wrong = [row["error"] for row in rows if "error" in row]
    assert {error["line"] for error in wrong} == set(lines[-2:])
    assert any("rubrics" in error["message"] for error in wrong)
    whole = {row["id"]: row for row in rows if "error" not in row}
    assert whole.keys() == {group["id"] for group in groups}
    for row in whole.values():
        assert [r["advantage"] for r in row["responses"]] == pytest.approx(ADVANTAGES)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--options", '{"advantages": {"method": "gdpo"}}'], "whole training step"),
        (["--options", '{"judging": "never"}'], "judging"),
        (["--cpus", "100000"], "the cluster has"),
    ],
)
def test_what_cannot_work_is_told(tmp_path: Path, arguments: list[str], told: str) -> None:
    environment("ray")
    done = score_dataset(str(tmp_path), str(tmp_path / "scored"), *arguments)
    assert done.returncode == 2
    assert told in done.stderr


def test_serve_takes_the_config_file() -> None:
    script = (
        "import sys, yaml; from ray.serve.schema import ServeDeploySchema as Schema; "
        "print(Schema(**yaml.safe_load(open(sys.argv[1]))).model_dump_json())"
    )
    done = subprocess.run(
        [environment("ray") / "python", "-c", script, DEPLOY / "serve.yaml"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (application,) = json.loads(done.stdout)["applications"]
    assert application["import_path"] == "serve_app:build"
    assert application["args"].keys() <= Settings.model_fields.keys()
    assert [deployment["name"] for deployment in application["deployments"]] == ["rubricate"]
