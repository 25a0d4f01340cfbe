"""vLLM's exact form of a question: the answer is begun for the model, and one token, a label, ends it.

Only labels may be sampled, and the log-probabilities are those over the whole vocabulary: their sum tells
how much the model wanted to say a label at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from rubricate_service.judge.chat import read_answer, read_error
from rubricate_service.judge.reading import MIN_LABEL_MASS, JudgeFailure, read
from rubricate_service.judge.served import LABELS, SAMPLING, Completion

Post = Callable[[str, Mapping[str, Any], float], Awaitable[tuple[int, bytes]]]
"""Posts a body to a path of the server before a deadline; status and body of what it answers."""

_FOR_THE_MOMENT = frozenset({408, 429, 502, 503, 504})  # say nothing of what the server can do
_TRIAL = (
    {"role": "user", "content": "How much is 1 + 1? Answer with one digit."},
    {"role": "assistant", "content": "Answer: "},
)
"""Ends in a blank, as the judge's prompt does: digits are tokens of their own, and a blank comes before."""


def prefilled_body(
    model: str, messages: Sequence[Mapping[str, str]], label_ids: Sequence[int]
) -> dict[str, Any]:
    """Body of a call that goes on with the last message, the assistant's, by one label.

    Args:
        model: Name of the model.
        messages: The conversation; the last message is the assistant's and is only begun.
        label_ids: Token ids of the labels.
    """
    return {
        "model": model,
        "messages": list(messages),
        "add_generation_prompt": False,
        "continue_final_message": True,
        **SAMPLING,
        "max_tokens": 1,
        "allowed_token_ids": list(label_ids),
        "logprobs": True,
        "logprob_token_ids": list(label_ids),
    }


def read_prefilled(body: bytes) -> Completion:
    """The completion in the body of a 200, its text the one token that was sampled.

    A parser of thinking may take that token for a thought and leave the content empty.

    Raises:
        JudgeFailure: ``unreadable``: the body is not a chat completion.
    """
    completion = read_answer(body)
    if not completion.text and completion.tokens:
        return replace(completion, text=completion.tokens[0].text)
    return completion


async def learn_label_ids(post: Post, model: str, deadline: float) -> tuple[int, ...]:
    """Token ids of the labels at a server that takes this form; none at any other.

    Servers ignore fields that they do not know without a word, and a chat template may refuse a begun turn
    or trim the blank at its end (SmolLM2-135M then has 0.0001 on all labels, and 0.90 with it), so the form
    is tried once. A server that has no time for that is believed: it has vLLM's ``/tokenize``.

    Raises:
        JudgeFailure: The server cannot be asked now.
    """
    ids: list[int] = []
    for label in LABELS:
        wanted = {"model": model, "prompt": label, "add_special_tokens": False}
        status, body = await post("tokenize", wanted, deadline)
        if status in _FOR_THE_MOMENT:
            raise read_error(status, body, None, "")
        token = _lone_token(body) if status == 200 else None
        if token is None or token in ids:  # several tokens, or the unknown one
            return ()
        ids.append(token)
    until = (asyncio.get_running_loop().time() + deadline) / 2
    try:
        status, body = await post("v1/chat/completions", prefilled_body(model, _TRIAL, ids), until)
    except JudgeFailure:
        return tuple(ids)
    works = status in _FOR_THE_MOMENT or (status == 200 and _is_label_expected(body))
    return tuple(ids) if works else ()


def _lone_token(body: bytes) -> int | None:
    """The one token id in an answer of ``/tokenize``, or None."""
    try:
        match orjson.loads(body):
            case {"tokens": [int(token)]}:
                return token
    except orjson.JSONDecodeError:
        pass
    return None


def _is_label_expected(body: bytes) -> bool:
    """Whether an answer is one label, weighs each of them, and a label is what the model wanted to say."""
    try:
        completion = read_prefilled(body)
        mass = read(completion).label_mass
    except JudgeFailure:
        return False
    weighed = {label for token in completion.tokens or () for label, _ in token.labels or ()}
    return weighed == set(LABELS) and mass is not None and mass >= MIN_LABEL_MASS
