"""The rule functions of RubricHub's rows (RuscaRL's `rule_fn`) that are not IFEval's checks by another name.

Those others are aliases of the checks of `ifeval`. Here a loose reading is the strict one.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Self

from pydantic import BeforeValidator, PlainValidator, Strict, WithJsonSchema, model_validator

from ..check import Check, Example
from ..errors import BadKwargs
from ..kwargs import refuse
from ..math_answers import Comparison, compare_answers
from ..text import Text
from ..wording import amount


def _whole(value: object) -> int:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError):
            return int(value)
    return refuse(f"must be a whole number, not {value!r}")


_Whole = Annotated[int, PlainValidator(_whole), WithJsonSchema({"type": "integer"})]


def _chunks(text: str) -> int:
    return len(text.split())


class WordCountRange(Check, id="rubrichub:word_count_range", suite="rubrichub"):
    """The response has from `min_count` to `max_count` words; words are what whitespace separates.

    Digits in a string are taken as a number, and a fraction is cut off, as upstream.
    """

    min_count: _Whole
    max_count: _Whole
    example = Example(
        kwargs={"min_count": 2, "max_count": 4},
        passes="Well-kept boats last.",
        fails="Boats that are kept well last longer.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min_count > self.max_count:
            refuse(f"min_count ({self.min_count}) exceeds max_count ({self.max_count})")
        return self

    def holds(self, text: Text) -> bool:
        return self.min_count <= text.view(_chunks) <= self.max_count

    def observed(self, text: Text) -> str:
        return amount(text.view(_chunks), "word")

    @property
    def required(self) -> str:
        return f"{self.min_count} to {amount(self.max_count, 'word')}"


def _answer(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


class MathVerify(Check, id="rubrichub:math_verify", suite="rubrichub"):
    r"""The response gives an answer that is mathematically equal to the expected one.

    The package math-verify finds the answer (in `\boxed{}`, in `$` signs, or in plain text), and takes
    `\frac12` for 0.5. Upstream compares the last `\boxed{}` as text. An answer that takes more than a
    second of computing to compare is not equal.
    """

    answer: Annotated[str, Strict(), BeforeValidator(_answer, json_schema_input_type=str | float)]
    example = Example(
        kwargs={"answer": "1/2"},
        passes="Half of the boats are in, so the share is $\\frac{1}{2}$.",
        fails="A third of the boats are in, so the share is $\\frac{1}{3}$.",
    )

    def _comparison(self, text: Text) -> Comparison:
        comparison = compare_answers(self.answer, text.raw)
        if comparison == "no answer":
            raise BadKwargs(
                [("kwargs.answer", f"holds no mathematics that can be compared: {self.answer!r}")]
            )
        return comparison

    def holds(self, text: Text) -> bool:
        return self._comparison(text) == "equal"

    def observed(self, text: Text) -> str:
        return {
            "equal": "an equal answer",
            "different": "no equal answer",
            "too hard": "an answer that takes too long to compare",
        }[self._comparison(text)]

    @property
    def required(self) -> str:
        return f"an answer equal to {self.answer}"
