"""Gating changes no RDAN advantage, bit for bit, and makes no call that is not needed.

The whole pipeline runs, with a pool that decides by hash (or fails by hash) and an engine that labels by
hash (or fails by hash), so that every judging mode meets the same world.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rubricate_clients.wire import ScoreRequest
from rubricate_service.answer import groups_json
from rubricate_service.cache import Cache
from rubricate_service.judge.judge import Judge
from rubricate_service.judge.members import Fixed
from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.replicas import Replicas
from rubricate_service.judge.served import PLAINLY, Completion, Identity, Manner
from rubricate_service.pipeline import Scorer
from rubricate_service.pool import CheckPool, Findings
from rubricate_service.worker import CheckFault, Chunk, Finding, Outcome

CRITERIA = ["It is kind.", "It is true.", "It is short."]
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]


def draw(*parts: str) -> int:
    return zlib.crc32("\0".join(parts).encode()) % 100


class HashPool(CheckPool):
    """Decides a check by hash: 60 % hold, 30 % do not, 10 % crash."""

    def __init__(self) -> None:
        super().__init__(1)

    async def run(self, chunk: Chunk, deadline: float, slow: object = None) -> Findings:
        return [[self._one(item.text, chunk.specs[s].kwargs) for s in item.specs] for item in chunk.items]

    @staticmethod
    def _one(text: str, kwargs: bytes) -> Outcome:
        number = draw(text, kwargs.decode())
        return CheckFault("crashed", "gone") if number < 10 else Finding(number < 70, "something")


class HashEngine:
    """Labels by hash of the prompt; 15 % of the questions never get a readable answer."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    async def identify(self, deadline: float) -> Identity:
        return Identity("hash", "1")

    async def complete(
        self, messages: Sequence[Mapping[str, str]], deadline: float, manner: Manner = PLAINLY
    ) -> Completion:
        text = messages[-1]["content"]
        self.calls[text] += 1
        number = draw(text)
        if number < 15:
            raise JudgeFailure("refused", "no")
        return Completion(str(number % 3), "stop")

    async def close(self) -> None:
        pass


def rubrics() -> st.SearchStrategy[list[dict[str, Any]]]:
    check = st.fixed_dictionaries(
        {
            "check": st.just("length_constraints:number_words"),
            "kwargs": st.fixed_dictionaries(
                {"num_words": st.integers(1, 3), "relation": st.just("at least")}
            ),
        },
        optional={"hard": st.booleans(), "negative": st.booleans()},
    )
    faulty = st.fixed_dictionaries({"check": st.just("no:such")}, optional={"hard": st.booleans()})
    criterion = st.fixed_dictionaries(
        {"criterion": st.sampled_from(CRITERIA)},
        optional={
            "hard": st.booleans(),
            "negative": st.booleans(),
            "pass_at": st.sampled_from([0.5, 1.0]),
            "weight": st.sampled_from([0.5, 2.0]),
        },
    )
    usual = st.lists(st.one_of(check, criterion), min_size=1, max_size=5)
    return st.one_of(usual, usual, st.tuples(faulty, usual).map(lambda pair: [pair[0], *pair[1]]))


GROUPS = st.lists(
    st.fixed_dictionaries(
        {
            "prompt": st.sampled_from(["First prompt.", "Second prompt."]),
            "rubrics": rubrics(),
            "responses": st.lists(st.sampled_from([*WORDS, "", ":"]), min_size=1, max_size=8),
        }
    ),
    min_size=1,
    max_size=3,
)


async def score(
    groups: list[dict[str, Any]], judging: str, outcome: str = "all", method: str = "rdan"
) -> tuple[list[dict[str, Any]], HashEngine, int]:
    engine = HashEngine()
    judge = Judge(Replicas(Fixed({"one": engine})), Cache(None), secret=b"secret")
    request = ScoreRequest.model_validate(
        {
            "groups": groups,
            "options": {"judging": judging, "outcome": outcome, "advantages": {"method": method}},
        }
    )
    scorer = Scorer(HashPool(), judge, 30.0)
    run = scorer.run(request.options)
    async with aclosing(scorer.stream(request, run)) as stream:
        scored = sorted([group async for group in stream], key=lambda group: group.index)
    await judge.close()
    return groups_json(scored, request.options.advantages), engine, run.usage.calls


def advantages(groups: list[dict[str, Any]]) -> list[Any]:
    return [
        (r["advantage"], r["a_out"], r["a_proc"], r["outcome"], r["eligible"])
        for group in groups
        for r in group["responses"]
    ]


@given(GROUPS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_gated_advantages_are_those_of_judging_everything(groups: list[dict[str, Any]]) -> None:
    needed, engine, calls = asyncio.run(score(groups, "needed"))
    eligible, _, calls_eligible = asyncio.run(score(groups, "eligible"))
    everything, _, calls_all = asyncio.run(score(groups, "all"))
    faulty = any(r.get("check") == "no:such" and r.get("hard", True) for g in groups for r in g["rubrics"])
    if not faulty:  # else the outcome of a group that teaches nothing may stay open where `all` says 0
        assert advantages(needed) == advantages(everything) == advantages(eligible)
    assert [a[:3] for a in advantages(needed)] == [a[:3] for a in advantages(everything)]
    assert calls <= calls_eligible <= calls_all
    assert max(engine.calls.values(), default=0) <= 1, "a question was asked twice"


@given(GROUPS, st.sampled_from(["all", "fraction"]), st.sampled_from(["rdan", "rdan_ngrpo"]))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_so_are_those_of_partial_outcomes_and_of_ngrpo(
    groups: list[dict[str, Any]], outcome: str, method: str
) -> None:
    needed, _, _ = asyncio.run(score(groups, "needed", outcome, method))
    everything, _, _ = asyncio.run(score(groups, "all", outcome, method))
    assert [a[:3] for a in advantages(needed)] == [a[:3] for a in advantages(everything)]


@given(GROUPS)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_soft_criteria_are_judged_for_eligible_responses_of_groups_that_have_two(
    groups: list[dict[str, Any]],
) -> None:
    answers, _, _ = asyncio.run(score(groups, "needed"))
    for group, answer in zip(groups, answers, strict=True):
        eligible = [response["eligible"] for response in answer["responses"]]
        for response in answer["responses"]:
            for rubric, verdict in zip(group["rubrics"], response["rubrics"], strict=True):
                if "criterion" not in rubric or rubric.get("hard") or "reason" in verdict:
                    continue  # a reason: skipped, blank or content-free, so not judged
                assert response["eligible"]
                assert sum(eligible) >= 2
