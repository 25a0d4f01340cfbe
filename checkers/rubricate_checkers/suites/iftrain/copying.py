"""`copy:` and `new:`: the request, or a span of it, and nothing else."""

from __future__ import annotations

from ...check import Check, Example
from ...text import Text
from ...wording import amount
from .kwargs import Index, Prompt, Total

_SEPARATOR = "******"


def _normal(text: str) -> str:
    """What is compared: neither case nor whitespace at the ends matters."""
    return text.strip().lower()


class Copy(Check, id="copy:copy", suite="iftrain"):
    """The response is the given prompt and nothing else, in any case."""

    prompt_to_repeat: Prompt
    example = Example(
        kwargs={"prompt_to_repeat": "Name the tallest lighthouse."},
        passes="name the tallest lighthouse.",
        fails="Name the tallest lighthouse. It is in Jeddah.",
    )

    def holds(self, text: Text) -> bool:
        return text.view(_normal) == _normal(self.prompt_to_repeat)

    def observed(self, text: Text) -> str:
        return "the prompt" if self.holds(text) else "another text"

    @property
    def required(self) -> str:
        return "the prompt word for word and nothing else"


class CopyingSimple(Copy, id="copy:copying_simple", suite="iftrain"):
    """The response is the given request and nothing else, in any case; the same rule as `copy:copy`."""

    example = Example(
        kwargs={"prompt_to_repeat": "Who built this bridge?"},
        passes="Who built this bridge?\n",
        fails="Who built this bridge? Nobody knows.",
    )


def _copies(text: str) -> list[str]:
    return [_normal(piece) for piece in text.split(_SEPARATOR)]


class CopyingMultiple(Check, id="copy:copying_multiple", suite="iftrain"):
    """The response is the given prompt so many times, in any case, separated by `******`.

    A separator before the first or after the last one adds an empty copy, which fails.
    """

    prompt_to_repeat: Prompt
    N: Total
    example = Example(
        kwargs={"prompt_to_repeat": "Feed the cat.", "N": 2},
        passes="Feed the cat.\n******\nFeed the cat.",
        fails="Feed the cat.\n******\nFeed the dog.",
    )

    def holds(self, text: Text) -> bool:
        copies = text.view(_copies)
        return len(copies) == self.N and copies.count(_normal(self.prompt_to_repeat)) == self.N

    def observed(self, text: Text) -> str:
        copies = text.view(_copies)
        others = len(copies) - copies.count(_normal(self.prompt_to_repeat))
        return f"{amount(len(copies), 'part')}, {others} of them not the prompt"

    @property
    def required(self) -> str:
        return f"the prompt {amount(self.N, 'time')}, separated by {_SEPARATOR}"


class CopySpan(Check, id="new:copy_span_idx", suite="iftrain"):
    """The response is the characters `n_start` to `n_end` of the given prompt, in any case.

    Characters are counted from 0, and the one at `n_end` is left out, although the instruction says
    that it belongs to the span. Neither index may be 0.
    """

    prompt_to_repeat: Prompt
    n_start: Index
    n_end: Index
    example = Example(
        kwargs={"prompt_to_repeat": "Describe a quiet harbour.", "n_start": 11, "n_end": 16},
        passes="quiet",
        fails="quiet harbour",
    )

    @property
    def _span(self) -> str:
        return self.prompt_to_repeat[self.n_start : self.n_end].strip()

    def holds(self, text: Text) -> bool:
        return text.view(_normal) == _normal(self._span)

    def observed(self, text: Text) -> str:
        return "that span" if self.holds(text) else "another text"

    @property
    def required(self) -> str:
        return f'"{self._span}" and nothing else'
