"""What an engine's answer says, read from its own channel only, or why it cannot be read."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import orjson

from rubricate_clients.wire import FailureKind
from rubricate_service.judge.served import LABELS, Completion, Token

MIN_LABEL_MASS = 0.5
"""Below this probability of all labels together their shares are noise, and there is no expected score."""

_BYTES = struct.Struct("<ddd")  # NaN stands for None


class JudgeFailure(Exception):
    """The judge gave no verdict; nothing of it is cached, and it is never a score.

    Attributes:
        kind: The error kind of the contract.
        message: What was wrong and what to do, for people; holds no secret, prompt or response.
        retry_after: Seconds after which an overloaded engine wants to be asked again, or None.
    """

    def __init__(self, kind: FailureKind, message: str, retry_after: float | None = None):
        super().__init__(kind, message, retry_after)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


@dataclass(frozen=True, slots=True)
class Reading:
    """One judgement.

    Attributes:
        label: 0.0 (not satisfied), 0.5 (generally satisfied) or 1.0 (fully satisfied).
        expected: Probability-weighted mean of the labels' values in [0, 1], or None without
            log-probabilities or with less than ``MIN_LABEL_MASS`` on the labels.
        label_mass: Probability of all labels together in [0, 1], or None without log-probabilities.
    """

    label: float
    expected: float | None = None
    label_mass: float | None = None

    def to_bytes(self) -> bytes:
        """The reading as 24 bytes."""
        numbers = (self.label, self.expected, self.label_mass)
        return _BYTES.pack(*(math.nan if n is None else n for n in numbers))

    @classmethod
    def from_bytes(cls, data: bytes) -> Reading:
        """The reading that ``to_bytes`` wrote.

        Raises:
            struct.error: ``data`` has another length.
        """
        label, *others = _BYTES.unpack(data)
        return cls(label, *(None if math.isnan(n) else n for n in others))


@dataclass(frozen=True, slots=True)
class Answer(Reading):
    """A reading and where it came from.

    Attributes:
        cached: It was in the cache.
        joined: An identical question was in flight and its answer served this one as well.
    """

    cached: bool = False
    joined: bool = False


def read(completion: Completion) -> Reading:
    """Read the verdict of a completion.

    The text must be exactly one label, or one JSON object ``{"score": label}`` or ``{"label": label}``,
    after thinking is taken off. A label amid prose is not looked for: the prose may quote the response.

    Raises:
        JudgeFailure: ``refused``, ``truncated`` or ``unreadable``.
    """
    text = own_text(completion)
    label = _label(text)
    if label is None:
        if completion.finish_reason == "length" or "<think>" in text:
            raise cut(completion, "before a label; if the model thinks first, serve it with thinking off")
        raise JudgeFailure(
            "unreadable",
            f"the judge's answer ({len(completion.text)} characters) is not one of the labels 0, 1, 2; "
            "check that the engine supports structured_outputs",
        )
    expected, mass = _expectation(label, completion.tokens or ())
    return Reading(LABELS[label], expected, mass)


def cut(completion: Completion, where: str) -> JudgeFailure:
    """The failure of an answer that ended too early, with the tokens that it had and could have had."""
    budget = f" of at most {completion.max_tokens}" if completion.max_tokens else ""
    tokens = f"{completion.completion_tokens}{budget} tokens"
    return JudgeFailure("truncated", f"the judge's answer was cut after {tokens}, {where}")


def own_text(completion: Completion) -> str:
    """What the judge answered, without its thinking.

    Raises:
        JudgeFailure: ``refused``.
    """
    if completion.refused or completion.finish_reason == "content_filter":
        raise JudgeFailure("refused", "the judge declined to answer this question")
    return completion.text.rpartition("</think>")[2].strip()


def _label(text: str) -> str | None:
    if text in LABELS:
        return text
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    match value:
        case {"score": label} | {"label": label} if len(value) == 1 and not isinstance(label, bool | float):
            return str(label) if str(label) in LABELS else None
    return None


def _expectation(label: str, tokens: tuple[Token, ...]) -> tuple[float | None, float | None]:
    """Expected score and label mass at the label's token: the last one, as thinking may hold digits too."""
    position = next((t for t in reversed(tokens) if t.text.strip() == label), None)
    if position is None or position.labels is None:
        return None, None
    mass = weighted = 0.0
    for text, logprob in position.labels:
        probability = math.exp(min(logprob, 0.0))
        mass += probability  # "1" and " 1" are two tokens and one label
        weighted += probability * LABELS[text.strip()]
    expected = weighted / mass if mass >= MIN_LABEL_MASS else None
    return expected, min(mass, 1.0)
