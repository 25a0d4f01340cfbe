"""What one request cost at the judge."""

from __future__ import annotations

from dataclasses import dataclass

from rubricate_service.judge.served import Completion
from rubricate_service.settings import Prices


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
        cost: What all these tokens cost, or None where their prices are not known.
    """

    calls: int = 0
    cached: int = 0
    joined: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def add(self, completion: Completion, prices: Prices | None) -> None:
        """Count the tokens of a completion, and what they cost."""
        cached = completion.cached_prompt_tokens
        self.prompt_tokens += completion.prompt_tokens
        self.cached_prompt_tokens += cached
        self.completion_tokens += completion.completion_tokens
        if prices is not None:
            cached_price = prices.prompt if prices.cached_prompt is None else prices.cached_prompt
            self.cost = (
                (self.cost or 0.0)
                + (completion.prompt_tokens - cached) * prices.prompt
                + cached * cached_price
                + completion.completion_tokens * prices.completion
            )
