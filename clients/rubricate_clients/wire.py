"""The wire: what a trainer sends and what it gets back, as pydantic models (contract version 1).

Every model refuses unknown fields and wrong types, so a misspelt option is an error with a path and
never a silent default. Undecided numbers are ``None``; NaN and infinities are not numbers here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Tag, model_validator

from rubricate_clients.faults import (
    PLAIN,
    STRUCTURED,
    ErrorDetail,
    JsonObject,
    Members,
    plain_or,
)

CONTRACT_VERSION = 1

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]

Status = Literal["scored", "skipped", "failed"]
SkipReason = Literal["not_eligible", "group_too_small", "judging_off"]
FailureKind = Literal[
    # the rubric's fault
    "unknown_check", "bad_kwargs", "unsupported_rule", "rule_error", "missing_data",
    # the judge's fault
    "no_judge", "unreachable", "overloaded", "unreadable", "truncated", "too_long", "identity", "refused",
    "unauthorized",
    # ours
    "timeout", "crashed", "canceled", "internal",
]  # fmt: skip
Judging = Literal["needed", "eligible", "all", "none"]
Method = Literal["rdan", "ngrpo", "rdan_ngrpo", "gdpo", "grpo", "dr_grpo", "rloo"]
RewardName = Literal["gated", "outcome", "aon", "csr", "points"]


class _Model(BaseModel):
    """Strict in what it takes: no unknown fields, no coercion."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Message(_Model):
    """One chat message of a prompt."""

    role: Annotated[str, Field(min_length=1)]
    content: str


class Response(_Model):
    """One sampled answer; a missing id is its position in the group."""

    id: str | None = None
    text: str


def _threshold(value: float) -> float:
    if value not in (0.5, 1.0):
        raise ValueError("`pass_at` is 0.5 or 1.0")
    return value


class Rubric(_Model):
    """One requirement on a response: a `check` (deterministic) or a `criterion` (for the judge)."""

    id: str | None = None
    check: str | None = None
    kwargs: JsonObject | None = None
    criterion: Annotated[str, Field(min_length=1)] | None = None
    hard: bool | None = None
    weight: Positive = 1.0
    points: Finite | None = None
    negative: bool | None = None
    pass_at: Annotated[float, AfterValidator(_threshold)] = 1.0

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.check is None) == (self.criterion is None):
            raise ValueError("a rubric has exactly one of `check` and `criterion`")
        if self.criterion is not None and self.kwargs:
            raise ValueError("`kwargs` belong to a `check`, and this rubric has a `criterion`")
        if self.points == 0:
            raise ValueError("`points` must not be 0: a rubric that is worth nothing decides nothing")
        if self.points is not None and self.points < 0 and self.negative is False:
            raise ValueError("negative `points` describe a pitfall, so `negative` cannot be false")
        return self

    @property
    def is_hard(self) -> bool:
        """Checks are hard and criteria soft unless the rubric says otherwise."""
        return self.check is not None if self.hard is None else self.hard

    @property
    def is_negative(self) -> bool:
        """Whether the rubric describes a pitfall, so that its score is inverted."""
        return bool(self.negative) or (self.points is not None and self.points < 0)


Prompt = Annotated[
    Annotated[str, Tag(PLAIN)] | Annotated[list[Message], Field(min_length=1), Tag(STRUCTURED)],
    plain_or(list, "a prompt is a string or a list of messages"),
]
ResponseItem = Annotated[
    Annotated[str, Tag(PLAIN)] | Annotated[Response, Tag(STRUCTURED)],
    plain_or((dict, Response), "a response is a string or an object with a `text`"),
]


class Group(_Model):
    """A prompt, its rubrics, and all responses sampled for it. Equal texts stay separate members."""

    id: str | None = None
    prompt: Prompt
    reference: str | None = None
    rubrics: Annotated[list[Rubric], *Members]
    responses: Annotated[list[ResponseItem], *Members]

    def texts(self) -> list[str]:
        """Text of each response."""
        return [r if isinstance(r, str) else r.text for r in self.responses]


# Far beyond any use, and products of a few such numbers are still finite.
Parameter = Annotated[float, Field(ge=-1e30, le=1e30, allow_inf_nan=False)]


class AdvantageSpec(_Model):
    """Which advantages to compute; a parameter of another method is refused.

    `quality_weight` and `sigma_floor` belong to `rdan` and `rdan_ngrpo`, `r_max` and `virtual` to
    `ngrpo` and `rdan_ngrpo`, `weights` (outcome, quality) and `whiten` to `gdpo`.
    """

    method: Method
    quality_weight: Parameter | None = None
    sigma_floor: Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)] | None = None
    r_max: Parameter | None = None
    virtual: Annotated[int, Field(ge=0, le=10_000)] | None = None
    weights: Annotated[list[Parameter], Field(min_length=2, max_length=2)] | None = None
    whiten: bool | None = None

    @model_validator(mode="after")
    def _own_parameters(self) -> Self:
        foreign = [name for name in self.parameters() if name not in _PARAMETERS[self.method]]
        if foreign:
            own = ", ".join(_PARAMETERS[self.method]) or "none"
            raise ValueError(f"`{foreign[0]}` is not a parameter of {self.method} (its parameters: {own})")
        return self

    def parameters(self) -> dict[str, Any]:
        """The parameters that were given, by name."""
        names = (n for n in AdvantageSpec.model_fields if n != "method")
        return {n: v for n in names if (v := getattr(self, n)) is not None}


_PARAMETERS: dict[str, tuple[str, ...]] = {
    "rdan": ("quality_weight", "sigma_floor"),
    "ngrpo": ("r_max", "virtual"),
    "rdan_ngrpo": ("quality_weight", "sigma_floor", "r_max", "virtual"),
    "gdpo": ("weights", "whiten"),
    "grpo": (),
    "dr_grpo": (),
    "rloo": (),
}


class Options(_Model):
    """How a request is scored. Defaults are those of the contract."""

    judging: Judging | None = None
    mode: Literal["strict", "loose"] = "strict"
    thinking: Literal["strip", "keep"] = "strip"
    blank: Literal["fail", "check"] = "fail"
    outcome: Literal["all", "fraction"] = "all"
    reward: RewardName = "gated"
    score: Literal["label", "expected"] = "label"
    cache: Literal["use", "refresh", "off"] = "use"
    explain: bool = False
    deadline_s: Positive | None = None
    advantages: AdvantageSpec | None = None


class ScoreRequest(_Model):
    """Body of `POST /v1/score`."""

    groups: Annotated[list[Group], *Members]
    options: Options = Field(default_factory=Options)


class VerdictError(BaseModel):
    """Why a verdict is `failed`: an error kind, a sentence for people, and where in the request."""

    kind: FailureKind
    message: str
    path: str | None = None


class Span(BaseModel):
    """Evidence: code points `start` to `end` (exclusive) of the response text as it was sent."""

    start: int
    end: int
    kind: Literal["match", "violation", "counted"]


class Verdict(BaseModel):
    """What one rubric says of one response. `score` is in [0, 1], None when undecided.

    `evidence` is there only where it was asked for, and has at most the first 1,000 spans.
    """

    id: str
    score: Finite | None
    status: Status
    reason: str | None = None
    error: VerdictError | None = None
    observed: str | None = None
    required: str | None = None
    label: Literal[0, 1, 2] | None = None
    expected: Finite | None = None
    label_mass: Finite | None = None
    cached: bool | None = None
    parsed: bool | None = None
    evidence: list[Span] | None = None
    variant: str | None = None
    judge_prompt: list[dict[str, str]] | None = None

    @model_validator(mode="after")
    def _scored_or_not(self) -> Self:
        if (self.status == "scored") != (self.score is not None):
            raise ValueError(f"a verdict that is `{self.status}` cannot have the score {self.score}")
        return self


class ScoredResponse(BaseModel):
    """All verdicts on one response, and the numbers made of them (contract section 3)."""

    id: str
    rubrics: list[Verdict]
    outcome: Finite | None
    quality: Finite | None
    valid: bool
    eligible: bool
    reward: Finite | None
    a_out: Finite | None = None
    a_proc: Finite | None = None
    advantage: Finite | None = None


class ScoredGroup(BaseModel):
    """Answer for one group, in the request's order of responses and rubrics."""

    id: str
    responses: list[ScoredResponse]


class ScoreAnswer(BaseModel):
    """Answer of `POST /v1/score`."""

    groups: list[ScoredGroup]
    stats: dict[str, Any]
    provenance: dict[str, Any]


class AdvantageResponse(_Model):
    """One response's numbers, as `POST /v1/score` gave them."""

    id: str | None = None
    outcome: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None
    quality: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None
    eligible: bool
    valid: bool
    reward: Parameter | None = None


class AdvantageGroup(_Model):
    """The responses of one prompt."""

    id: str | None = None
    responses: Annotated[list[AdvantageResponse], *Members]


class AdvantageRequest(AdvantageSpec):
    """Body of `POST /v1/advantages`: groups, a method, and the method's parameters."""

    groups: Annotated[list[AdvantageGroup], *Members]


class GroupAdvantages(BaseModel):
    """Advantages of one group's responses, in their order; channels are None where a method has none."""

    id: str
    advantages: list[Finite]
    a_out: list[Finite] | None
    a_proc: list[Finite] | None


class AdvantageAnswer(BaseModel):
    """Answer of `POST /v1/advantages`."""

    groups: list[GroupAdvantages]
    diagnostics: dict[str, Finite]


class ErrorBody(BaseModel):
    """The inside of every 4xx and 5xx answer."""

    type: str
    message: str
    details: list[ErrorDetail] = []


class ErrorAnswer(BaseModel):
    """Every 4xx and 5xx answer has this one shape."""

    error: ErrorBody
