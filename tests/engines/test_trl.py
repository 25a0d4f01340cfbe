"""TRL's real GRPOTrainer on a CPU against the running service: what it trains on is RDAN, to 1e-6."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import pytest
from fastapi import FastAPI

from engines.process import free_port
from engines.trainer_program import environment
from rubricate_clients import RewardClient
from rubricate_clients.advantages import rdan
from rubricate_clients.testing import FakeJudge
from rubricate_clients.wire import ScoredResponse
from rubricate_service.app import create_app
from rubricate_service.settings import Settings
from serving import running_server

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

HERE = Path(__file__).parent
GENERATIONS = 4
PROMPTS = ["Write about a river.", "Write about a kitchen.", "Write about winter.", "Write about boats."]
RUBRICS: list[dict[str, Any]] = [
    {"id": "letter", "check": "text:contains", "kwargs": {"values": ["e"]}},
    {"id": "short", "check": "text:char_count", "kwargs": {"max": 24}, "hard": False},
    {"id": "calm", "criterion": "The sentence is calm."},
]


@pytest.fixture(scope="session")
def trl_bin() -> Path:
    """The programs of the environment that ``scripts/engines/trl.sh`` made."""
    return environment("trl")


class Counted:
    """The service, and how often it was asked for scores."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app
        self.posts = 0
        self.url = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.posts += scope["type"] == "http" and scope["path"] == "/v1/score"
        await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Counted]:
    with FakeJudge() as judge:  # its label depends on the text alone
        cache = str(tmp_path_factory.mktemp("service") / "verdicts.db")
        settings = Settings(judge=judge.url, judge_canaries=False, cache=cache, check_workers=1)
        counted = Counted(create_app(settings))
        with running_server(cast(FastAPI, counted)) as counted.url:
            yield counted


def run(
    program: Path, url: str, way: str, batch: int, out: Path, **env: str
) -> subprocess.CompletedProcess[str]:
    """Train in two processes where the program is torchrun, else in one."""
    given = {"url": url, "way": way, "batch": batch, "out": str(out), "generations": GENERATIONS}
    given |= {"prompts": PROMPTS, "rubrics": RUBRICS}
    processes = ["--standalone", "--nproc_per_node", "2"] if program.name == "torchrun" else []
    return subprocess.run(
        [program, *processes, HERE / "trl_training.py", json.dumps(given)],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "ACCELERATE_USE_CPU": "1", "OMP_NUM_THREADS": "1", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def expected(
    service: Counted, prompts: list[str], texts: list[str]
) -> tuple[list[float], list[ScoredResponse]]:
    """RDAN of a step's rows, and the scores that it comes from: every criterion judged, nothing gated."""
    starts = range(0, len(texts), GENERATIONS)
    groups = [
        {"prompt": prompts[n], "rubrics": RUBRICS, "responses": texts[n : n + GENERATIONS]} for n in starts
    ]
    assert all(len(set(prompts[n : n + GENERATIONS])) == 1 for n in starts)
    with RewardClient(service.url) as client:
        answer = client.score(groups, {"judging": "all"})
    scored = [response for group in answer.groups for response in group.responses]
    found = rdan(
        [row // GENERATIONS for row in range(len(texts))],
        outcome=[r.outcome for r in scored],
        quality=[r.quality for r in scored],
        eligible=[r.eligible for r in scored],
    )
    return list(found.advantages), scored


@pytest.mark.parametrize(
    ("way", "program", "batch", "posts"),
    [
        pytest.param("reward", "python", 8, 1, id="reward"),
        pytest.param("trainer", "python", 8, 1, id="trainer"),
        pytest.param("reward", "torchrun", 4, 2, id="reward, two processes with whole groups"),
        pytest.param("trainer", "torchrun", 2, 1, id="trainer, a group in two processes"),
    ],
)
def test_trains_on_rdan(
    trl_bin: Path, service: Counted, tmp_path: Path, way: str, program: str, batch: int, posts: int
) -> None:
    service.posts = 0
    done = run(trl_bin / program, service.url, way, batch, tmp_path / "out")
    assert done.returncode == 0, done.stderr[-4000:]
    assert service.posts == 2 * posts  # of each step, and where whole groups are apart, of each process

    written = [file.read_text().splitlines() for file in sorted(tmp_path.glob("out.[0-9]"))]
    *steps, ends = [[json.loads(line) for line in lines] for lines in zip(*written, strict=True)]
    assert len(steps) == 2
    taught: set[float] = set()
    for number, processes in enumerate(steps):
        rows: dict[str, list[Any]] = {
            name: [value for process in processes for value in process[name]]
            for name in ("prompts", "completions", "advantages")
        }
        wanted, scored = expected(service, rows["prompts"], rows["completions"])
        assert rows["advantages"] == pytest.approx(wanted, abs=1e-6)
        taught |= set(wanted)
        assert all(process["logged"] == pytest.approx(wanted, abs=1e-6) for process in processes)

        shown = ends[0]["history"][number]
        assert shown["rubricate/outcome"] == pytest.approx(fmean(r.outcome or 0.0 for r in scored), abs=1e-6)
        if way == "trainer":
            assert shown["rewards/outcome/mean"] == pytest.approx(shown["rubricate/outcome"], abs=1e-6)
        else:
            assert shown["reward"] == pytest.approx(0, abs=1e-6)
            assert {"rubricate/rubric/letter", "rubricate/rubric/calm"} <= shown.keys()
    assert len(taught) > 2  # rows that differ, or nothing was shown


@pytest.mark.parametrize("program", ["python", "torchrun"])
def test_without_a_service_training_ends_with_an_error_in_every_process(
    trl_bin: Path, tmp_path: Path, program: str
) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    batch = 2 if program == "torchrun" else 4
    done = run(trl_bin / program, nobody, "trainer", batch, tmp_path / "out", RUBRICATE_TIMEOUT_S="2")
    assert done.returncode != 0
    assert done.stderr.count("Unscored: none of 4 responses could be scored") >= (2 if batch == 2 else 1)
    assert nobody in done.stderr


def test_without_a_service_a_masked_batch_has_no_advantages(trl_bin: Path, tmp_path: Path) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    env = {"RUBRICATE_TIMEOUT_S": "1", "RUBRICATE_UNSCORED": "mask"}
    for way in ("reward", "trainer"):
        done = run(trl_bin / "python", nobody, way, 4, tmp_path / way, **env)
        assert done.returncode == 0, done.stderr[-4000:]
        *steps, end = map(json.loads, (tmp_path / f"{way}.0").read_text().splitlines())
        assert [step["advantages"] for step in steps] == [[0.0] * 4] * 2
        assert [shown["rubricate/undecided_rate"] for shown in end["history"][:2]] == [1.0, 1.0]


def test_advantages_on_tensors(trl_bin: Path) -> None:
    """The tests of the advantages once more, here where torch is."""
    names = ("reference", "inputs", "tokens")
    tests = [HERE.parent / "clients" / f"test_advantages_{name}.py" for name in names]
    done = subprocess.run(
        [trl_bin / "python", "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *tests],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "passed" in done.stdout
    assert "skipped" not in done.stdout
