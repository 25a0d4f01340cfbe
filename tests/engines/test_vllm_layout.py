"""What the order of the judge's prompt is worth: the criterion last, so that a response is read once."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from engines.material import CRITERIA, questions
from engines.vllm_server import Messages, Vllm
from rubricate_service.judge import Completion, Question
from rubricate_service.judge.http import HttpModel
from rubricate_service.judge.template import default_template

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

CONCURRENCY = 32
ROUNDS = 2
RESPONSES_A_ROUND = 4
ASKED = CRITERIA[: CONCURRENCY // RESPONSES_A_ROUND]  # a round is one full load

_CRITERION = re.compile(r"BEGIN CRITERION (\w+)\n.*?\nEND CRITERION \1\n\n", re.DOTALL)
_FIRST_DATA = "BEGIN PROMPT"


@dataclass
class Tally:
    """What one order of the prompt cost."""

    calls: int = 0
    seconds: float = 0.0
    tokens: int = 0
    cached_tokens: int = 0

    def add(self, completions: Sequence[Completion], seconds: float) -> None:
        self.calls += len(completions)
        self.seconds += seconds
        self.tokens += sum(c.prompt_tokens for c in completions)
        self.cached_tokens += sum(c.cached_prompt_tokens for c in completions)

    @property
    def calls_per_s(self) -> float:
        return self.calls / self.seconds

    @property
    def cached(self) -> float:
        return self.cached_tokens / self.tokens


def criterion_first(messages: Messages) -> list[dict[str, str]]:
    """The same prompt with the criterion before all other data."""
    system, user, *others = messages
    text = user["content"]
    block = _CRITERION.search(text)
    assert block is not None
    before, found, after = (text[: block.start()] + text[block.end() :]).partition(_FIRST_DATA)
    assert found
    return [dict(system), {**user, "content": f"{before}{block[0]}{found}{after}"}, *map(dict, others)]


def long_questions() -> list[Question]:
    """Eight questions about each of eight responses of 400 words, those about one response adjacent."""
    pairs = questions()
    long = [(prompt, f"{text} {more}") for (prompt, text), (_, more) in zip(pairs, pairs[5:], strict=False)]
    return [
        Question((("user", prompt),), response, criterion)
        for prompt, response in long[: ROUNDS * RESPONSES_A_ROUND]
        for criterion in ASKED
    ]


async def ask_all(url: str, prompts: Sequence[Messages]) -> tuple[list[Completion], float]:
    """All answers, and the seconds that they took."""
    engine = HttpModel(url)
    deadline = asyncio.get_running_loop().time() + 280
    await engine.identify(deadline)
    slots = asyncio.Semaphore(CONCURRENCY)

    async def ask(messages: Messages) -> Completion:
        async with slots:
            return await engine.complete(messages, deadline)

    try:
        began = time.monotonic()
        completions = await asyncio.gather(*map(ask, prompts))
        return completions, time.monotonic() - began
    finally:
        await engine.close()


def test_the_criterion_last_is_at_least_twice_as_fast_as_first(
    vllm: Vllm, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = long_questions()
    template = default_template()
    # secrets of their own give the two orders different delimiters: neither finds the other's tokens cached
    last = [template.messages(question, b"criterion last", begun=True) for question in asked]
    first = [
        criterion_first(template.messages(question, b"criterion first", begun=True)) for question in asked
    ]
    tallies = {"criterion last": Tally(), "criterion first": Tally()}
    asyncio.run(ask_all(vllm.url, last[:1]))  # both orders find the instructions cached
    size = len(asked) // ROUNDS
    for start in range(0, len(asked), size):  # in turns, so that a busy machine slows both down
        for tally, prompts in zip(tallies.values(), (last, first), strict=True):
            tally.add(*asyncio.run(ask_all(vllm.url, prompts[start : start + size])))
    with capsys.disabled():
        print(f"\n{len(asked)} judge calls on responses of 400 words, {CONCURRENCY} at once:")
        for name, tally in tallies.items():
            print(f"  {name}: {tally.calls_per_s:.2f} calls/s, {tally.cached:.0%} of the tokens cached")
    assert tallies["criterion last"].cached >= 0.7
    assert tallies["criterion last"].calls_per_s >= 2 * tallies["criterion first"].calls_per_s
