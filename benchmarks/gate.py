"""What the gate saves: judge calls with `judging: needed` beside `judging: all`, and the same advantages.

Reads real groups of IFEval responses from the folder `inputs` beside the repository's shared data (or from
RUBRICATE_INPUTS), adds four soft criteria to each prompt, and scores them with a fake judge. Says so and
ends where the folder is absent.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from rubricate_clients.testing import FakeJudge
from rubricate_clients.wire import ScoreRequest
from rubricate_service.app import running_engine
from rubricate_service.routes.score import score_request
from rubricate_service.settings import Settings

INPUTS = Path(os.environ.get("RUBRICATE_INPUTS", Path(__file__).parents[2] / "shared" / "inputs"))
CRITERIA = [
    "The answer is clear.",
    "The answer is complete.",
    "The answer stays on topic.",
    "The tone is apt.",
]
STEP = 64


def groups() -> list[dict[str, Any]]:
    """Groups of eight responses with their checks and four criteria."""
    result = []
    for line in (INPUTS / "ifeval_groups.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        checks = [
            {"check": id, "kwargs": kwargs}
            for id, kwargs in zip(row["instruction_id_list"], row["kwargs"], strict=True)
        ]
        result.append(
            {
                "prompt": row["prompt"],
                "rubrics": checks + [{"criterion": criterion} for criterion in CRITERIA],
                "responses": [response["text"] for response in row["responses"]],
            }
        )
    return result


async def score(steps: list[list[dict[str, Any]]], judge: str, judging: str) -> tuple[int, list[Any]]:
    """Judge calls, and all advantages, of steps scored one after another without a cache."""
    calls, advantages = 0, []
    with tempfile.TemporaryDirectory() as folder:
        # one key, so that the fake judge, which goes by the text, meets the same prompts in both runs
        settings = Settings(judge=judge, cache=str(Path(folder) / "v.db"), secret=SecretStr("benchmark"))
        async with running_engine(settings) as engine:
            for step in steps:
                options = {"judging": judging, "cache": "off", "advantages": {"method": "rdan"}}
                request = ScoreRequest.model_validate({"groups": step, "options": options})
                answer = await score_request(engine.scorer, request)
                calls += answer["stats"]["judge"]["calls"]
                advantages += [
                    (r["a_out"], r["a_proc"], r["advantage"])
                    for g in answer["groups"]
                    for r in g["responses"]
                ]
    return calls, advantages


def main() -> None:
    """Print calls with and without the gate, and whether the advantages are equal."""
    if not INPUTS.is_dir():
        print(f"{INPUTS} is absent: nothing measured")
        return
    everything = groups()
    steps = [everything[start : start + STEP] for start in range(0, len(everything), STEP)]
    with FakeJudge() as judge:
        needed, gated = asyncio.run(score(steps, judge.url, "needed"))
        every, full = asyncio.run(score(steps, judge.url, "all"))
    print(f"judge calls: {needed} needed, {every} to judge everything ({1 - needed / every:.0%} saved)")
    print(f"advantages of {len(full)} responses equal, bit for bit: {gated == full}")
    if gated != full:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
