"""Tenants on a real engine: what one has asked makes no answer faster for another."""

from __future__ import annotations

import asyncio

import pytest

from engines.material import CRITERIA, questions
from engines.vllm_server import Vllm
from rubricate_service.cache import Cache
from rubricate_service.judge import Judge, Question, Usage
from rubricate_service.judge.http import HttpModel
from rubricate_service.judge.members import Fixed
from rubricate_service.judge.replicas import Replicas

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

DEADLINE_S = 280.0


def test_the_same_salt_finds_a_prefix_and_another_does_not(vllm: Vllm) -> None:
    async def test() -> list[float]:
        # a secret that no other test has: nothing of these prompts is in the prefix cache
        judge = Judge(Replicas(Fixed({"one": HttpModel(vllm.url)})), Cache(None), secret=b"tenants")
        prompt, response = questions()[0]
        shares = []
        for criterion, tenant in zip(CRITERIA, ("a", "a", "b", "b", "", "", "a"), strict=False):
            usage, deadline = Usage(), asyncio.get_running_loop().time() + DEADLINE_S
            question = Question((("user", prompt),), response, criterion)
            await judge.ask(question, deadline=deadline, usage=usage, tenant=tenant)
            shares.append(usage.cached_prompt_tokens / usage.prompt_tokens)
        await judge.close()
        return shares

    a, a_again, b, b_again, nobody, nobody_again, a_at_last = asyncio.run(test())
    assert a == b == 0.0
    assert min(a_again, b_again, nobody_again, a_at_last) > 0.6
    assert nobody < 0.5  # the instructions alone may have been seen without a salt
