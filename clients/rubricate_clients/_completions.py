"""What a chat endpoint answers, field for field as vLLM does."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Mapping
from typing import Any

LABELS = ("0", "1", "2")
"""Labels of the three points, as the service asks for them (contract section 4)."""

Completion = dict[str, Any]
"""Body of a chat completion."""

_BLOCK = 64  # characters of a block of the prefix cache: vLLM's 16 tokens at 4 characters each
_LABEL_P, _REST_P = 0.9, 0.06  # of the answer, and of the other labels together; the rest is lost mass
_LOGPROB_FLOOR = -9999.0  # of a token that cannot come: JSON has no minus infinity

_ERROR_TYPES = {
    400: "BadRequestError",
    404: "NotFoundError",
    429: "RateLimitError",
    503: "Service Unavailable",
}


def error_body(status: int, message: str, param: str | None = None) -> dict[str, Any]:
    """Error in vLLM's shape, in which 401 alone carries a plain string."""
    if status == 401:
        return {"error": "Unauthorized"}
    kind = _ERROR_TYPES.get(status, "InternalServerError")
    return {"error": {"message": message, "type": kind, "param": param, "code": status}}


def completion(
    request: Mapping[str, Any],
    answer: str | Mapping[str, float],
    text: str,
    model: str,
    fingerprint: str,
    cached_tokens: int,
) -> Completion:
    """A healthy answer to a chat request.

    Args:
        request: Body of the request; it says whether log-probabilities are wanted.
        answer: The content, or a probability per token, of which the most probable is the content.
        text: Text of the request's messages, from which tokens are counted, 4 characters each.
        model: Name that signs the answer.
        fingerprint: Its `system_fingerprint`.
        cached_tokens: How many of the prompt's tokens came from the prefix cache.
    """
    odds = _odds(answer) if isinstance(answer, str) else dict(answer)
    label = max(odds, key=lambda token: odds[token])
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": label},
        "finish_reason": "stop",
        "logprobs": _logprobs(request, label, odds),
    }
    tokens = len(text) // 4 + 1
    return {
        "id": f"chatcmpl-{zlib.crc32(text.encode()):08x}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "system_fingerprint": fingerprint,
        "choices": [choice],
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": 1,
            "total_tokens": tokens + 1,
            "prompt_tokens_details": {"cached_tokens": cached_tokens},
        },
    }


def among_allowed(request: Mapping[str, Any], answer: str | Mapping[str, float]) -> str | Mapping[str, float]:
    """The answer to a request whose `allowed_token_ids` bar all tokens but these; as it is without them.

    Their probabilities stay what they are among all tokens, as with vLLM's raw log-probabilities.
    """
    allowed = request.get("allowed_token_ids")
    if not allowed:
        return answer
    odds = _odds(answer) if isinstance(answer, str) else answer
    return {token: odds.get(token, 0.0) for token in map(chr, allowed)}


def token_ids(text: str) -> list[int]:
    """Ids of the tokens of a text: its characters' code points."""
    return [ord(character) for character in text]


class PrefixCache:
    """Which prefixes a server has seen, in whole blocks: what automatic prefix caching would reuse."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def tokens(self, text: str, salt: object = None) -> int:
        """Tokens of the longest prefix of the text that was seen with this salt; from now on all of it is."""
        prefix, known = hash(str(salt)), 0
        for end in range(_BLOCK, len(text) + 1, _BLOCK):
            prefix = hash((prefix, text[end - _BLOCK : end]))
            if prefix in self._seen:
                known = end
            self._seen.add(prefix)
        return known // 4


def _odds(content: str) -> dict[str, float]:
    others = [label for label in LABELS if label != content]
    return {content: _LABEL_P} | {label: _REST_P / len(others) for label in others}


def _logprobs(request: Mapping[str, Any], label: str, odds: dict[str, float]) -> dict[str, Any] | None:
    """Log-probabilities of the one token, where the request asks for them.

    `top_logprobs` says how many alternatives come with it; `logprob_token_ids`, which names the labels
    by ids of a tokenizer that a fake does not have, brings them all.
    """
    if not request.get("logprobs"):
        return None
    ranked = [_token(token, p) for token, p in sorted(odds.items(), key=lambda item: -item[1])]
    shown = len(ranked) if request.get("logprob_token_ids") else request.get("top_logprobs") or 0
    return {"content": [_token(label, odds[label]) | {"top_logprobs": ranked[:shown]}]}


def _token(token: str, p: float) -> dict[str, Any]:
    logprob = math.log(p) if p > 0 else _LOGPROB_FLOOR
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}
