"""What one request cost at the judge."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Usage:
    """Counters of one request; the judge adds to them while it answers.

    Attributes:
        calls: Requests really sent to the engine, retries included.
        cached: Answers that came from the cache.
        joined: Answers that came from an identical question already in flight.
        prompt_tokens: Tokens of all prompts, as the engine counts them.
        cached_prompt_tokens: Those of them that the engine found in its prefix cache.
        completion_tokens: Tokens that the engine generated.
    """

    calls: int = 0
    cached: int = 0
    joined: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
