"""Keywords that must, or must not, occur in a response; sentences with "each" go to `keywords_each`."""

# The methods are those of Requirement and are documented there.
from __future__ import annotations

import re
from dataclasses import dataclass

from ...text import Text
from ...wording import listed
from . import keyword_rule, keywords_each
from .requirement import Requirement

__all__ = ["parse"]

_EACH = re.compile(r"\b(?:each|every)\b", re.IGNORECASE)
_INCLUDES = re.compile(r"""includes?\s+the\s+keyword\s+["']([^"']+)["']""", re.IGNORECASE)
_AVOIDS = re.compile(r"""avoids?\s+the\s+keyword\s+["']([^"']+)["']""", re.IGNORECASE)
_CONDITION = re.compile(
    r"""If discussing\s+([^,]+),\s*the summary must include the keyword\s+["']([^"']+)["']""", re.IGNORECASE
)
_ALTERNATIVES = re.compile(r"(.*\s)(\S+)/(\S+)(\s.*)$")


def parse(sentence: str) -> Requirement:
    """What a sentence says of keywords."""
    if _EACH.search(sentence) and "for each word" not in sentence:
        return keywords_each.parse(sentence)
    include, avoid = _INCLUDES.search(sentence), _AVOIDS.search(sentence)
    if include and avoid:
        return _IncludeAvoid(include[1], avoid[1])
    if conditions := _CONDITION.findall(sentence):
        return _Conditional(tuple((_topics(topic), keyword) for topic, keyword in conditions))
    return keyword_rule.parse(sentence)


@dataclass(frozen=True)
class _IncludeAvoid(Requirement):
    """One string occurs and another does not, in this case and inside words too."""

    include: str
    avoid: str

    def holds(self, text: Text) -> bool:
        return self.include in text.raw and self.avoid not in text.raw

    def observed(self, text: Text) -> str:
        found = [word for word in (self.include, self.avoid) if word in text.raw]
        return listed(found) or "neither"

    @property
    def required(self) -> str:
        return f'"{self.include}" and no "{self.avoid}"'


def _topics(topic: str) -> tuple[str, ...]:
    """What a topic may be called: `city housing/land laws` is `city housing laws` or `city land laws`."""
    if "/" not in topic:
        return (topic,)
    if match := _ALTERNATIVES.match(topic):
        before, first, second, after = match.groups()
        return (before + first + after, before + second + after)
    return tuple(part.strip() for part in topic.split("/"))


@dataclass(frozen=True)
class _Conditional(Requirement):
    """Where a topic is named, its keyword occurs; both in this case and inside words too.

    Attributes:
        conditions: (names of a topic, keyword) of each.
    """

    conditions: tuple[tuple[tuple[str, ...], str], ...]

    def _missing(self, text: Text) -> list[str]:
        return [
            keyword
            for topics, keyword in self.conditions
            if keyword not in text.raw and any(topic in text.raw for topic in topics)
        ]

    def holds(self, text: Text) -> bool:
        return not self._missing(text)

    def observed(self, text: Text) -> str:
        missing = self._missing(text)
        return f"no {listed(missing)}" if missing else "the keyword of every topic named"

    @property
    def required(self) -> str:
        return ", ".join(
            f'"{keyword}" where {" or ".join(topics)} is named' for topics, keyword in self.conditions
        )
