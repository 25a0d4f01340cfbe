"""E05, E10 for languages, and W08."""

from __future__ import annotations

from collections.abc import Iterator

from rubricate_service.lint.demand import Bounds, Case, Exact, InLanguage
from rubricate_service.lint.finding import RULES, Finding
from rubricate_service.lint.group import BuiltGroup, BuiltRubric
from rubricate_service.lint.rules.common import pairs, upper_bounds

_SHORT = 20
"""Characters below which langdetect's guess is mostly chance."""


def two_languages(group: BuiltGroup) -> Iterator[Finding]:
    """E05 where one language is that of a rule on English case, else E10."""
    has_letters = any(any(map(str.isalpha, way.phrase)) for _, ways in group.phrases for way in ways[:1])
    has_letters = has_letters or any(case.lettered for _, case in group.demands(Case))
    for (first, one), (second, other) in pairs(group, InLanguage):
        if one.code == other.code:
            continue
        for_case = [rubric for rubric in (first, second) if _minds_case(rubric)]
        message = f"the language {other.code}, while {first.path} asks for {one.code}"
        way_out = None
        if one.vacuous and other.vacuous:  # they let pass what has no language
            letters = "in letters whose language is not told" if has_letters else "without letters"
            way_out = f"a response {letters}"
        if for_case and len(for_case) < 2:
            yield RULES["E05"].at(second.path, message, way_out=way_out)
        else:
            yield RULES["E10"].at(second.path, message, way_out=way_out)


def _minds_case(rubric: BuiltRubric) -> bool:
    return any(isinstance(demand, Case) for demand in rubric.demands or ())


def too_short_to_tell(group: BuiltGroup) -> Iterator[Finding]:
    """W08: the language of less than 20 characters."""
    for rubric, _ in group.demands(InLanguage):
        limits = [(r, f"at most {b.high:g} characters") for r, b in upper_bounds(group, ("characters",))
                  if b.high < _SHORT]  # fmt: skip
        limits += [
            (r, f'the answer "{max(exact.texts, key=len)}"')
            for r, exact in group.demands(Exact)
            if max(map(len, exact.texts)) < _SHORT
        ]
        limits += [(r, f"at most {b.high:g} words") for r, b in _few_words(group)]
        short = sum(len(text.strip()) < _SHORT for text in group.responses)
        if limits:
            other, limit = limits[0]
            yield RULES["W08"].at(rubric.path, f"the language is detected, while {other.path} allows {limit}")
        elif short:
            of = f"{short} of {len(group.responses)} samples"
            yield RULES["W08"].at(
                rubric.path, f"the language is detected, and {of} have less than {_SHORT} characters"
            )


_FEW = 3


def _few_words(group: BuiltGroup) -> Iterator[tuple[BuiltRubric, Bounds]]:
    return ((r, b) for r, b in upper_bounds(group, ("words",)) if b.high <= _FEW)
