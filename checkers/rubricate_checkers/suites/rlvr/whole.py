"""What the response is as a whole: its language, its case, its first and last characters, JSON."""

# The methods are those of Function and are documented there.
from __future__ import annotations

import json
from collections.abc import Iterable

from ...check import Example, Span
from ...language import rules_out
from ...spans import at_end, at_start, each_word
from ...text import Text
from ...wording import amount
from .function import Function
from .kwargs import Str


class ValidateResponseLanguage(Function, id="rlvr:validate_response_language", suite="rlvr"):
    """The response is in a language, as langdetect sees it.

    Upstream raises for a response without letters of any language; here that one does not hold, since
    no response may gain by being undecidable.
    """

    language: Str
    example = Example(
        kwargs={"language": "it"},
        passes="Il traghetto parte ogni mattina alle otto e arriva a mezzogiorno.",
        fails="The ferry leaves every morning at eight and arrives at noon.",
    )

    def accepts(self, answer: Text) -> bool:
        return not rules_out(answer.raw, self.language) and answer.language == self.language

    def found(self, answer: Text) -> str:
        return "no language that can be told" if answer.language is None else f"language {answer.language}"

    @property
    def required(self) -> str:
        return f"language {self.language}"


def _json_fault(text: str) -> str | None:
    try:
        json.loads(text)
    except ValueError as error:
        return str(error)
    return None


class ValidateJsonFormat(Function, id="rlvr:validate_json_format", suite="rlvr"):
    """The whole response is JSON, without a code fence.

    Any JSON value will do, and what Python's parser also takes: NaN and Infinity.
    """

    example = Example(kwargs={}, passes='{"wind": "west"}', fails='```json\n{"wind": "west"}\n```')

    def accepts(self, answer: Text) -> bool:
        return answer.view(_json_fault) is None

    def found(self, answer: Text) -> str:
        fault = answer.view(_json_fault)
        return "JSON" if fault is None else f"no JSON ({fault})"

    @property
    def required(self) -> str:
        return "nothing but JSON"


class ValidateRepeatPrompt(Function, id="rlvr:validate_repeat_prompt", suite="rlvr"):
    """The response starts with the given prompt, character for character."""

    original_prompt: Str
    example = Example(
        kwargs={"original_prompt": "When is high tide?"},
        passes="When is high tide? At four.",
        fails="when is high tide? At four.",
    )

    def accepts(self, answer: Text) -> bool:
        return answer.raw.startswith(self.original_prompt)

    def found(self, answer: Text) -> str:
        return "the prompt first" if self.accepts(answer) else "another beginning"

    @property
    def required(self) -> str:
        return "the prompt character for character, then the answer"

    def spans(self, answer: Text) -> Iterable[Span]:
        return at_start(answer.raw, len(self.original_prompt), self.accepts(answer))


class ValidateUppercase(Function, id="rlvr:validate_uppercase", suite="rlvr"):
    """The response has no letter in lower case; one without letters holds."""

    example = Example(kwargs={}, passes="MIND THE GAP AT LOW WATER.", fails="Mind the gap at low water.")

    def accepts(self, answer: Text) -> bool:
        return answer.raw == answer.raw.upper()

    def found(self, answer: Text) -> str:
        return "no letter in lower case" if self.accepts(answer) else "letters in lower case"

    @property
    def required(self) -> str:
        return "no letter in lower case"

    def spans(self, answer: Text) -> Iterable[Span]:
        return each_word(answer.raw, "violation", lambda word: word.upper() != word)


class ValidateLowercase(Function, id="rlvr:validate_lowercase", suite="rlvr"):
    """The response has no capital; one without letters holds."""

    example = Example(kwargs={}, passes="mind the gap at low water.", fails="Mind the gap at low water.")

    def accepts(self, answer: Text) -> bool:
        return answer.raw == answer.lower

    def found(self, answer: Text) -> str:
        return "no capitals" if self.accepts(answer) else "capitals"

    @property
    def required(self) -> str:
        return "no capitals"

    def spans(self, answer: Text) -> Iterable[Span]:
        return each_word(answer.raw, "violation", lambda word: word.lower() != word)


class ValidateEnd(Function, id="rlvr:validate_end", suite="rlvr"):
    """The response ends with a phrase, character for character."""

    end_phrase: Str
    example = Example(
        kwargs={"end_phrase": "Over and out."},
        passes="We turn back now. Over and out.",
        fails="We turn back now. OVER AND OUT.",
    )

    def accepts(self, answer: Text) -> bool:
        return answer.raw.endswith(self.end_phrase)

    def found(self, answer: Text) -> str:
        return f'the end "{answer.raw[-max(len(self.end_phrase), 1) :]}"'

    @property
    def required(self) -> str:
        return f'the end "{self.end_phrase}"'

    def spans(self, answer: Text) -> Iterable[Span]:
        return at_end(answer.raw, len(self.end_phrase), self.accepts(answer))


class ValidateQuotation(Function, id="rlvr:validate_quotation", suite="rlvr"):
    """The response starts and ends with a straight double quotation mark; a lone one is both."""

    example = Example(kwargs={}, passes='"Ease the sheet."', fails="Ease the sheet.")

    def accepts(self, answer: Text) -> bool:
        return answer.raw.startswith('"') and answer.raw.endswith('"')

    def found(self, answer: Text) -> str:
        return f"{answer.raw[:1]!r} first and {answer.raw[-1:]!r} last"

    @property
    def required(self) -> str:
        return 'a straight double quote (") first and last'

    def spans(self, answer: Text) -> Iterable[Span]:
        first, last = answer.raw.startswith('"'), answer.raw.endswith('"')
        return [*at_start(answer.raw, 1, first), *at_end(answer.raw, 1, last)]


class ValidateNoCommas(Function, id="rlvr:validate_no_commas", suite="rlvr"):
    """The response has no comma, also none in a number; commas of other scripts are allowed."""

    example = Example(kwargs={}, passes="Row on and rest later.", fails="Row on, then rest.")

    def accepts(self, answer: Text) -> bool:
        return "," not in answer.raw

    def found(self, answer: Text) -> str:
        return amount(answer.raw.count(","), "comma")

    @property
    def required(self) -> str:
        return "no comma"

    def spans(self, answer: Text) -> Iterable[Span]:
        return (Span(i, i + 1, "violation") for i, char in enumerate(answer.raw) if char == ",")
