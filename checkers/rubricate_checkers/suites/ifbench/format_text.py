"""`format:` of the whole response: options, thesis, title case, template, whitespace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from ...check import Check, Example, Span
from ...kwargs import Str
from ...loose import Rescue
from ...spans import every
from ...text import Text
from ...wording import listed
from .common import EDGES

_LETTERED = re.compile(r"\W*[aA]\W*[bB]\W*[cC]\W*")


class Options(Check, id="format:options", suite="ifbench", aliases=("ifbench@2025:format:options",)):
    """The response is one of the options and nothing else.

    Options stand between `/`, else `or`, also inside a word, else commas. Where they are lettered a,
    b, c the response must be one exactly; else case and punctuation around it do not matter.
    """

    options: Str
    example = Example(kwargs={"options": "yes/no/perhaps"}, passes="Perhaps.", fails="Perhaps not.")

    @cached_property
    def _options(self) -> list[str]:
        separator = next((mark for mark in ("/", "or") if mark in self.options), ",")
        return [option.strip() for option in self.options.split(separator)]

    def holds(self, text: Text) -> bool:
        if _LETTERED.match(self.options):
            return text.raw in self._options
        answer = text.raw.strip(EDGES).lower()
        return any(option.strip(EDGES).lower() == answer for option in self._options)

    def observed(self, text: Text) -> str:
        return f'"{text.raw}"' if len(text.raw) <= 60 else f'"{text.raw[:60]}…"'

    @property
    def required(self) -> str:
        return f"one of {listed(self._options)}"


_ITALICS = re.compile(r"<(?:i|em)>")


def _find(text: str, *tags: str) -> int:
    return next((at for at in map(text.find, tags) if at >= 0), -1)


def _thesis_fault(raw: str) -> str | None:
    """What is wrong with a thesis in italics and the text behind it.

    Offsets are those of `<i>` and `</i>` whichever tags are there, so `<em></em>` has the thesis `>`.
    """
    start = _find(raw, "<i>", "<em>")
    if start < 0:
        return "no <i> or <em>"
    rest = raw[start:]
    end = _find(rest, "</i>", "</em>")
    if end < 0:
        return "no </i> or </em> behind it"
    if not rest[len("<i>") : end].strip():
        return "nothing in italics"
    return None if rest[end + len("</i>") :].strip() else "no text after the italics"


class Thesis(Check, id="format:thesis", suite="ifbench", aliases=("ifbench@2025:format:thesis",)):
    """There is text in HTML italics, `<i>` or `<em>`, and text behind it."""

    example = Example(
        kwargs={},
        passes="<i>Trees cool cities.</i> Their shade lowers the heat.",
        fails="<i>Trees cool cities.</i>",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_thesis_fault) is None

    def observed(self, text: Text) -> str:
        return text.view(_thesis_fault) or "italics and text behind them"

    @property
    def required(self) -> str:
        return "<i>a thesis</i> and text behind it"

    def evidence(self, text: Text) -> Iterable[Span]:
        return every(text.raw, _ITALICS, "match")


_LOWER_CHUNK = re.compile(r"(?<!\S)[a-z]{2,}(?!\S)")


class TitleCase(Check, id="format:title_case", suite="ifbench"):
    """Each word is in title case: no word, not even `a` or `of`, is in lower case.

    Words are nltk's tokens, so the `n't` of `Don't` fails. Mixed case such as `iPhone` passes, a
    lower-case letter before capitals (`eBOOK`) does not.
    """

    example = Example(kwargs={}, passes="The Long Way Home", fails="The Long way Home")

    def is_fault(self, token: str) -> bool:
        """Whether a token is not in title case."""
        if not token[0].isalpha():
            return False
        return token.islower() if len(token) == 1 else self.starts_low(token)

    def starts_low(self, token: str) -> bool:
        """Whether a token starts in lower case and goes on in one case."""
        return token[0].islower() and (token[1:].islower() or token[1:].isupper())

    def _fault(self, text: Text) -> str | None:
        # a chunk of lower case letters is a token, or tokens of that kind, wherever it stands
        low = _LOWER_CHUNK.search(text.raw)
        return low[0] if low else next(filter(self.is_fault, text.tokens), None)

    def holds(self, text: Text) -> bool:
        return text.once(self._fault) is None

    def observed(self, text: Text) -> str:
        fault = text.once(self._fault)
        return "title case" if fault is None else f'"{fault}"'

    @property
    def required(self) -> str:
        return "each word with a capital"


class TitleCase2025(TitleCase, id="ifbench@2025:format:title_case", suite="ifbench@2025"):
    """Each word of two letters or more is in title case: `A Day in the Life` fails, `a Day` passes.

    Words are nltk's tokens, so the `n't` of `Don't` fails. Mixed case such as `iPhone` passes, a
    lower-case letter before capitals (`eBOOK`) does not.
    """

    example = Example(kwargs={}, passes="a Long Way Home", fails="a Long way Home")

    def is_fault(self, token: str) -> bool:
        return self.starts_low(token)


_LABELS = ("My Answer:", "My Conclusion:", "Future Outlook:")


class OutputTemplate(
    Check, id="format:output_template", suite="ifbench", aliases=("ifbench@2025:format:output_template",)
):
    """The response has `My Answer:`, `My Conclusion:` and `Future Outlook:`, in any order."""

    example = Example(
        kwargs={},
        passes="My Answer: yes. My Conclusion: we go. Future Outlook: sunny.",
        fails="My Answer: yes. Conclusion: we go. Outlook: sunny.",
    )

    def _missing(self, text: Text) -> list[str]:
        return [label for label in _LABELS if label not in text.raw]

    def holds(self, text: Text) -> bool:
        return not self._missing(text)

    def observed(self, text: Text) -> str:
        missing = self._missing(text)
        return f"no {listed(missing)}" if missing else "all three labels"

    @property
    def required(self) -> str:
        return f"the labels {listed(_LABELS)}"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS

    def evidence(self, text: Text) -> Iterable[Span]:
        places = ((text.raw.find(label), len(label)) for label in _LABELS)
        return (Span(at, at + length, "match") for at, length in places if at >= 0)


class NoWhitespace(
    Check, id="format:no_whitespace", suite="ifbench", aliases=("ifbench@2025:format:no_whitespace",)
):
    """The response has no whitespace at all, not even a line feed at its end."""

    example = Example(kwargs={}, passes="no-spaces-here", fails="spaces here")

    def holds(self, text: Text) -> bool:
        return text.raw.split(None, 1) == [text.raw]

    def observed(self, text: Text) -> str:
        first = text.raw.split(None, 1)[0]
        return "no whitespace" if first == text.raw else f'whitespace beside "{first[:40]}"'

    @property
    def required(self) -> str:
        return "no whitespace"

    @property
    def rescue(self) -> Rescue:
        return Rescue.SMALLEST

    def evidence(self, text: Text) -> Iterable[Span]:
        return (Span(i, i + 1, "violation") for i, char in enumerate(text.raw) if char.isspace())
