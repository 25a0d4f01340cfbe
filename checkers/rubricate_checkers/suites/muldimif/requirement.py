"""What a sentence asks for, once it is read: the parts of which every family is made."""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...check import Span
from ...text import Text
from ...wording import amount

__all__ = ["All", "Bounds", "Counted", "Each", "Parser", "Requirement", "Trait", "Unclear"]


class Requirement(ABC):
    """What is asked of a response, or of one element of it."""

    @property
    def parsed(self) -> bool:
        """Whether the sentence gave something to look for in a response."""
        return True

    @abstractmethod
    def holds(self, text: Text) -> bool:
        """Whether the response satisfies it."""

    @abstractmethod
    def observed(self, text: Text) -> str:
        """What the response has, in plain words."""

    @property
    @abstractmethod
    def required(self) -> str:
        """What is asked for, in plain words."""

    def evidence(self, text: Text) -> Iterable[Span]:
        """Where in the response the verdict comes from."""
        return ()


class Parser(Protocol):
    """Reads the sentences of one family.

    A parser refuses a sentence on which the reference code breaks, whatever the response.
    """

    def __call__(self, sentence: str, /) -> Requirement:
        """What the sentence asks for; `Unclear` where the reference code finds nothing in it."""


@dataclass(frozen=True)
class Unclear(Requirement):
    """A sentence in which there is nothing to look for: all responses get the same verdict."""

    passes: bool

    @property
    def parsed(self) -> bool:
        return False

    def holds(self, text: Text) -> bool:
        return self.passes

    def observed(self, text: Text) -> str:
        return "nothing was looked for"

    @property
    def required(self) -> str:
        verdict = "passes" if self.passes else "fails"
        return f"unclear: the sentence says nothing checkable, so any response {verdict}"


@dataclass(frozen=True)
class Bounds:
    """A range of counts, both ends included; None leaves an end open."""

    low: int | None = None
    high: int | None = None

    def admit(self, count: int) -> bool:
        """Whether a count is within them."""
        return (self.low is None or count >= self.low) and (self.high is None or count <= self.high)

    def of(self, noun: str) -> str:
        """The range in words: `at most 3 rows`."""
        if self.low is None:
            return f"any number of {noun}s" if self.high is None else f"at most {amount(self.high, noun)}"
        if self.high is None:
            return f"at least {amount(self.low, noun)}"
        if self.low == self.high:
            return f"exactly {amount(self.low, noun)}"
        return f"between {self.low} and {amount(self.high, noun)}"


@dataclass(frozen=True)
class Counted(Requirement):
    """A number of something is within bounds.

    Attributes:
        count: A module-level function of the raw text.
        bounds: What the count may be.
        noun: What is counted, in the singular.
    """

    count: Callable[[str], int]
    bounds: Bounds
    noun: str

    def holds(self, text: Text) -> bool:
        return self.bounds.admit(text.view(self.count))

    def observed(self, text: Text) -> str:
        return amount(text.view(self.count), self.noun)

    @property
    def required(self) -> str:
        return self.bounds.of(self.noun)


@dataclass(frozen=True)
class Trait(Requirement):
    """Something that a text has or has not.

    Attributes:
        test: Whether a raw text has it.
        trait: It, in words.
        opposite: Its absence, in words.
    """

    test: Callable[[str], bool]
    trait: str
    opposite: str

    def holds(self, text: Text) -> bool:
        return self.test(text.raw)

    def observed(self, text: Text) -> str:
        return self.trait if self.holds(text) else self.opposite

    @property
    def required(self) -> str:
        return self.trait


@dataclass(frozen=True)
class All(Requirement):
    """Several requirements, every one of which must hold."""

    parts: Sequence[Requirement]

    @classmethod
    def of(cls, parts: Sequence[Requirement]) -> Requirement:
        """The conjunction of parts; without any, a sentence that every response satisfies."""
        if not parts:
            return Unclear(passes=True)
        return parts[0] if len(parts) == 1 else cls(tuple(parts))

    @property
    def parsed(self) -> bool:
        return all(part.parsed for part in self.parts)

    def holds(self, text: Text) -> bool:
        return all(part.holds(text) for part in self.parts)

    def observed(self, text: Text) -> str:
        return ", ".join(dict.fromkeys(part.observed(text) for part in self.parts))

    @property
    def required(self) -> str:
        return ", ".join(dict.fromkeys(part.required for part in self.parts))

    def evidence(self, text: Text) -> Iterable[Span]:
        return (span for part in self.parts for span in part.evidence(text))


@dataclass(frozen=True)
class Each(Requirement):
    """Every element of a response satisfies a requirement, and there is at least one element.

    Attributes:
        elements: Cuts a raw text into elements, in linear time.
        rule: What each element must satisfy.
        noun: What the sentence calls an element.
    """

    elements: Callable[[str], list[str]]
    rule: Requirement
    noun: str

    @property
    def parsed(self) -> bool:
        return self.rule.parsed

    def holds(self, text: Text) -> bool:
        elements = self.elements(text.raw)
        return bool(elements) and all(self.rule.holds(Text(element)) for element in elements)

    def observed(self, text: Text) -> str:
        elements = [Text(element) for element in self.elements(text.raw)]
        if not elements:
            return f"no {self.noun} was found"
        wrong = [element for element in elements if not self.rule.holds(element)]
        if not wrong:
            return f"{amount(len(elements), 'element')}, all of them so"
        shown = wrong[0].raw if len(wrong[0].raw) <= 60 else f"{wrong[0].raw[:60]}…"
        return f'{len(wrong)} of {amount(len(elements), "element")} not so: "{shown}"'

    @property
    def required(self) -> str:
        return f"each {self.noun}: {self.rule.required}"
