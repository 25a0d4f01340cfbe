"""Marks within the response: bullets, highlights, placeholders, sections, a title, a postscript."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rubricate_checkers.suites.ifeval.content import NumberOfPlaceholders, Postscript
from rubricate_checkers.suites.ifeval.format import (
    ConstrainedResponse,
    NumberOfBullets,
    NumberOfHighlights,
    Title,
)
from rubricate_checkers.suites.ifeval.structure import MultipleSections
from rubricate_checkers.suites.rlvr.content import (
    ValidateHighlightedSections,
    ValidatePlaceholders,
    ValidateTitle,
    VerifyBulletPoints,
    VerifyPostscript,
)
from rubricate_service.lint.demand import Bounds, Contains, Demand, Measure, OneOf
from rubricate_service.lint.demands.dispatch import exactly, literal, read


@read.register
def _(check: NumberOfPlaceholders) -> Iterable[Demand]:
    return [Bounds(Measure("placeholders", "placeholders"), low=check.num_placeholders)]


@read.register
def _(check: ValidatePlaceholders) -> Iterable[Demand]:
    return [Bounds(Measure("placeholders", "placeholders"), low=check.N)]


@read.register
def _(check: NumberOfBullets) -> Iterable[Demand]:
    return [exactly(Measure("bullets", "bullet points", "ifeval"), check.num_bullets)]


@read.register
def _(check: VerifyBulletPoints) -> Iterable[Demand]:
    # a line that starts with `**` is one here and none in the other suite
    return [exactly(Measure("bullets", "bullet points", "rlvr"), check.N)]


@read.register
def _(check: NumberOfHighlights) -> Iterable[Demand]:
    return [Bounds(Measure("highlights", "highlighted parts", "ifeval"), low=check.num_highlights)]


@read.register
def _(check: ValidateHighlightedSections) -> Iterable[Demand]:
    return [Bounds(Measure("highlights", "highlighted parts", "rlvr"), low=check.N)]


@read.register(Title)
@read.register(ValidateTitle)
def _(check: Title | ValidateTitle) -> Iterable[Demand]:
    return [Bounds(Measure("title", "titles in <<>>"), low=1), Contains("<<"), Contains(">>")]


@read.register
def _(check: Postscript) -> Iterable[Demand]:
    marker = check.postscript_marker.strip()
    demands: list[Demand] = [Bounds(Measure("postscript", "postscripts", marker), low=1)]
    if marker == "P.S.":
        return [*demands, Contains("s.")]  # blanks may stand within: `P. S.`
    if marker == "P.P.S":
        return [*demands, Contains("p.")]
    text = literal(marker)
    return [*demands, Contains(text)] if text else demands


@read.register
def _(check: VerifyPostscript) -> Iterable[Demand]:
    marker = check.postscript_marker
    found = [Contains(marker, cased=True)] if marker else []
    return [Bounds(Measure("postscript", "postscripts", marker), low=1), *found]


@read.register
def _(check: MultipleSections) -> Iterable[Demand]:
    word = literal(check.section_spliter.strip())
    measure = Measure(
        "sections", f'sections "{check.section_spliter.strip()} 1"', check.section_spliter.strip()
    )
    demands: list[Demand] = [Bounds(measure, low=check.num_sections)]
    if word and check.num_sections > 0:
        demands.append(Contains(word, times=math.ceil(check.num_sections), cased=True))
    return demands


@read.register
def _(check: ConstrainedResponse) -> Iterable[Demand]:
    return [OneOf(("My answer is yes.", "My answer is no.", "My answer is maybe."), answers=True)]
