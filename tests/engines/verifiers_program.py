"""A program for verifiers' own environment: has it score rollouts, and prints what it made of them as JSON.

Its argument is a job, as JSON: `how` (v0, v0-function, v1), `prompt`, `rubrics`, `responses`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

ADAPTER = "rubricate_clients.adapters.verifiers"


async def v0(given: dict[str, Any], *, function: bool) -> list[dict[str, Any]]:
    """A group through `Rubric.score_group`, as `Environment` does it."""
    import verifiers as vf

    from rubricate_clients.adapters import verifiers as adapter

    states = [
        vf.State(
            input={
                "prompt": [vf.types.UserMessage(content=given["prompt"])],
                "answer": "",
                "info": {"rubrics": given["rubrics"]},
                "example_id": 0,
            },
            completion=[vf.types.AssistantMessage(content=response)],
            trajectory=[{"advantage": None, "reward": None}],
            error=None,
        )
        for response in given["responses"]
    ]
    rubric = vf.Rubric(funcs=[adapter.rdan_reward]) if function else adapter.RDANRubric()
    assert rubric.has_group_rewards
    await rubric.score_group(states)
    return [{name: state[name] for name in ("reward", "advantage", "metrics")} for state in states]


async def v1(given: dict[str, Any]) -> list[dict[str, Any]]:
    """Each rollout through `Task.score`, with our functions plugged in by configuration."""
    import verifiers.v1 as vf
    from verifiers.v1.graph import MessageNode
    from verifiers.v1.trace import AgentInfo, TraceTask

    class Data(vf.TaskData):  # type: ignore[misc]
        rubrics: list[dict[str, Any]]

    class Task(vf.Task[Data]):  # type: ignore[misc]
        pass

    config = vf.TaskConfig.model_validate(
        {
            "metrics": {"rdan": {"fn": f"{ADAPTER}:rdan_metrics"}},
            "rewards": {"gated": {"fn": f"{ADAPTER}:rdan_score"}},
        }
    )
    task = Task(Data(prompt=given["prompt"], rubrics=given["rubrics"]), config)
    scored = []
    for response in given["responses"]:
        trace = vf.Trace(
            task=TraceTask(type="Task", data=task.data),
            agent=AgentInfo(config=vf.AgentConfig()),
            nodes=[
                MessageNode(message=vf.UserMessage(content=given["prompt"])),
                MessageNode(message=vf.AssistantMessage(content=response), parent=0, sampled=True),
            ],
        )
        await task.score(trace)
        scored.append({"reward": trace.reward, "metrics": trace.metrics})
    return scored


def main() -> None:
    """Print the rollouts, or the error's type and words."""
    given = json.loads(sys.argv[1])
    how = given["how"]
    work = v1(given) if how == "v1" else v0(given, function=how == "v0-function")
    try:
        found: dict[str, Any] = {"rollouts": asyncio.run(work)}
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
