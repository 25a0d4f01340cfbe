"""What checks do to the processes that run them: each test is named by its row of the fault and attack list.

F19 workers that are killed, F20 checks and rules without end or measure.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import httpx2
import pytest

from rubricate_service.app import create_app
from rubricate_service.settings import Settings
from serving import running_server

COMMA = {"check": "punctuation:no_comma"}
# backtracks for hours on a run of a's that a b ends
ENDLESS = {"check": "keywords:existence", "kwargs": {"keywords": ["(a+)+$"]}}
BAIT = "a" * 60 + "b"
LIMIT_S = 1.0
PATIENCE_S = 60.0


def score(url: str, *groups: dict[str, Any]) -> list[dict[str, Any]]:
    """The groups' answers."""
    answer = httpx2.post(
        f"{url}/v1/score", json={"groups": list(groups)}, timeout=PATIENCE_S, trust_env=False
    )
    assert answer.status_code == 200, answer.text
    scored: list[dict[str, Any]] = answer.json()["groups"]
    return scored


def group(rubrics: list[dict[str, Any]], *responses: str) -> dict[str, Any]:
    return {"prompt": "Say something.", "rubrics": rubrics, "responses": list(responses)}


def rule(body: str) -> dict[str, Any]:
    source = f"def check_following(instruction, response):\n    {body}"
    return {"check": "rule:python", "kwargs": {"source": source}}


def ran_s(pid: int) -> float:
    """Seconds of processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def kill_busy_workers(times: int) -> None:
    """Kill so many workers, each when it has been running a check for a while."""
    known: dict[int, float] = {}
    until = time.monotonic() + PATIENCE_S
    while times and time.monotonic() < until:
        for worker in active_children():
            if worker.name == "rubricate-checks" and worker.pid is not None:
                try:
                    ran = ran_s(worker.pid)
                except FileNotFoundError:
                    continue
                if ran > known.setdefault(worker.pid, ran) + 0.3 and times:
                    os.kill(worker.pid, signal.SIGKILL)
                    worker.join()
                    times -= 1
        time.sleep(0.05)
    assert not times, "no worker was ever busy"


@pytest.mark.parametrize(("kills", "kind"), [(1, "timeout"), (2, "crashed")])
def test_f19_a_worker_that_is_killed_costs_at_most_the_check_that_it_ran(
    tmp_path: Path, kills: int, kind: str
) -> None:
    """Once, the check runs again on another worker, to its own end; twice, it is given up."""
    made = Settings(cache=str(tmp_path / "v.db"), check_workers=1, check_timeout_s=5.0)
    with running_server(create_app(made)) as url, ThreadPoolExecutor() as pool:
        score(url, group([COMMA], "warm"))
        groups = [group([COMMA, ENDLESS], "fine", BAIT, "a, b"), *[group([COMMA], "c", "d, e")] * 20]
        work = pool.submit(score, url, *groups)
        kill_busy_workers(kills)
        first, *others = work.result()
    verdicts = [response["rubrics"] for response in first["responses"]]
    assert [row[0]["score"] for row in verdicts] == [1.0, 1.0, 0.0]
    assert [row[1]["status"] for row in verdicts] == ["scored", "failed", "scored"]
    assert verdicts[1][1]["score"] is None
    assert verdicts[1][1]["error"]["kind"] == kind
    assert [r["rubrics"][0]["score"] for g in others for r in g["responses"]] == [1.0, 0.0] * 20


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    cache = str(tmp_path_factory.mktemp("workers") / "v.db")
    made = Settings(cache=cache, check_workers=2, check_timeout_s=LIMIT_S)
    with running_server(create_app(made)) as url:
        yield url


@pytest.mark.parametrize(
    ("rubric", "kinds"),
    [
        pytest.param(ENDLESS, {"timeout"}, id="pattern"),
        pytest.param(rule("while True: pass"), {"rule_error"}, id="loop"),
        pytest.param(rule("return check_following(instruction, response)"), {"rule_error"}, id="recursion"),
        pytest.param(rule("return len('a' * 2_000_000_000) > 1"), {"rule_error"}, id="text of 2 GB"),
        pytest.param(rule("return len([0] * 300_000_000) > 1"), {"rule_error"}, id="list of 2 GB"),
        pytest.param(rule("return 10 ** 10 ** 10 > 1"), {"rule_error"}, id="number of 4 GB"),
        pytest.param(rule("return sorted(range(10 ** 9))[0] == 0"), {"rule_error"}, id="range of 32 GB"),
        pytest.param(
            rule("import re; return bool(re.match('(a+)+$', response))"),
            {"unsupported_rule", "rule_error"},
            id="pattern of a rule",
        ),
    ],
)
def test_f20_what_has_no_end_or_measure_is_stopped_and_holds_up_nobody(
    url: str, rubric: dict[str, Any], kinds: set[str]
) -> None:
    began = time.monotonic()
    hostile, control = score(url, group([COMMA, rubric], BAIT), group([COMMA], "fine", "a, b"))
    assert time.monotonic() - began < 20 * LIMIT_S
    comma, stopped = hostile["responses"][0]["rubrics"]
    assert comma["score"] == 1.0
    assert (stopped["score"], stopped["status"]) == (None, "failed")
    assert stopped["error"]["kind"] in kinds
    assert [response["rubrics"][0]["score"] for response in control["responses"]] == [1.0, 0.0]
    assert score(url, group([COMMA], "after"))[0]["responses"][0]["outcome"] == 1.0
    for worker in active_children():
        if worker.name == "rubricate-checks":
            peak = Path(f"/proc/{worker.pid}/status").read_text().partition("VmHWM:")[2].split()[0]
            assert int(peak) < 600_000  # KiB
