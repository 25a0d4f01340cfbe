"""What the judge needs of a model that answers: the engine's side of every call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

LABELS: Mapping[str, float] = {"0": 0.0, "1": 0.5, "2": 1.0}
"""The three answers of an engine, and what they are worth."""

SAMPLING: Mapping[str, int] = {"temperature": 0, "seed": 0}
"""How every engine samples: the likeliest label, so that a question has one answer."""


Form = Literal["plain", "prefilled"]
"""How a question is put: as a conversation that the model answers, or with its answer begun for it."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who answers.

    Attributes:
        model: The model's name.
        fingerprint: A digest that changes when another model stands behind the name.
        form: How it is asked. ``prefilled`` means that it goes on with a last turn of its own, and that its
            label probabilities are exact.
    """

    model: str
    fingerprint: str
    form: Form = "plain"


@dataclass(frozen=True, slots=True)
class Token:
    """One generated token, and how likely each label was in its place.

    Attributes:
        text: The token as text.
        labels: Natural-log probability of every alternative that is a label but for blanks around it; None
            when the engine gives no alternatives.
    """

    text: str
    labels: tuple[tuple[str, float], ...] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What an engine answered to one prompt.

    Attributes:
        text: The answer's text, thinking included if the engine does not keep it apart.
        finish_reason: Why generation ended: ``stop``, ``length``, ``content_filter``, …
        tokens: The generated tokens with log-probabilities, or None when the engine gives none.
        model: The model that says it answered, or None.
        system_fingerprint: The engine's own word for its configuration, or None.
        refused: Whether the engine declined to answer instead of answering.
        prompt_tokens: Length of the prompt in tokens.
        cached_prompt_tokens: How much of it came from the engine's prefix cache.
        completion_tokens: Length of the answer in tokens.
        max_tokens: How many tokens it could have had, or None where that was not said.
    """

    text: str
    finish_reason: str | None = None
    tokens: tuple[Token, ...] | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    refused: bool = False
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Manner:
    """How a prompt is put, besides its messages.

    Attributes:
        prefix: Digest of what its messages share with others', for servers that spread their calls.
        ids: Where there are some, the answer is a JSON object that has one label under each of them.
        salt: Prompts share the entries of a prefix cache only with those of the same salt; "" is one, too.
        room: How many times the usual number of tokens the answer may have.
    """

    prefix: bytes = b""
    ids: tuple[str, ...] = ()
    salt: str = ""
    room: int = 1


PLAINLY = Manner()


class Identified(Protocol):
    """Who can be asked who it is."""

    async def identify(self, deadline: float) -> Identity:
        """Ask the engine who it is."""


class ServedModel(Identified, Protocol):
    """A model behind a judge. Each method makes one attempt; the judge decides about another.

    Both calls raise ``JudgeFailure``, and end by ``deadline``, a time of the event loop's clock
    (seconds), with the kind ``timeout``.
    """

    async def complete(
        self, messages: Sequence[Mapping[str, str]], deadline: float, manner: Manner = PLAINLY
    ) -> Completion:
        """Answer ``messages`` (``role`` and ``content``), constrained to one of ``LABELS`` where possible.

        What a model cannot do of the ``manner`` it leaves.
        """

    async def close(self) -> None:
        """Give back connections, threads and memory."""
