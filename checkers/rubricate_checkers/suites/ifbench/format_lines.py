"""`format:` of lines: one word each, stairs, bullets."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from ...check import Check, Example, Span
from ...kwargs import Str
from ...loose import Rescue
from ...punkt import sentence_spans
from ...regex_sentences import regex_sentences
from ...text import Text
from ...wording import amount
from .common import bare


def _lines_and_words(raw: str) -> tuple[int, int]:
    text = bare(raw).strip()
    return sum(1 for line in text.split("\n") if line), len(text.split())


class NewLines(Check, id="format:newline", suite="ifbench", aliases=("ifbench@2025:format:newline",)):
    """Each word is on a line of its own: there are as many lines as words.

    Punctuation is taken out first and empty lines do not count, though lines of spaces do.
    """

    example = Example(kwargs={}, passes="Wind,\nrain,\nsnow.", fails="Wind and\nrain.")

    def holds(self, text: Text) -> bool:
        lines, words = text.view(_lines_and_words)
        return lines == words

    def observed(self, text: Text) -> str:
        lines, words = text.view(_lines_and_words)
        return f"{amount(words, 'word')} on {amount(lines, 'line')}"

    @property
    def required(self) -> str:
        return "each word on its own line"

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARRED  # asterisks are punctuation


def _indents(raw: str) -> list[int]:
    """Leading spaces of each line that counts.

    Upstream takes blank lines out of the list that it walks through: the line behind one that it meets
    is never looked at, and of equal blank lines the first that is still there goes.
    """
    lines = raw.split("\n")
    gone: set[int] = set()
    there: defaultdict[str, deque[int]] = defaultdict(deque)
    place = 0
    while place < len(lines):
        if lines[place].strip():
            place += 1
            continue
        there[lines[place]].append(place)
        gone.add(there[lines[place]].popleft())
        if place + 1 < len(lines) and not lines[place + 1].strip():
            there[lines[place + 1]].append(place + 1)
        place += 2
    return [len(line) - len(line.lstrip(" ")) for i, line in enumerate(lines) if i not in gone]


class LineIndent(
    Check, id="format:line_indent", suite="ifbench", aliases=("ifbench@2025:format:line_indent",)
):
    """Each line is indented by more spaces than the one before.

    Single blank lines are skipped, but every second one in a row counts as a line; a tab is no indent.
    """

    example = Example(kwargs={}, passes="Up\n and\n  up.", fails="Up\n and\n up.")

    def _fault(self, text: Text) -> str | None:
        for number, (indent, following) in enumerate(pairwise(text.view(_indents)), 2):
            if following <= indent:
                return f"{amount(following, 'space')} after {indent} in line {number}"
        return None

    def holds(self, text: Text) -> bool:
        return self._fault(text) is None

    def observed(self, text: Text) -> str:
        return self._fault(text) or "more spaces in each line"

    @property
    def required(self) -> str:
        return "more spaces before each line than before the last"


class SpecialBullets(Check, id="format:list", suite="ifbench", aliases=("ifbench@2025:format:list",)):
    """A given separator occurs at least twice, anywhere in the response."""

    sep: Str
    example = Example(kwargs={"sep": "~"}, passes="~ figs\n~ dates", fails="- figs\n- dates")

    def holds(self, text: Text) -> bool:
        return text.raw.count(self.sep) >= 2

    def observed(self, text: Text) -> str:
        return amount(text.raw.count(self.sep), "time")

    @property
    def required(self) -> str:
        return f'"{self.sep}" at least 2 times'

    @property
    def rescue(self) -> Rescue:
        return Rescue.STARLESS

    def evidence(self, text: Text) -> Iterable[Span]:
        at = text.raw.find(self.sep) if self.sep else -1
        while at >= 0:
            yield Span(at, at + len(self.sep), "counted")
            at = text.raw.find(self.sep, at + len(self.sep))


class SubBullets(
    Check, id="format:sub-bullets", suite="ifbench", aliases=("ifbench@2025:format:sub-bullets",)
):
    """Each `*` is followed by a `-` before the next `*`.

    A response without `*` passes, any hyphen will do, and the marks of bold text are bullets here.
    """

    example = Example(
        kwargs={},
        passes="* Fruit\n  - figs\n* Nuts\n  - almonds",
        fails="* Fruit\n  - figs\n* Nuts",
    )

    def _without(self, text: Text) -> int:
        return sum("-" not in piece for piece in text.raw.split("*")[1:])

    def holds(self, text: Text) -> bool:
        return not self._without(text)

    def observed(self, text: Text) -> str:
        return f"{self._without(text)} of {text.raw.count('*')} asterisks without a hyphen behind"

    @property
    def required(self) -> str:
        return "a - behind each *"


def _bullet_fault(raw: str, cut: Callable[[str], Sequence[object]]) -> str | None:
    """What is wrong with sentences that bullets follow; `cut` cuts a line into sentences."""
    sentences = bullets = 0
    in_sentences = True
    for line in raw.split("\n"):
        if line.strip().startswith("*"):
            if sentences < 2:
                return f"{amount(sentences, 'sentence')} before the first bullet point"
            in_sentences = False
            bullets += 1
        elif in_sentences:
            found = len(cut(line.strip()))
            sentences += found
            in_sentences = found > 0  # a blank line has no sentence and so ends them
        else:
            return "text after the bullet points" if bullets else "text after a blank line"
    return None if bullets >= 2 else f"{amount(bullets, 'bullet point')}"


def _fault_by_punkt(raw: str) -> str | None:
    return _bullet_fault(raw, sentence_spans)


def _fault_by_regex(raw: str) -> str | None:
    return _bullet_fault(raw, regex_sentences)


class SentencesThenBullets(Check, id="format:no_bullets_bullets", suite="ifbench"):
    """At least two sentences come first, then at least two lines that start with `*`, and no more.

    At most one blank line may stand between them. Sentences are counted line by line and need no
    period.
    """

    example = Example(
        kwargs={},
        passes="We pack light. Two things matter.\n* water\n* a map",
        fails="Two things matter.\n* water\n* a map",
    )

    def fault(self, text: Text) -> str | None:
        """What is wrong, or None."""
        return text.view(_fault_by_punkt)

    def holds(self, text: Text) -> bool:
        return self.fault(text) is None

    def observed(self, text: Text) -> str:
        return self.fault(text) or "sentences, then bullet points"

    @property
    def required(self) -> str:
        return "at least 2 sentences, then at least 2 bullet points with *"


class SentencesThenBullets2025(
    SentencesThenBullets, id="ifbench@2025:format:no_bullets_bullets", suite="ifbench@2025"
):
    """At least two sentences come first, then at least two lines that start with `*`, and no more.

    As in `format:no_bullets_bullets`, with the sentences of the older generation.
    """

    def fault(self, text: Text) -> str | None:
        return text.view(_fault_by_regex)
