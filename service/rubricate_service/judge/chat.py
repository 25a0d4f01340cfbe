"""The OpenAI-compatible chat endpoint as vLLM speaks it: what is sent, and what of the answer is read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from rubricate_service.judge.reading import JudgeFailure
from rubricate_service.judge.served import LABELS, SAMPLING, Completion, Token

_MAX_TOKENS = 32  # a constrained answer stops after one; others may wrap the label in a JSON object
_TOP_LOGPROBS = 20  # the most that endpoints give: room for " 1" beside "1", and for what is no label
_CONTEXT_LENGTH = re.compile(
    r"context[ _](?:length|window|size)|maximum model length|max_model_len|too long|too many tokens",
    re.IGNORECASE,
)
_STRUCTURED_OUTPUTS = "structured_outputs"
_TOKENS_OF_AN_ID = 16
_MESSAGE_CHARS = 300
_QUOTE_CHARS = 24


class _Refusable(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Alternative(TypedDict):  # twenty to an answer: dictionaries are cheaper than models
    token: str
    logprob: float


class _Position(BaseModel):
    token: str
    top_logprobs: list[_Alternative] = []


class _Logprobs(BaseModel):
    content: list[_Position] | None = None


class _Choice(BaseModel):
    message: _Refusable
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _CachedTokens(BaseModel):
    cached_tokens: int | None = None


class _Tokens(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _CachedTokens | None = None


class _Answer(BaseModel):
    choices: list[_Choice]
    model: str | None = None
    system_fingerprint: str | None = None
    usage: _Tokens | None = None


def request_body(
    model: str, messages: Sequence[Mapping[str, str]], *, by_schema: bool = False, room: int = 1
) -> dict[str, Any]:
    """Body of a call that answers one of the labels, with the probabilities of its rivals.

    ``structured_outputs`` is vLLM's current name; it ignores ``guided_choice``, the old one, without a word.

    Args:
        model: Name of the model.
        messages: The conversation.
        by_schema: Whether the answer is constrained by OpenAI's ``response_format``, to ``{"score": "1"}``.
        room: How many times the usual number of tokens the answer may have.
    """
    constraint: dict[str, Any] = {_STRUCTURED_OUTPUTS: {"choice": list(LABELS)}}
    if by_schema:
        constraint = _response_format(("score",))
    return {
        "model": model,
        "messages": list(messages),
        **SAMPLING,
        "max_tokens": _MAX_TOKENS * room,
        **constraint,
        "logprobs": True,
        "top_logprobs": _TOP_LOGPROBS,
    }


def body_for_all(
    model: str, messages: Sequence[Mapping[str, str]], ids: Sequence[str], *, room: int = 1
) -> dict[str, Any]:
    """Body of a call that answers a JSON object with a label under each id; ``room`` as above."""
    return {
        "model": model,
        "messages": list(messages),
        **SAMPLING,
        "max_tokens": (_MAX_TOKENS + _TOKENS_OF_AN_ID * len(ids)) * room,
        **_response_format(ids),
    }


def _response_format(names: Sequence[str]) -> dict[str, Any]:
    label = {"type": "string", "enum": list(LABELS)}
    schema = {
        "type": "object",
        "properties": dict.fromkeys(names, label),
        "required": list(names),
        "additionalProperties": False,
    }
    named = {"name": "verdict", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def read_answer(body: bytes) -> Completion:
    """The completion in the body of a 200.

    Raises:
        JudgeFailure: ``unreadable``: the body is not a chat completion.
    """
    try:
        answer = _Answer.model_validate_json(body)
        choice = answer.choices[0]
    except (ValidationError, IndexError):
        raise JudgeFailure(
            "unreadable",
            f"the judge answered 200 with {len(body)} bytes that are not a chat completion; "
            "check that its URL is that of an OpenAI-compatible server",
        ) from None
    usage = answer.usage or _Tokens()
    details = usage.prompt_tokens_details or _CachedTokens()
    return Completion(
        text=choice.message.content or "",
        finish_reason=choice.finish_reason,
        tokens=_tokens(choice.logprobs),
        model=answer.model,
        system_fingerprint=answer.system_fingerprint,
        refused=choice.message.refusal is not None,
        prompt_tokens=usage.prompt_tokens or 0,
        cached_prompt_tokens=details.cached_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
    )


def _tokens(logprobs: _Logprobs | None) -> tuple[Token, ...] | None:
    if logprobs is None or logprobs.content is None:
        return None
    return tuple(Token(position.token, _labels(position.top_logprobs)) for position in logprobs.content)


def _labels(alternatives: list[_Alternative]) -> tuple[tuple[str, float], ...] | None:
    if not alternatives:
        return None
    return tuple(
        (a["token"], a["logprob"])
        for a in alternatives
        if a["token"].strip() in LABELS and not math.isnan(a["logprob"])
    )


def refuses_structured_outputs(status: int, body: bytes, sent: str) -> bool:
    """Whether an endpoint complains of ``structured_outputs`` and not of a text that holds the word."""
    return status in (400, 422) and _STRUCTURED_OUTPUTS.encode() in body and _STRUCTURED_OUTPUTS not in sent


def read_error(status: int, body: bytes, retry_after: float | None, sent: str) -> JudgeFailure:
    """The failure that an error status means.

    Args:
        status: HTTP status, not 200.
        body: Body of the answer.
        retry_after: Seconds of its ``Retry-After``, or None.
        sent: What the call sent; the judge's words are dropped where they repeat it.
    """
    message, param, code = _error(body)
    quoted = _without_quotes(message, sent)
    if status in (401, 402, 403):
        return JudgeFailure("unauthorized", f"the judge answered {status}; check its API key and its account")
    if status in (429, 503):
        return JudgeFailure("overloaded", f"the judge is overloaded and answered {status}", retry_after)
    if status >= 500 or status == 408:
        return JudgeFailure("unreachable", f"the judge failed with {status}; see its log")
    if status == 413 or (status in (400, 422) and _CONTEXT_LENGTH.search(f"{code} {message}")):
        return JudgeFailure("too_long", f"the prompt does not fit into the judge's context{quoted}")
    if status == 404 and (param == "model" or code == "model_not_found"):
        return JudgeFailure("identity", f"the judge does not serve the model that was asked{quoted}")
    if status == 404:
        return JudgeFailure("refused", f"the judge's URL leads to no chat endpoint (404); check it{quoted}")
    if 300 <= status < 400:
        return JudgeFailure("refused", f"the judge's URL redirects ({status}); give the address it leads to")
    return JudgeFailure("refused", f"the judge refused the call with {status}{quoted}")


def _error(body: bytes) -> tuple[str, object, object]:
    """Message, parameter and code of an error body, in any of the shapes that servers use."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return "", None, None
    error = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(error, str):
        return error, None, None
    if not isinstance(error, dict):
        return "", None, None
    message = error.get("message", error.get("detail"))
    return message if isinstance(message, str) else "", error.get("param"), error.get("code")


def _without_quotes(message: str, sent: str) -> str:
    """The judge's words as the end of a sentence, or nothing where they repeat what was sent to it."""
    message = " ".join(message.split())[:_MESSAGE_CHARS]
    flat = " ".join(sent.split())
    starts = range(max(len(message) - _QUOTE_CHARS, 0) + 1)
    if not message or any(message[i : i + _QUOTE_CHARS] in flat for i in starts):
        return ""
    return f": {message}"
