"""Two hundred judgements by a real vLLM: each is the server's own answer, and none is bought twice."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from engines.material import CRITERIA, groups
from engines.service_server import DEADLINE_S
from engines.vllm_server import Vllm
from rubricate_clients import RewardClient
from rubricate_clients.wire import ScoreAnswer, Verdict
from rubricate_service.judge.reading import MIN_LABEL_MASS

pytestmark = [pytest.mark.engine, pytest.mark.timeout(1500)]

ASKED = 20 * len(CRITERIA)


def verdicts(answer: ScoreAnswer) -> list[Verdict]:
    """The judge's verdicts, in the request's order."""
    return [v for group in answer.groups for response in group.responses for v in response.rubrics[1:]]


@pytest.fixture(scope="module")
def first_pass(client: RewardClient) -> ScoreAnswer:
    return client.score(groups(), {"judging": "all", "explain": True, "deadline_s": DEADLINE_S})


def test_every_judgement_is_made(first_pass: ScoreAnswer) -> None:
    assert [(v.status, v.error) for v in verdicts(first_pass)] == [("scored", None)] * ASKED
    assert all(v.label is not None and v.score == v.label / 2 for v in verdicts(first_pass))
    counts = first_pass.stats["judge"]
    assert (counts["scored"], counts["calls"], counts["cached"]) == (ASKED, ASKED, 0)
    judge = first_pass.provenance["judge"]
    assert (judge["model"], judge["form"]) == ("judge", "prefilled")


def test_verdicts_are_those_of_the_server_asked_directly(vllm: Vllm, first_pass: ScoreAnswer) -> None:
    with ThreadPoolExecutor(16) as threads:
        answers = threads.map(lambda v: vllm.label_logprobs(v.judge_prompt or []), verdicts(first_pass))
    for verdict, logprobs in zip(verdicts(first_pass), answers, strict=True):
        assert str(verdict.label) == max(logprobs, key=lambda label: logprobs[label])
        shares = {label: math.exp(logprob) for label, logprob in logprobs.items()}
        mass = sum(shares.values())
        assert verdict.label_mass == pytest.approx(mass, abs=1e-3)
        mean = sum(int(label) / 2 * share for label, share in shares.items()) / mass
        assert verdict.expected == (pytest.approx(mean, abs=1e-3) if mass >= MIN_LABEL_MASS else None)


def test_the_criteria_of_a_response_share_its_prompt_in_the_prefix_cache(first_pass: ScoreAnswer) -> None:
    counts = first_pass.stats["judge"]
    assert counts["prompt_tokens"] > 500 * ASKED
    assert counts["cached_prompt_tokens"] >= 0.7 * counts["prompt_tokens"]


def test_a_second_pass_asks_the_judge_nothing(client: RewardClient, first_pass: ScoreAnswer) -> None:
    second = client.score(groups(), {"judging": "all"})
    counts = second.stats["judge"]
    assert (counts["calls"], counts["cached"], counts["scored"]) == (0, ASKED, ASKED)
    assert all(v.cached for v in verdicts(second))
    assert [v.label for v in verdicts(second)] == [v.label for v in verdicts(first_pass)]
